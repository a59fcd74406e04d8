"""From tables of topic strengths to coverage: no calls, so that a stored result can be computed anew.

Source: ReviewEval section 3.1, Eq. 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from referee.evals.quality.readings import Outcome, Reading, over_judges
from referee.schemas.base import Stored
from referee.schemas.metric import JudgeScore

TAU = 2

Table = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Coverage:
    """Shares of matched topics: of the human review's (recall), of the review's own (precision, None without any)."""

    recall: float
    precision: float | None
    f1: float


def coverage(table: Table, topics: int, tau: int = TAU) -> Coverage | None:
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
