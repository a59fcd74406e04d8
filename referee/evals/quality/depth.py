"""How deep a review goes: five respects, each 0 to 3 by every judge.

Comparison with literature, logical gaps, methodological scrutiny, interpretation of results, theoretical contribution.
Several judges or repeats: the mean per respect, then Eq. 5: the five means summed, over 15. The value is in [0, 1],
higher is better. A score out of range is no reply; it is never clamped.

A score above 0 is earned by words of the review: where the quotation named for it is empty or not in the review, it
counts as 0 and under ``dropped`` (the mean number a reply). A reply of which no such quotation stands there has judged
another text, and counts as none.

Source: *ReviewEval* section 3.4, Eq. 5. The paper names [0, 1] once and 0 to 3 in rubric and equation: 0 to 3 is used.
That quotations must be traced is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from referee.agents.review_judges import DEPTH_PROMPT, DEPTH_TOKENS, HIGHEST, RESPECTS, DepthReply, render_depth
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
)
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult

_PROMPT_TOKENS = 1_500


def depth(scores: Sequence[float]) -> float:
    """Eq. 5 for the five scores (or means of scores), each in [0, 3]."""
    return sum(scores) / (HIGHEST * len(RESPECTS))


class Depth(Share):
    """The metric ``depth``."""

    name = "depth"
    about = "how deep it goes in five respects"
    version = "2"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts = (DEPTH_PROMPT,)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Have the review judged in all five respects at once; one call a judge and repeat."""
        panel = context.panel
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if panel is None:
            return not_applicable(self, case, NO_JUDGE)
        asked = await ask_judges(QUESTION, case.text, panel, f"{self.name} of {case.case_id}")
        if asked.no_room:
            return failed(self, case, asked.no_room)
        details = {"readings": asked.readings, "cut": asked.cut}
        return result(self, case, outcome_of(DepthReadings.model_validate(details)), details, asked.usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored scores."""
        return rescored(self, stored, DepthReadings, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call."""
        return Load(input_tokens=_PROMPT_TOKENS + rough_tokens(case.text), output_tokens=DEPTH_TOKENS // 2)


class RespectReading(Stored):
    """The score of one respect, and whether the words quoted for it are in the review."""

    score: int
    traced: bool


class DepthReading(Reading):
    """One judge's scores, by respect."""

    respects: dict[str, RespectReading] = Field(default_factory=dict)


class DepthReadings(Stored):
    """What a result of this metric keeps and is computed from."""

    readings: tuple[DepthReading, ...]


def outcome_of(details: DepthReadings) -> Outcome:
    """What follows from the stored scores of all judges. ``parts`` hold the mean of each respect, in [0, 3]."""
    readings = details.readings
    judges = tuple(_judged(reading) for reading in readings)
    said = answered(readings)
    if not said:
        return nobody_answered(readings)
    usable = [reading for reading in said if not _invented(reading)]
    if not usable:
        reason = f"none of the {sum(map(_dropped, said))} quotations named is in the review"
        return Outcome("failed", reason=reason, judges=judges)
    means = {
        respect: over_judges([(reading.judge, _earned(reading)[respect]) for reading in usable]) for respect in RESPECTS
    }
    dropped = over_judges([(reading.judge, _dropped(reading)) for reading in usable])
    return Outcome("scored", depth(list(means.values())), parts={**means, "dropped": dropped}, judges=judges)


def _earned(reading: DepthReading) -> dict[str, int]:
    return {name: one.score if one.traced else 0 for name, one in reading.respects.items()}


def _dropped(reading: DepthReading) -> int:
    return sum(one.score > 0 and not one.traced for one in reading.respects.values())


def _invented(reading: DepthReading) -> bool:
    return _dropped(reading) > 0 and not any(_earned(reading).values())


def _judged(reading: DepthReading) -> JudgeScore:
    if reading.error:
        return judge_score(reading, None)
    if _invented(reading):
        return judge_score(reading, None, f"none of the {_dropped(reading)} quotations named is in the review")
    return judge_score(reading, depth(list(_earned(reading).values())))


def _kept(reply: DepthReply, shown: str) -> dict[str, Any]:
    """Each respect with its score, and whether the words quoted for it are in the review."""
    words = OwnWords(shown)
    kept: dict[str, Any] = {}
    for respect in RESPECTS:
        one = getattr(reply, respect)
        found = words.find(one.quote) if one.quote.strip() else None
        traced = isinstance(found, Traced)
        named = found.words if isinstance(found, Traced) else one.quote
        kept[respect] = {"score": one.score, "finding": one.finding, "words": named, "traced": traced}
    return {"respects": kept}


QUESTION = Question(render_depth, DepthReply, DEPTH_TOKENS, _kept)
METRIC = Depth()
