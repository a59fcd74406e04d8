"""What judges said of one review, as a result keeps it, and the result that follows from it.

A reading is what one judge said in one repeat, from which the value can be computed anew without a call. Each metric
says what its readings hold; what was stored is read as that, or refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from referee.errors import DataError
from referee.evals.judging import JudgeReply
from referee.evals.metric import Metric, result_of
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult, MetricStatus
from referee.schemas.usage import Usage

T = TypeVar("T", bound=BaseModel)
S = TypeVar("S", bound=Stored)
R = TypeVar("R", bound="Reading")

NO_TEXT = "the review has no text"
NO_JUDGE = "there is no judge; name one with --judge"


class Reading(Stored):
    """What one judge said in one repeat: who, the ids of the calls, and the error where there is no usable reply."""

    judge: str
    repeat: int = 0
    calls: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """What follows from the details: a status, with the value or the reason there is none."""

    status: MetricStatus
    value: float | None = None
    reason: str = ""
    parts: dict[str, float | None] = field(default_factory=dict)
    judges: tuple[JudgeScore, ...] = ()


def readings_of(said: Sequence[JudgeReply[T]], read: Callable[[T], dict[str, Any]]) -> list[dict[str, Any]]:
    """One reading for each asking: who, which repeat, the call, and what was read or the error."""
    return [
        {
            "judge": one.judge,
            "repeat": one.repeat,
            "calls": [one.call_id] if one.call_id else [],
            "error": one.error or ("" if one.value is not None else "no reply"),
            **({} if one.value is None else read(one.value)),
        }
        for one in said
    ]


def judge_score(reading: Reading, value: float | None, reason: str = "") -> JudgeScore:
    """One judge's value as it stands beside the result's."""
    return JudgeScore(
        judge=reading.judge,
        repeat=reading.repeat,
        value=value,
        reason=reading.error or reason,
        calls=reading.calls,
    )


def rough_tokens(text: str) -> int:
    """About how many tokens a text has: for estimates before the first call."""
    return len(text) // 4


def answered(readings: Sequence[R]) -> list[R]:
    """The readings of judges that gave a usable reply."""
    return [reading for reading in readings if not reading.error]


def nobody_answered(readings: Sequence[Reading]) -> Outcome:
    """The outcome where no judge gave a usable reply: a failure, with every reason."""
    reasons = "; ".join(dict.fromkeys(reading.error for reading in readings))
    return Outcome("failed", reason=f"no judge gave a usable reply: {reasons}", judges=_silent(readings))


def over_judges(values: Sequence[tuple[str, float]]) -> float:
    """The mean over judges of each judge's mean over its repeats, so that one with a failed repeat counts no less.

    Args:
        values: Judge and value, at least one.
    """
    by_judge: dict[str, list[float]] = {}
    for judge, value in values:
        by_judge.setdefault(judge, []).append(value)
    return fmean(fmean(own) for own in by_judge.values())


def result(
    metric: Metric, case: ReviewCase, outcome: Outcome, details: Mapping[str, Any], usage: Usage | None = None
) -> MetricResult:
    """The record of an outcome."""
    return result_of(
        metric,
        case,
        outcome.status,
        value=outcome.value,
        reason=outcome.reason,
        parts=outcome.parts,
        details=details,
        judges=outcome.judges,
        usage=usage or Usage(),
    )


def stored_as(kind: type[S], stored: MetricResult) -> S:
    """The details of a stored result as the model that its metric reads them by.

    Raises:
        DataError: They are not what the metric wrote.
    """
    try:
        return kind.model_validate(stored.details)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"the stored judgements of {stored.metric!r} on review {stored.case_id!r} are damaged at {where!r}: "
            f"{first['msg']}.",
            hint="Evaluate the reviews again into a new folder; answered calls come from the cache.",
            ids={"metric": stored.metric, "case": stored.case_id},
        ) from error


def rescored(metric: Metric, stored: MetricResult, kind: type[S], outcome_of: Callable[[S], Outcome]) -> MetricResult:
    """A stored result with what follows from its details today; one without judgements stays as it is."""
    if not {"readings", "references"} & stored.details.keys():
        return stored
    outcome = outcome_of(stored_as(kind, stored))
    anew = {
        "version": metric.version,
        "status": outcome.status,
        "value": outcome.value,
        "reason": outcome.reason,
        "parts": outcome.parts,
        "judges": outcome.judges,
    }
    return MetricResult.model_validate({**dict(stored), **anew})


def _silent(readings: Sequence[Reading]) -> tuple[JudgeScore, ...]:
    return tuple(judge_score(reading, None) for reading in readings)
