"""How many values of a judged metric stand at the ends of its range, where reviews cannot be told apart any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.evals.metric import Range

CROWDED = 0.9
"""From this share of its reviews at one end on a row stands there: what is left of it rests on a tenth of them."""
EDGES = "At the ends of the scale"
EDGES_TEXT = (
    "Share of reviews at the highest (top) and at the lowest (bottom) value that a judged metric can have. `At the "
    f"ceiling` or `at the floor`: {CROWDED:.0%} or more stand there, and what differs rests on the others."
)
_SAME = 1e-9


@dataclass(frozen=True)
class Edges:
    """The shares of values at the highest and at the lowest value there can be; None where there is no such value.

    A metric that no judge takes part in has neither, and nor has a row without a value.
    """

    at_top: float | None = None
    at_bottom: float | None = None

    @property
    def crowded(self) -> Literal["ceiling", "floor", ""]:
        """The end at which nearly all stand; empty where they do not."""
        if self.at_top is not None and self.at_top >= CROWDED:
            return "ceiling"
        return "floor" if self.at_bottom is not None and self.at_bottom >= CROWDED else ""


def edges_of(values: Sequence[float], ends: Range | None) -> Edges:
    """The shares of some values at the ends of their range; without a range neither is known."""
    if ends is None or not values:
        return Edges()
    low, high = ends
    return Edges(_share(values, high), _share(values, low))


def level_rows(rows: Iterable[Edges]) -> Literal["ceiling", "floor", ""]:
    """The end at which all rows stand, so that none of them is the best; empty where they do not."""
    ends = {row.crowded for row in rows}
    return ends.pop() if len(ends) == 1 else ""


def edge_text(edges: Edges) -> str:
    """Both shares in words, and the end at which nearly all stand; empty where nothing is known."""
    shares: Mapping[str, float | None] = {"top": edges.at_top, "bottom": edges.at_bottom}
    said = "; ".join(f"{name} {share:.0%}" for name, share in shares.items() if share is not None)
    return f"{said}, at the {edges.crowded}" if edges.crowded else said


def _share(values: Sequence[float], end: float | None) -> float | None:
    return None if end is None else sum(abs(value - end) <= _SAME for value in values) / len(values)
