"""How deep a review goes: five respects, each 0 to 3 by every judge.

Comparison with literature, logical gaps, methodological scrutiny, interpretation of results, theoretical contribution.
Several judges or repeats: the mean per respect, then Eq. 5: the five means summed, over 15. The value is in [0, 1],
higher is better. A score out of range is no reply; it is never clamped.

Source: *ReviewEval* section 3.4, Eq. 5. The paper names [0, 1] once and 0 to 3 in rubric and equation: 0 to 3 is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referee.agents.depth_judge import HIGHEST, PROMPT, REPLY_TOKENS, RESPECTS, DepthReply, render_depth
from referee.evals.metric import Context, Known, Load, Need, failed, not_applicable
from referee.evals.quality.one_question import Question, ask_judges
from referee.evals.quality.own_words import OwnWords, Traced
from referee.evals.quality.readings import (
    NO_JUDGE,
    NO_TEXT,
    Outcome,
    Reading,
    answered,
    judge_score,
    nobody_answered,
    over_judges,
    rescored,
    result,
    rough_tokens,
)
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

_PROMPT_TOKENS = 1_500


def depth(scores: Sequence[float]) -> float:
    """Eq. 5 for the five scores (or means of scores), each in [0, 3]."""
    return sum(scores) / (HIGHEST * len(RESPECTS))


class Depth:
    """The metric ``depth``."""

    name = "depth"
    version = "1"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts = (PROMPT,)

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
        return result(self, case, outcome_of(details), details, asked.usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored scores."""
        return rescored(self, stored, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call."""
        return Load(input_tokens=_PROMPT_TOKENS + rough_tokens(case.text), output_tokens=REPLY_TOKENS // 2)


def outcome_of(details: Mapping[str, Any]) -> Outcome:
    """What follows from the stored scores of all judges. ``parts`` hold the mean of each respect, in [0, 3]."""
    readings: list[Reading] = details["readings"]
    usable = answered(readings)
    if not usable:
        return nobody_answered(readings)
    means = {
        respect: over_judges([(reading["judge"], reading["respects"][respect]["score"]) for reading in usable])
        for respect in RESPECTS
    }
    judges = tuple(judge_score(reading, None if reading["error"] else depth(_scores(reading))) for reading in readings)
    return Outcome("scored", depth(list(means.values())), parts=dict(means), judges=judges)


def _scores(reading: Reading) -> list[float]:
    return [reading["respects"][respect]["score"] for respect in RESPECTS]


def _kept(reply: DepthReply, shown: str) -> dict[str, Any]:
    """Each respect with its score, and whether the words named for it are in the review: for the reader, not scored."""
    words = OwnWords(shown)
    kept: dict[str, Any] = {}
    for respect in RESPECTS:
        one = getattr(reply, respect)
        found = words.find(one.words) if one.words.strip() else None
        traced = isinstance(found, Traced)
        named = found.words if isinstance(found, Traced) else one.words
        kept[respect] = {"score": one.score, "finding": one.finding, "words": named, "traced": traced}
    return {"respects": kept}


QUESTION = Question(render_depth, DepthReply, REPLY_TOKENS, _kept)
METRIC = Depth()
