"""What a kind of error offers: sites that code found, and an edit with the anchor that proves it wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from referee.experiments.planting.source import Passage
from referee.schemas.planted import AnchorClass, PlantedKind

Conflict = Callable[[tuple[str, ...], tuple[str, ...]], bool]
"""Whether the edited passages and the anchors, as they stand in one copy, contradict each other."""


@dataclass(frozen=True)
class Edit:
    """A span of the clean text (``start``, ``end``) within ``passage`` and what comes in its place."""

    start: int
    end: int
    after: str
    passage: Passage

    @property
    def before(self) -> str:
        """What stands there."""
        return self.passage.text[self.start - self.passage.start : self.end - self.passage.start]

    @property
    def sentence_after(self) -> str:
        """The passage with this edit alone."""
        at = self.start - self.passage.start
        return self.passage.text[:at] + self.after + self.passage.text[at + self.end - self.start :]


@dataclass(frozen=True)
class Anchor:
    """A passage that proves an edit wrong, and what it says."""

    passage: Passage
    says: str


@dataclass(frozen=True)
class Rejection:
    """Why nothing is planted at a site."""

    kind: PlantedKind
    reason: str
    excerpt: str


@dataclass(frozen=True)
class Candidate:
    """An edit that its kind stands for; the checks come after. ``promised`` is false for silent removals."""

    kind: PlantedKind
    subtype: str
    severity: str
    anchor_class: AnchorClass
    edits: tuple[Edit, ...]
    anchors: tuple[Anchor, ...]
    conflict: Conflict
    expected: str
    statement: str
    also_breaks: tuple[str, ...] = ()
    silent: bool = False
    derived: bool = False
    planter: str = "rule"

    def by(self, planter: str) -> Candidate:
        """The same, made by another planter."""
        return replace(self, planter=planter)


@dataclass(frozen=True)
class Site:
    """A place where a kind can be planted.

    Attributes:
        kind: Of the error.
        spans: What would be replaced, each with its passage; ``after`` is empty.
        proposals: What the rules would put there, best first or all alike: one text a span.
        examine: Turns texts (one a span) into a candidate, or says why they are none.
        anchors: What the site has to prove an edit wrong.
        insertion: For ``inserted``: the true sentence that the clean twin gets, at the end of which block.
    """

    kind: PlantedKind
    spans: tuple[Edit, ...]
    proposals: tuple[tuple[str, ...], ...]
    examine: Callable[[tuple[str, ...]], Candidate | str]
    anchors: tuple[Anchor, ...] = ()
    silent: bool = False

    @property
    def excerpt(self) -> str:
        """The first span's sentence, short enough for a list."""
        return shortened(self.spans[0].passage.text)


def shortened(text: str) -> str:
    """At most 160 characters of a text."""
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else f"{plain[:157]}..."


def span(passage: Passage, start: int, end: int) -> Edit:
    """A span of a passage, by offsets into it."""
    return Edit(passage.start + start, passage.start + end, "", passage)


def edited(spans: tuple[Edit, ...], after: tuple[str, ...]) -> tuple[Edit, ...]:
    """Spans with what comes in their place."""
    return tuple(replace(one, after=text) for one, text in zip(spans, after, strict=True))
