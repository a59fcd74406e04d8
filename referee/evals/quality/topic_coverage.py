"""Topic coverage: the share of the topics in a paper's human reviews that a review also raises.

The topics of each review are extracted once a run, by the first judge; every judge then says in every repeat how much
the topics of two reviews have in common, TS(t_i, t'_j) from 0 to 3, all pairs in one call. With tau = 2

    S_cov = (1/n) #{j : max_i S[i, j] >= tau},    n topics j of the human review, m topics i of the review,

from 0 to 1, higher is better. The value is the mean over the paper's human reviews; for each of them it is the mean
over judges of each judge's mean over its repeats. Precision (matched topics of the review / m) and F1 stand beside,
because length inflates recall. A human review is compared with the others of its paper; one without topics does not
count. A review without topics covers nothing and is scored 0.

Which list stands first could matter to a judge: it is the human review's for the first, third, ... human review and the
review's own for the others, and the other way round in every second repeat. So both orders are asked of each review
that has two human ones, without a further call; and of each pair where a judge is asked twice.

Source: ReviewEval section 3.1, Eq. 3. Ours: precision, F1, the bound on the number of topics, one call for all pairs,
and that the judge is not told which list is whose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from referee.agents.topics import (
    MATCH_PROMPT,
    MOST_TOPICS,
    TOPICS_PROMPT,
    Topics,
    extract_topics,
    match_model,
    most_out,
    most_pairs,
    read_matches,
    render_match,
)
from referee.errors import ModelError
from referee.evals.judging import JudgeReply, Panel, paid
from referee.evals.metric import Context, Known, Load, Need, Share, failed, not_applicable
from referee.evals.quality.judged import NO_TEXT, Outcome, Reading, over_judges, rescored, result
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult
from referee.schemas.usage import Usage

TAU = 2

Matches = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Coverage:
    """Shares of matched topics: of the human review's (recall), of the review's own (precision, None without any)."""

    recall: float
    precision: float | None
    f1: float


def coverage(table: Matches, topics: int, tau: int = TAU) -> Coverage | None:
    """Coverage of one human review.

    recall = (1/n) #{j : max_i S[i, j] >= tau}; precision = (1/m) #{i : max_j S[i, j] >= tau}; f1 their harmonic mean.

    Args:
        table: S, one row for each of the review's m topics, each with n strengths from 0 to 3.
        topics: n, the human review's topics.
        tau: The least strength that counts as a match.

    Returns:
        None for n = 0. For m = 0 recall and f1 are 0 and precision is not defined.
    """
    if topics == 0:
        return None
    if not table:
        return Coverage(0.0, None, 0.0)
    recall = sum(max(column) >= tau for column in zip(*table, strict=True)) / topics
    precision = sum(max(row) >= tau for row in table) / len(table)
    return Coverage(recall, precision, 2 * recall * precision / (recall + precision) if recall else 0.0)


class Match(Reading):
    """One judge's table of strengths, a row for each topic of the review; null where there is no usable reply."""

    table: list[list[int]] | None = None


class Compared(Stored):
    """One human review: its topics, what comparing gave, or why it was not compared."""

    case_id: str
    status: Literal["compared", "without_topics", "failed"]
    reason: str = ""
    retryable: bool = False
    topics: tuple[str, ...]
    matches: tuple[Match, ...]


class Tables(Stored):
    """What a result of this metric keeps and is computed from."""

    tau: int
    references: tuple[Compared, ...]


def concluded(details: Tables) -> Outcome:
    """What follows from a result's details.

    The mean over human reviews of, for each, the mean over judges. A human review whose topics could not be extracted
    is left out, on the record, where others are there and asking again would not help; one on which no judge gave a
    usable answer makes the result a failure.
    """
    references = details.references
    trouble = _trouble(references)
    if trouble:
        return Outcome("failed", reason=trouble, judges=_judges(references, details.tau))
    counted = [reference for reference in references if reference.status == "compared"]
    if not counted:
        return Outcome("not_applicable", reason="no human review of the paper has a topic")
    by_review = [_mean_of(reference, details.tau) for reference in counted]
    precise = [found.precision for found in by_review if found.precision is not None]
    return Outcome(
        "scored",
        fmean(found.recall for found in by_review),
        parts={
            "precision": fmean(precise) if precise else None,
            "f1": fmean(found.f1 for found in by_review),
        },
        judges=_judges(references, details.tau),
    )


def _trouble(references: Sequence[Compared]) -> str:
    """Why nothing can be concluded; empty where something can."""
    unread = [reference for reference in references if reference.status == "failed"]
    compared = [reference for reference in references if reference.status == "compared"]
    fatal = [reference for reference in unread if reference.retryable or not compared]
    if fatal:
        return f"topics of human review {fatal[0].case_id!r}: {fatal[0].reason}"
    for reference in compared:
        errors = dict.fromkeys(match.error for match in reference.matches)
        if reference.matches and all(errors):
            return f"no judge compared it with human review {reference.case_id!r}: {'; '.join(errors)}"
    return ""


