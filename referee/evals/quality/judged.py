"""What metrics share that ask judges about a review: the window's room, one question, readings and quoted words.

A reading is what one judge said in one repeat, from which the value can be computed anew without a call. Each metric
says what its readings hold; what was stored is read as that, or refused by name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from referee.agents.asking import tokens_left
from referee.errors import DataError
from referee.evals.judging import JudgeReply, Panel, total_usage
from referee.evals.metric import Metric, result_of
from referee.evidence import NotFound, QuotationIndex
from referee.evidence.normalise import normalise
from referee.llm.models import Model
from referee.prompts import RenderedPrompt
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult, MetricStatus
from referee.schemas.paper import Block, Converter, Paper, Section
from referee.schemas.usage import Usage

_TIGHTER = 0.97


@dataclass(frozen=True)
class Shown:
    """The beginning of a review that fits; ``cut`` says what was left out, and is null where nothing was."""

    text: str
    cut: dict[str, Any] | None = None


def smallest_context(panel: Panel) -> int:
    """The context of the judge that can read least, in tokens."""
    return min(model.context_tokens for model in _models(panel))


def no_room(panel: Panel) -> str:
    """Why a review cannot be judged at all."""
    return f"the prompt alone fills the judge's context of {smallest_context(panel)} tokens"


def fitted(
    text: str, panel: Panel, *, render: Callable[[str], RenderedPrompt], reply: type[BaseModel], most_out: int
) -> Shown:
    """Fit a review into every judge's context, beside the prompt, the schema and the reply.

    Args:
        text: The review.
        panel: The judges.
        render: Makes the prompt that shows a text.
        reply: The reply model, whose schema is sent too.
        most_out: The longest reply, in tokens.

    Returns:
        The whole text, or its beginning up to a word's end; empty where not even the prompt fits.
    """
    shown = text
    for model in _models(panel):
        shown = _fitted(shown, model, render, reply, most_out)
    if shown == text:
        return Shown(text)
    words, left = len(text.split()), len(shown.split())
    return Shown(shown, {"words": words, "words_shown": left, "context_tokens": smallest_context(panel)})


def _fitted(
    text: str, model: Model, render: Callable[[str], RenderedPrompt], reply: type[BaseModel], most_out: int
) -> str:
    empty = render("")
    room = tokens_left(empty, reply, most_out, model.context_tokens, model.count)
    while room > 0 and text:
        used = model.count(render(text).user) - model.count(empty.user)
        if used <= room:
            return text
        kept = text[: int(len(text) * room / used * _TIGHTER)]
        text = kept.rsplit(None, 1)[0] if " " in kept.strip() else kept
    return ""


def _models(panel: Panel) -> list[Model]:
    return [panel.door.models[role] for role in panel.judges]


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


_PARAGRAPH = re.compile(r"\n\s*\n")
_EDGES = " .,;:!?'-*#()[]"
_FEWEST_LETTERS = 6


@dataclass(frozen=True)
class Traced:
    """The review's own words for a quotation; ``exact`` is false where the judge copied with a slip."""

    words: str
    exact: bool


class OwnWords:
    """Looks quotations up in one review."""

    def __init__(self, review: str) -> None:
        self._review = review
        self._index = QuotationIndex(_as_paper(review))

    def find(self, quote: str) -> Traced | str:
        """The review's words, or why the quotation does not count."""
        found = self._index.find(quote)
        if not isinstance(found, NotFound):
            return Traced(found.quote, found.status == "exact")
        terse = _plain(quote).strip(_EDGES)
        if found.kind == "refused" and self._holds(terse):
            return Traced(" ".join(quote.split()), True)
        return found.reason.replace("in the paper", "in the review")

    def _holds(self, terse: str) -> bool:
        long_enough = len(terse.split()) > 1 and sum(map(str.isalnum, terse)) >= _FEWEST_LETTERS
        return long_enough and re.search(rf"(?<!\w){re.escape(terse)}(?!\w)", self._text) is not None

    @cached_property
    def _text(self) -> str:
        return _plain(self._review)


def _plain(text: str) -> str:
    # Material is shown to a judge with "‹" for a "<" that could open a tag: both sides read the same here.
    return normalise(text.replace("‹", "<")).text


def _as_paper(review: str) -> Paper:
    """A review as the look-up takes it: one section, a block a paragraph."""
    pieces = [piece for piece in _PARAGRAPH.split(review) if piece.strip()]
    blocks = tuple(Block(id=f"b{n}", kind="paragraph", text=piece) for n, piece in enumerate(pieces, start=1))
    return Paper(
        paper_id=hashlib.sha256(review.encode("utf-8", "replace")).hexdigest(),
        title="",
        format="text",
        sections=(Section(id="review", heading="", level=1, blocks=blocks),),
        converter=Converter(name="none", version="0"),
    )


@dataclass(frozen=True)
class Question(Generic[T]):
    """One question about a review.

    Attributes:
        render: Makes the prompt that shows a text.
        reply: The reply model.
        most_out: The longest reply, in tokens.
        read: What is kept of a reply, given the text that was shown.
    """

    render: Callable[[str], RenderedPrompt]
    reply: type[T]
    most_out: int
    read: Callable[[T, str], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """The readings, as ``details`` hold them, what was cut off the review, and the cost.

    ``no_room`` says why nobody was asked; it is empty where the question was put.
    """

    readings: list[dict[str, Any]]
    cut: dict[str, Any] | None
    usage: Usage
    no_room: str = ""


async def ask_judges(question: Question[T], text: str, panel: Panel, unit: str) -> Asked:
    """Show the review to all judges, as much of it as fits the smallest context among them.

    Args:
        question: What is asked.
        text: The review; not blank.
        panel: The judges.
        unit: What is judged, for the log.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    shown = fitted(text, panel, render=question.render, reply=question.reply, most_out=question.most_out)
    if not shown.text:
        return Asked([], None, Usage(), no_room(panel))
    prompt = question.render(shown.text)
    said = await panel.ask(prompt, question.reply, max_output_tokens=question.most_out, unit=unit)
    readings = readings_of(said, lambda value: question.read(value, shown.text))
    return Asked(readings, shown.cut, total_usage(said))
