"""The canary set: points whose truth is known, the rule that a check of them must meet, and intervals of shares."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, cast

from referee.agents.parts import Part
from referee.agents.point_reply import Choices, Origin, points_model, to_points
from referee.schemas.paper import Paper
from referee.schemas.point import PointSource, ReviewPoint

HERE = Path(__file__).parent
LEAST_FALSE_STRUCK, MOST_TRUE_STRUCK = 8, 1
_OURS = ("id", "true", "why", "refuting", "part")
_Z = 1.959964


@dataclass(frozen=True)
class Canary:
    """One point as a reviewer's reply holds it, and what is known of it.

    ``part`` is the heading of the part its reviewer read, empty for the pass across sections. Each of ``refuting``,
    the paper's words, makes a false point false.
    """

    id: str
    true: bool
    part: str
    refuting: tuple[str, ...]
    reply: Mapping[str, Any]


@dataclass(frozen=True)
class CanarySet:
    """The points with the paper and the venue they are for."""

    paper: Path
    venue: str
    points: tuple[Canary, ...]


@dataclass(frozen=True)
class Share:
    """``count`` of ``total``, with the Wilson score interval for 95%."""

    count: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound in [0, 1]; both 0 and 1 where there is nothing to count."""
        if not self.total:
            return 0.0, 1.0
        share, n = self.count / self.total, self.total
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        """As in ``8 of 10 (49% to 94%)``."""
        low, high = self.interval
        return f"{self.count} of {self.total} ({low:.0%} to {high:.0%})"


def load_canaries(path: Path = HERE / "canary.toml") -> CanarySet:
    """The set of a file, with the paper's path resolved against the repository."""
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    points = tuple(
        Canary(
            id=raw["id"],
            true=raw["true"],
            part=raw.get("part", ""),
            refuting=tuple(raw.get("refuting", ())),
            reply={"polarity": "weakness", "absence": None}
            | {key: value for key, value in raw.items() if key not in _OURS},
        )
        for raw in held["point"]
    )
    return CanarySet(HERE.parent / held["paper"], held["venue"], points)


def as_raised(
    canaries: Iterable[Canary], paper: Paper, parts: Iterable[Part], claims: tuple[str, ...]
) -> list[ReviewPoint]:
    """The points as they come out of a reviewer's reply: validated by the reply model, no quotation looked up yet.

    Raises:
        ValueError: A heading is not one of the paper's, or a reply does not fit the reply model.
    """
    sections = {section.id: section.heading for section in paper.sections}
    places = {heading: name for name, heading in sections.items()}
    first = {part.heading: part.section_ids[0] for part in parts}
    model = points_model(Choices((), claims, sections))
    raised = []
    for canary in canaries:
        for heading, known in ((canary.part or None, first), *((e["section"], places) for e in _placed(canary.reply))):
            if heading is not None and heading not in known:
                raise ValueError(f"{canary.id!r} names {heading!r}; there are: {', '.join(map(repr, known))}")
        reply = model.model_validate({"points": [_with_ids(canary.reply, places)]})
        source: PointSource = "section" if canary.part else "cross"
        origin = Origin(source, canary.id, first.get(canary.part), "canary", "canary", "canary")
        raised += to_points(reply, origin, sections)[0]
    return raised


def passes(false_struck: int, true_struck: int) -> bool:
    """The rule for ten false and ten true points: at least 8 of the false ones struck, at most 1 of the true ones."""
    return false_struck >= LEAST_FALSE_STRUCK and true_struck <= MOST_TRUE_STRUCK


def _placed(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Whatever of a reply names a heading of the paper."""
    absence = [{"section": reply["absence"]["expected_in"]}] if reply["absence"] else []
    return [*cast(list[dict[str, Any]], reply["evidence"]), *absence]


def _with_ids(reply: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    """The reply with section ids instead of headings."""
    evidence = [{"section_id": places[e["section"]], "quote": e["quote"], "role": e["role"]} for e in reply["evidence"]]
    absence = reply["absence"]
    if absence:
        absence = absence | {"expected_in": places[absence["expected_in"]]}
    return {**reply, "evidence": evidence, "absence": absence}
