"""Atomic strengths and weaknesses of a review: what it praises and what it criticises, one statement each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from referee.evals.behaviour.atomic_names import POLAR, Announced, Polarity, announced
from referee.evals.behaviour.atomic_rules import Cut, cut_by_boxes, cut_by_cues, cut_by_headings, has_headings
from referee.evals.behaviour.text import review_text
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricStatus
from referee.schemas.usage import Usage

RULE = "rule"
POLARITIES: tuple[Polarity, ...] = ("strengths", "weaknesses")
NO_TEXT = "the review has no text"

Split = Literal["fields", "headings", "cues", "judge", "none"]


@dataclass(frozen=True, slots=True)
class AtomicItems:
    """The strengths and weaknesses of one review.

    Attributes:
        strengths: In the review's order.
        weaknesses: In the review's order.
        source: The text the items are from: the union of the boxes that hold them, else the whole review.
        backend: ``rule``, or ``judge:`` and the model's id.
        split: What told the polarities apart.
        short: Items dropped because they have fewer than 50 characters (backend ``rule`` only).
        status: ``not_applicable`` for a review without text, ``failed`` where a judge gave no usable reply.
        reason: Why there are no items; empty where the review was read.
        cut: What of the review a judge was not shown; null where it saw all.
        notes: What was put right in a judge's reply.
        usage: What the calls cost.
    """

    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    source: str = ""
    backend: str = RULE
    split: Split = "none"
    short: int = 0
    status: MetricStatus = "scored"
    reason: str = ""
    cut: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def all(self) -> tuple[str, ...]:
        """The strengths, then the weaknesses."""
        return (*self.strengths, *self.weaknesses)

    def of(self, polarity: Polarity) -> tuple[str, ...]:
        """The items of one polarity."""
        return self.strengths if polarity == "strengths" else self.weaknesses


def atomic_items(case: ReviewCase) -> AtomicItems:
    """Strengths and weaknesses by rules, without a model.

    Boxes whose names announce them decide; without such boxes headings in the text; without these the marks ``+`` and
    ``-``, then cue words, sentence by sentence. A review that is read and holds no item is ``scored`` with none.
    """
    boxes = polar_boxes(case)
    text = "\n\n".join(text for _, text in boxes) if boxes else review_text(case)
    if not text.strip():
        return AtomicItems(status="not_applicable", reason=NO_TEXT)
    cut, split = _cut(boxes, text)
    return AtomicItems(cut.strengths, cut.weaknesses, text, RULE, split, cut.short)


def polar_boxes(case: ReviewCase) -> list[tuple[Announced, str]]:
    """The boxes whose names announce strengths, weaknesses or both, with their texts; blank ones are left out."""
    found: list[tuple[Announced, str]] = []
    for name in case.fields:
        kind = announced(name)
        if kind in POLAR and (text := review_text(case, [name])).strip():
            found.append((kind, text))
    return found


def _cut(boxes: list[tuple[Announced, str]], text: str) -> tuple[Cut, Split]:
    if boxes:
        return cut_by_boxes(boxes), "fields"
    return (cut_by_headings(text), "headings") if has_headings(text) else (cut_by_cues(text), "cues")
