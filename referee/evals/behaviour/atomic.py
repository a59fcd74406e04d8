"""Atomic items of a review, and how many and how long they are beside another review's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev
from typing import Any, Literal

from referee.evals.behaviour.atomic_rules import (
    POLAR,
    Announced,
    Cut,
    Polarity,
    announced,
    cut_by_boxes,
    cut_by_cues,
    cut_by_headings,
    has_headings,
)
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


Quantity = Literal["strengths", "weaknesses", "items", "strength_chars", "weakness_chars", "item_chars"]

NO_PAIRS = "no paper has both a generated and a human review whose items are known"


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """A generated review and a human one of the same paper."""

    generated_case: ReviewCase
    human_case: ReviewCase
    generated: AtomicItems
    human: AtomicItems

    @property
    def paper_id(self) -> str:
        """The paper of both."""
        return self.human_case.paper_id


@dataclass(frozen=True, slots=True)
class Matched:
    """One quantity over matched pairs.

    Attributes:
        ratio: Mean of generated / human over the pairs whose human value is above 0; null without such a pair.
        ratio_median: Their median.
        ratio_sd: Their standard deviation; null below two.
        pairs: Pairs in the ratio.
        zero_denominators: Pairs left out of it because the human value is 0.
        difference: Mean of generated - human over all pairs where both are defined.
        difference_median: Their median.
        generated_total: Sum of the generated side over these pairs.
        human_total: Sum of the human side.
        compared: Pairs in the difference.
        undefined: Pairs in which one side has no value, as the length of no items.
    """

    ratio: float | None
    ratio_median: float | None
    ratio_sd: float | None
    pairs: int
    zero_denominators: int
    difference: float | None
    difference_median: float | None
    generated_total: float
    human_total: float
    compared: int
    undefined: int
    status: MetricStatus = "scored"
    reason: str = ""


def quantity(items: AtomicItems, name: Quantity) -> float | None:
    """A number of items, or their mean length in characters; null for the length of none and for unread reviews."""
    if items.status != "scored":
        return None
    if name in ("strengths", "weaknesses", "items"):
        return len(_OF[name](items))
    chosen = _OF[name](items)
    return fmean(map(len, chosen)) if chosen else None


_OF: Mapping[str, Callable[[AtomicItems], Sequence[str]]] = {
    "strengths": lambda items: items.strengths,
    "weaknesses": lambda items: items.weaknesses,
    "items": lambda items: items.all,
    "strength_chars": lambda items: items.strengths,
    "weakness_chars": lambda items: items.weaknesses,
    "item_chars": lambda items: items.all,
}


def matched_pairs(reviews: Iterable[tuple[ReviewCase, AtomicItems]]) -> list[MatchedPair]:
    """Each generated review with each human review of its paper; unread reviews are in no pair.

    Args:
        reviews: Reviews with their items; of kind ``unknown`` neither side is taken.
    """
    human: dict[str, list[tuple[ReviewCase, AtomicItems]]] = defaultdict(list)
    generated: list[tuple[ReviewCase, AtomicItems]] = []
    for case, items in reviews:
        if items.status != "scored":
            continue
        if case.kind == "human":
            human[case.paper_id].append((case, items))
        elif case.kind == "ai":
            generated.append((case, items))
    return [
        MatchedPair(case, other, items, others)
        for case, items in generated
        for other, others in human.get(case.paper_id, ())
    ]


def compared(values: Sequence[tuple[float | None, float | None]]) -> Matched:
    """One quantity over matched pairs: (generated, human) of each, None where a side has no value."""
    known = [(ours, theirs) for ours, theirs in values if ours is not None and theirs is not None]
    ratios = [ours / theirs for ours, theirs in known if theirs]
    differences = [ours - theirs for ours, theirs in known]
    return Matched(
        ratio=fmean(ratios) if ratios else None,
        ratio_median=median(ratios) if ratios else None,
        ratio_sd=stdev(ratios) if len(ratios) > 1 else None,
        pairs=len(ratios),
        zero_denominators=len(known) - len(ratios),
        difference=fmean(differences) if differences else None,
        difference_median=median(differences) if differences else None,
        generated_total=sum(ours for ours, _ in known),
        human_total=sum(theirs for _, theirs in known),
        compared=len(known),
        undefined=len(values) - len(known),
        status="scored" if known else "not_applicable",
        reason=_why(values, known, ratios),
    )


def _why(values: Sequence[object], known: Sequence[object], ratios: Sequence[float]) -> str:
    """Why a number is null; empty where none is."""
    if not values:
        return NO_PAIRS
    if not known:
        return "in every pair one side has no item to measure"
    return "" if ratios else "the human value is 0 in every pair"
