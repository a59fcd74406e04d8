"""Mathematical engagement as judges see it; the heuristic without a model stands in ``mathematics``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.agents.review_judges import MATHEMATICS_TOKENS, MathReply, render_mathematics
from referee.evals.judging import Panel
from referee.evals.quality.one_question import Question, ask_judges
from referee.evals.quality.own_words import OwnWords, Traced
from referee.evals.quality.readings import NO_TEXT, Reading, answered, nobody_answered
from referee.schemas.metric import MetricStatus
from referee.schemas.usage import Usage


class MathReading(Reading):
    """What one judge said of the mathematics."""

    engages: bool = False


@dataclass(frozen=True, slots=True)
class MathVerdict:
    """Whether a review works with the paper's mathematics; null where no judge could say.

    Attributes:
        engages: What more than half of the usable replies say; half is not enough.
        backend: ``judge:`` and the models' ids.
        readings: What each judge said in each repeat; ``quoted`` tells whether its words stand in the review.
        cut: What of the review was not shown; null where all was.
    """

    engages: bool | None
    backend: str
    status: MetricStatus = "scored"
    reason: str = ""
    readings: tuple[Mapping[str, Any], ...] = ()
    cut: Mapping[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)


async def judged_mathematics(text: str, panel: Panel, unit: str = "mathematical engagement") -> MathVerdict:
    """Ask every judge in every repeat about one review.

    Args:
        text: The review, view ``raw``; for a blank one nobody is asked.
        panel: The judges.
        unit: What is judged, for the log.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    backend = f"judge:{','.join(panel.ids)}"
    if not text.strip():
        return MathVerdict(None, backend, "not_applicable", NO_TEXT)
    question = Question(render_mathematics, MathReply, MATHEMATICS_TOKENS, _read)
    asked = await ask_judges(question, text, panel, unit)
    if asked.no_room:
        return MathVerdict(None, backend, "failed", asked.no_room)
    said = [MathReading.model_validate(reading) for reading in asked.readings]
    told, readings = answered(said), tuple(asked.readings)
    if not told:
        reason = nobody_answered(said).reason
        return MathVerdict(None, backend, "failed", reason, readings, asked.cut, asked.usage)
    positive = sum(reading.engages for reading in told)
    return MathVerdict(2 * positive > len(told), backend, readings=readings, cut=asked.cut, usage=asked.usage)


def _read(reply: MathReply, shown: str) -> dict[str, Any]:
    quoted = bool(reply.words.strip()) and isinstance(OwnWords(shown).find(reply.words), Traced)
    return {"engages": reply.engages == "yes", "reason": reply.reason, "words": reply.words, "quoted": quoted}