def _mean_of(reference: Compared, tau: int) -> Coverage:
    """One human review's coverage over the judges that answered; without topics of its own nobody was asked."""
    topics = len(reference.topics)
    found = [
        (match.judge, counted)
        for match in reference.matches
        if not match.error and (counted := coverage(match.table or [], topics, tau)) is not None
    ]
    if not found:
        return Coverage(0.0, None, 0.0)
    precise = [(judge, one.precision) for judge, one in found if one.precision is not None]
    return Coverage(
        recall=over_judges([(judge, one.recall) for judge, one in found]),
        precision=over_judges(precise) if precise else None,
        f1=over_judges([(judge, one.f1) for judge, one in found]),
    )


def _judges(references: Sequence[Compared], tau: int) -> tuple[JudgeScore, ...]:
    """Each judge's value in each repeat; none where it left a human review out, because it would not compare."""
    said: dict[tuple[str, int], list[tuple[Match, int]]] = {}
    for reference in references:
        for match in reference.matches:
            said.setdefault((match.judge, match.repeat), []).append((match, len(reference.topics)))
    return tuple(_judge(judge, repeat, matches, tau) for (judge, repeat), matches in said.items())


def _judge(judge: str, repeat: int, matches: Sequence[tuple[Match, int]], tau: int) -> JudgeScore:
    errors = "; ".join(dict.fromkeys(match.error for match, _ in matches if match.error))
    calls = tuple(call for match, _ in matches for call in match.calls)
    if errors:
        return JudgeScore(judge=judge, repeat=repeat, reason=errors, calls=calls)
    found = [one for match, topics in matches if (one := coverage(match.table or [], topics, tau)) is not None]
    return JudgeScore(judge=judge, repeat=repeat, value=fmean(one.recall for one in found), calls=calls)


T = TypeVar("T")
Table = list[list[int]]

NO_REFERENCE = "the paper has no human review to compare with"
ORDERS = (
    "repeats 0, 2, ...: the human review's topics first for the first, third, ... human review, "
    "the review's own for the others; repeats 1, 3, ...: the other way round"
)

_PROMPT_TOKENS, _TOKENS_A_TOPIC, _CHARS_A_TOKEN = 600, 30, 4


@dataclass(frozen=True)
class Unread:
    """A review whose topics could not be extracted, and why."""

    reason: str
    retryable: bool
    usage: Usage


class TopicCoverage(Share):
    """See the module."""

    name = "topic_coverage"
    about = "share of people's topics that it treats"
    version = "1"
    needs: frozenset[Need] = frozenset({"references", "judge"})
    prompts: tuple[str, ...] = (TOPICS_PROMPT, MATCH_PROMPT)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One extraction a review, and one call a human review for each judge and repeat."""
        shown = max(len(case.text) // _CHARS_A_TOKEN, 2 * 10 * _TOKENS_A_TOPIC)
        return Load(once=1, judged=known.references, input_tokens=_PROMPT_TOKENS + shown, output_tokens=400)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Measure one review against the human reviews of its paper.

        Usage counts the extraction of the review's own topics and the matching; the human reviews' topics are counted
        where those are measured, and in the run's total.

        Raises:
            BudgetExceeded: The next call could pass a limit.
        """
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if not context.references:
            return not_applicable(self, case, NO_REFERENCE)
        if context.panel is None:
            return not_applicable(self, case, "there is no judge; name one with --judge")
        own, *others = await _all([_topics(review, context) for review in (case, *context.references)])
        assert own is not None, "the review has a text"
        details = {"tau": TAU, "most_topics": MOST_TOPICS, "orders": ORDERS, **_record(own)}
        if isinstance(own, Unread):
            return failed(self, case, f"its topics: {own.reason}", details=details, usage=own.usage)
        measured = await _all(
            [
                _compared(reference, theirs, own, context.panel, turned=place % 2 == 1)
                for place, (reference, theirs) in enumerate(zip(context.references, others, strict=True))
            ]
        )
        details["references"] = [record for record, _ in measured]
        usage = sum((usage for _, usage in measured), own.usage)
        return result(self, case, concluded(Tables.model_validate(details)), details, usage)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Value, parts and judges' values from the stored tables and tau; a result without any stays as it is."""
        return rescored(self, stored, Tables, concluded)


METRIC = TopicCoverage()


