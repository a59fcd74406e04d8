"""The share of a review's insights that its authors could act on.

An insight is a criticism, a remark on methodology or a suggestion, in the review's own words. S_i = specificity +
feasibility + implementation, each 0 or 1; it is actionable where S_i > 0. The value is Eq. 4 as a fraction in [0, 1],
higher is better. "> 0" saturates, so two stricter numbers stand beside it: the share with S_i >= 2, the mean S_i / 3.

An insight whose words are not in the review is dropped and listed; so is one that is listed twice. A review without
insights is not applicable. Several judges or repeats: the mean of their values, each over its own list.

Source: *ReviewEval* section 3.3, Eq. 4. Deviations: a fraction, not a percentage; insights must be traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pydantic import BaseModel

from referee.agents.review_judges import (
    INSIGHTS_PROMPT,
    insights_asked,
    insights_model,
    insights_tokens,
    read_insights,
    render_insights,
)
from referee.evals.metric import Context, Known, Load, Need, Share, failed, not_applicable
from referee.evals.quality.judged import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    OwnWords,
    Question,
    Reading,
    Traced,
    answered,
    ask_judges,
    judge_score,
    nobody_answered,
    over_judges,
    rescored,
    result,
    rough_tokens,
    smallest_context,
)
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

ANSWERS = ("specificity", "feasibility", "implementation")
"""sigma, phi and zeta: names the exact thing; practical within the paper; says how."""

_PROMPT_TOKENS = 1_300


@dataclass(frozen=True)
class Actionability:
    """Eq. 4 and what stands beside it, over N insights: all in [0, 1] but ``mean_sum``, which is in [0, 3]."""

    actionable: float
    at_least_two: float
    mean_sum: float
    mean_share: float
    insights: int


def actionability(answers: Sequence[Sequence[int]]) -> Actionability | None:
    """The numbers of one list of insights, each with its three answers of 0 or 1; null for an empty list (Eq. 4)."""
    if not answers:
        return None
    sums = [sum(one) for one in answers]
    mean = fmean(sums)
    return Actionability(
        actionable=fmean(s > 0 for s in sums),
        at_least_two=fmean(s >= 2 for s in sums),
        mean_sum=mean,
        mean_share=mean / len(ANSWERS),
        insights=len(sums),
    )


class Constructiveness(Share):
    """The metric ``constructiveness``."""

    name = "constructiveness"
    about = "share of its remarks that say what to do"
    version = "1"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts = (INSIGHTS_PROMPT,)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """List the review's insights and rate them; one call a judge and repeat."""
        panel = context.panel
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if panel is None:
            return not_applicable(self, case, NO_JUDGE)
        at_most = insights_asked(case.text, smallest_context(panel) // 3)
        question = Question(
            lambda text: render_insights(text, at_most), insights_model(at_most), insights_tokens(at_most), _sorted_out
        )
        asked = await ask_judges(question, case.text, panel, f"{self.name} of {case.case_id}")
        if asked.no_room:
            return failed(self, case, asked.no_room)
        details = {"readings": asked.readings, "at_most": at_most, "cut": asked.cut}
        return result(self, case, outcome_of(InsightReadings.model_validate(details)), details, asked.usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored insights."""
        return rescored(self, stored, InsightReadings, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call."""
        tokens = _PROMPT_TOKENS + rough_tokens(case.text)
        return Load(input_tokens=tokens, output_tokens=insights_tokens(insights_asked(case.text)) // 2)


METRIC = Constructiveness()


class InsightScores(Stored):
    """The three answers about one insight, each 0 or 1."""

    specificity: int
    feasibility: int
    implementation: int


class InsightReading(Reading):
    """The insights that one judge listed, and those whose words are not in the review or stand there twice."""

    insights: tuple[InsightScores, ...] = ()
    dropped: tuple[dict[str, str], ...] = ()


class InsightReadings(Stored):
    """What a result of this metric keeps and is computed from."""

    readings: tuple[InsightReading, ...]


def outcome_of(details: InsightReadings) -> Outcome:
    """What follows from the stored insights of all judges."""
    readings = details.readings
    usable = answered(readings)
    if not usable:
        return nobody_answered(readings)
    numbers = [(reading.judge, _numbers(reading)) for reading in usable]
    counted = [(judge, one) for judge, one in numbers if one is not None]
    judges = tuple(judge_score(reading, *_judged(reading)) for reading in readings)
    if not counted:
        if all(reading.dropped for reading in usable):
            count = sum(len(reading.dropped) for reading in usable)
            return Outcome("failed", reason=f"none of the {count} insights named is in the review", judges=judges)
        return Outcome("not_applicable", reason="the review holds no insight", judges=judges)
    parts: dict[str, float | None] = {
        name: over_judges([(judge, getattr(one, name)) for judge, one in counted])
        for name in ("at_least_two", "mean_share", "mean_sum", "insights")
    }
    value = over_judges([(judge, one.actionable) for judge, one in counted])
    return Outcome("scored", value, parts=parts, judges=judges)


def _numbers(reading: InsightReading) -> Actionability | None:
    return actionability([[getattr(insight, name) for name in ANSWERS] for insight in reading.insights])


def _judged(reading: InsightReading) -> tuple[float | None, str]:
    numbers = None if reading.error else _numbers(reading)
    return (None, "no insight found") if numbers is None else (numbers.actionable, "")


def _sorted_out(reply: BaseModel, shown: str) -> dict[str, Any]:
    """The insights whose words are in the review, each once, and those dropped with the reason."""
    words = OwnWords(shown)
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    dropped: list[dict[str, str]] = []
    for claimed in read_insights(reply):
        found = words.find(claimed.quote)
        if not isinstance(found, Traced):
            dropped.append({"quote": claimed.quote, "kind": claimed.kind, "why": found})
        elif (claimed.kind, found.words) in kept:
            dropped.append({"quote": claimed.quote, "kind": claimed.kind, "why": "listed twice"})
        else:
            kept[claimed.kind, found.words] = {
                "quote": found.words,
                "exact": found.exact,
                "kind": claimed.kind,
                "reason": claimed.reason,
                **dict(zip(ANSWERS, map(int, (claimed.specific, claimed.feasible, claimed.steps)), strict=True)),
            }
    return {"insights": list(kept.values()), "dropped": dropped}
