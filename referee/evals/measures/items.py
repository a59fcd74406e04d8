"""How much a review praises and criticises, in atomic items. Source: PRAIB, S, W, W/S and the lengths of both."""

from __future__ import annotations

from collections.abc import Callable

from referee.evals.behaviour.atomic import AtomicItems, Quantity, quantity
from referee.evals.reading import Reading, ReadMetric

NOT_READ = "items were not read"


def _counted(name: Quantity) -> Callable[[Reading], float | None]:
    return lambda read: quantity(read.items, name) if read.items is not None else None


def _ratio(read: Reading) -> float | None:
    strengths, weaknesses = _counted("strengths")(read), _counted("weaknesses")(read)
    return weaknesses / strengths if strengths and weaknesses is not None else None


def _together(of: Callable[[AtomicItems], tuple[str, ...]]) -> Callable[[Reading], float | None]:
    """The characters of all items; none of a review that could not be read."""
    return lambda read: sum(map(len, of(read.items))) if read.items and read.items.status == "scored" else None


def because(read: Reading, undefined: str = "") -> str:
    """Why a number of items is null: they could not be read, or else ``undefined``."""
    return NOT_READ if read.items is None else read.items.reason or undefined


def _no_strength(read: Reading) -> str:
    return because(read, "the review has no strength")


def _no_weakness(read: Reading) -> str:
    return because(read, "the review has no weakness")


METRICS = (
    ReadMetric("strengths", "atomic strengths", unit="items", of=_counted("strengths"), why=because, part="items"),
    ReadMetric("weaknesses", "atomic weaknesses", unit="items", of=_counted("weaknesses"), why=because, part="items"),
    ReadMetric(
        "weaknesses_per_strength",
        "W/S; reviews without a strength are left out",
        unit="weaknesses a strength",
        of=_ratio,
        why=_no_strength,
        part="items",
    ),
    ReadMetric(
        "strength_chars",
        "mean length of a strength in characters",
        unit="characters",
        of=_counted("strength_chars"),
        why=_no_strength,
        part="items",
    ),
    ReadMetric(
        "weakness_chars",
        "mean length of a weakness in characters",
        unit="characters",
        of=_counted("weakness_chars"),
        why=_no_weakness,
        part="items",
    ),
    ReadMetric(
        "strengths_chars",
        "characters of all strengths together (PRAIB's length of S)",
        unit="characters",
        of=_together(lambda items: items.strengths),
        why=because,
        part="items",
    ),
    ReadMetric(
        "weaknesses_chars",
        "characters of all weaknesses together (PRAIB's length of W)",
        unit="characters",
        of=_together(lambda items: items.weaknesses),
        why=because,
        part="items",
    ),
)