async def _topics(review: ReviewCase, context: Context) -> Topics | Unread | None:
    """A review's topics, extracted once a run by the first judge; None without a text."""
    panel = context.panel
    assert panel is not None, "measure has looked"
    if not review.text.strip():
        return None
    judge = panel.door.models[panel.first]

    def extract() -> Coroutine[Any, Any, Topics]:
        return extract_topics(
            review.text,
            door=panel.door,
            role=panel.first,
            context_tokens=judge.context_tokens,
            count=judge.count,
        )

    try:
        return await context.shared.once(("topics", review.case_id), extract)
    except ModelError as error:
        return Unread(error.message, error.retryable, paid(error))


def _record(topics: Topics | Unread | None) -> dict[str, Any]:
    """What is kept of an extraction; ``cut`` is null where the whole review was read."""
    if not isinstance(topics, Topics):
        return {"topics": [], "extracted_by": None, "call": None, "at_bound": False, "cut": None, "notes": []}
    whole = topics.tokens_read >= topics.tokens
    return {
        "topics": list(topics.sentences),
        "extracted_by": topics.model,
        "call": topics.call_id,
        "at_bound": topics.full,
        "cut": None if whole else {"tokens": topics.tokens, "tokens_read": topics.tokens_read},
        "notes": list(topics.notes),
    }


async def _compared(
    reference: ReviewCase, theirs: Topics | Unread | None, own: Topics, panel: Panel, *, turned: bool
) -> tuple[dict[str, Any], Usage]:
    """What is kept of one human review, and what comparing with it has cost."""
    record = {"case_id": reference.case_id, "reason": "", "retryable": False, **_record(theirs), "matches": []}
    if isinstance(theirs, Unread):
        return record | {"status": "failed", "reason": theirs.reason, "retryable": theirs.retryable}, Usage()
    if theirs is None or not theirs.sentences:
        why = NO_TEXT if theirs is None else "no topic was found in it"
        return record | {"status": "without_topics", "reason": why}, Usage()
    matches, usage = [], Usage()
    if own.sentences:
        answers = await _asked(theirs.sentences, own.sentences, panel, reference.case_id, turned=turned)
        for own_first, said in answers:
            matches.append(_match(said, own_first, len(theirs.sentences), len(own.sentences)))
            usage += said.usage
    return record | {"status": "compared", "matches": matches}, usage


async def _asked(
    theirs: Sequence[str], own: Sequence[str], panel: Panel, unit: str, *, turned: bool
) -> list[tuple[bool, JudgeReply[BaseModel]]]:
    """What each judge said in each repeat and whether the review's own topics stood first; by judge, then repeat.

    ``turned`` says whether they do in repeats 0, 2, ...
    """
    unit = f"topics against {unit}"
    first, second = (own, theirs) if turned else (theirs, own)
    asked = [_ask(first, second, replace(panel, repeats=(panel.repeats + 1) // 2), unit)]
    if panel.repeats > 1:
        asked.append(_ask(second, first, replace(panel, repeats=panel.repeats // 2), unit))
    said = [
        (turned != (step == 1), replace(one, repeat=2 * one.repeat + step))
        for step, answers in enumerate(await _all(asked))
        for one in answers
    ]
    order = {judge: place for place, judge in enumerate(dict.fromkeys(one.judge for _, one in said))}
    return sorted(said, key=lambda entry: (order[entry[1].judge], entry[1].repeat))


async def _ask(first: Sequence[str], second: Sequence[str], panel: Panel, unit: str) -> list[JudgeReply[BaseModel]]:
    sizes = len(first), len(second)
    prompt = render_match(first, second)
    return await panel.ask(prompt, match_model(*sizes), max_output_tokens=most_out(*sizes), unit=unit)


def _match(said: JudgeReply[BaseModel], own_first: bool, theirs: int, own: int) -> dict[str, Any]:
    """What one judge said in one repeat; ``table`` has a row for each topic of the review that is measured."""
    record = {
        "judge": said.judge,
        "repeat": said.repeat,
        "order": "review_first" if own_first else "human_first",
        "calls": [said.call_id] if said.call_id else [],
        "error": "",
    }
    if said.value is None:
        return record | {"error": said.error or "no reply", "table": None}
    matches = read_matches(said.value, own, theirs) if own_first else read_matches(said.value, theirs, own)
    table = matches.table if own_first else _transposed(matches.table)
    named = sum(strength > 0 for row in table for strength in row)
    return record | {
        "table": table,
        "at_bound": most_pairs(own, theirs) <= named < own * theirs,
        "contradicted": matches.contradicted,
    }


def _transposed(table: Table) -> Table:
    return [list(column) for column in zip(*table, strict=True)]


async def _all(makers: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All of them side by side; an exception is raised when every one has ended, so that no paid reply is lost."""
    done = await asyncio.gather(*makers, return_exceptions=True)
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in done if not isinstance(outcome, BaseException)]
