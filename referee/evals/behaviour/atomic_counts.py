"""How many strengths and weaknesses reviews have and how long they are, generated beside human ones of the same paper.

Source: PRAIB; section 8 of the specification.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Literal

from referee.evals.behaviour.atomic import AtomicItems
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricStatus

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
