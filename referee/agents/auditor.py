"""A review in points, tested by readers of the same paper: what they refute, narrow, weigh anew, and what they add.

A draft is audited by readers with different things to look at, and read once more when code has settled it. Each call
begins with the bytes of the draft's own call, so that a provider's cache serves the paper. What a reader refutes counts
with the paper's own words, or where its reasoning is shown to fail; what code does with it is in ``evidence.audits``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.point_reply import Origin
from referee.agents.review_points import (
    ARGUMENT_CHARS,
    CLAIM_CHARS,
    SEVERITY_OF,
    WHERE_CHARS,
    Weighs,
    point_model,
    review_points,
)
from referee.agents.single_reviewer import SingleQuestion
from referee.evidence.audits import Change, What
from referee.evidence.listing import WEIGHTS, details, tag
from referee.prompts import delimit, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.point import Polarity, ReviewPoint

AUDIT, FINAL = "review/audit", "review/final"
ROLE = "checker"
MOST_ADDED = 5
MOST_FIRST = 10
LENSES: dict[str, str] = {
    "D": "the details. Equations, derivations, algorithms, definitions and notation line by line; every table and "
    "figure against the text that speaks of it, with its arithmetic; numbers that stand in two places; the appendices.",
    "C": "the claims. What each main claim rests on, and what else could explain it: controls, baselines, confounds, "
    "statistics, how data were chosen, leaks between data that must be apart, what a conclusion says beyond what was "
    "measured, and what the paper promises and does not show.",
}
"""What an auditor looks at, by the letter in the ids of the points that it adds."""

_VERDICTS: dict[str, What] = {"refuted": "refute", "repeats": "refute", "narrowed": "narrow", "weighed": "weigh"}
_CHANGES: dict[str, What] = {"delete": "refute", "omit": "omit", "narrow": "narrow", "lower": "weigh"}
_KINDS: dict[Polarity, str] = {"strength": "merit", "weakness": "weakness", "question": "question"}
_REASON = 400
_VERDICT_TOKENS, _ADDITION_TOKENS, _AROUND = 260, 330, 512
_LENIENT = ConfigDict(extra="ignore")


@dataclass(frozen=True)
class Audit:
    """What one reader would change, what it adds, and the ids of the points that it would have read first."""

    changes: tuple[Change, ...]
    additions: tuple[ReviewPoint, ...] = ()
    first: tuple[str, ...] = ()
    call_id: str = ""
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def audit_model(points: int, quote_chars: int) -> type[BaseModel]:
    """The reply of an auditor of so many points."""
    number: Any = Field(ge=1, le=points)
    numbers: Any = list_of(Annotated[int, number])
    verdict = create_model(
        "AuditVerdict",
        __config__=_LENIENT,
        point=(int, number),
        verdict=(one_of(tuple(_VERDICTS)), Field()),
        claim=(str, Field(max_length=CLAIM_CHARS)),
        argument=(str, Field(max_length=ARGUMENT_CHARS)),
        where=(str, Field(max_length=WHERE_CHARS)),
        quote=(str, Field(max_length=quote_chars)),
        repeats=(int, Field(ge=0, le=points, description="0 for none")),
        severity=(Weighs, Field()),
        reason=(str, Field(max_length=_REASON)),
    )
    return create_model(
        "ReviewAudit",
        __config__=_LENIENT,
        verdicts=(list_of(verdict), Field(max_length=points)),
        first=(numbers, Field(max_length=MOST_FIRST)),
        additions=(list_of(point_model(quote_chars)), Field(max_length=MOST_ADDED)),
    )


@lru_cache(maxsize=64)
def final_model(points: int, quote_chars: int) -> type[BaseModel]:
    """The reply of who reads so many finished points."""
    other: Any = Field(ge=0, le=points, description="0 for none")
    change = create_model(
        "FinalChange",
        __config__=_LENIENT,
        point=(int, Field(ge=1, le=points)),
        change=(one_of(tuple(_CHANGES)), Field()),
        claim=(str, Field(max_length=CLAIM_CHARS)),
        where=(str, Field(max_length=WHERE_CHARS)),
        quote=(str, Field(max_length=quote_chars)),
        repeats=(int, other),
        against=(int, other),
        severity=(Weighs, Field()),
        reason=(str, Field(max_length=_REASON)),
    )
    return create_model("FinalReading", __config__=_LENIENT, changes=(list_of(change), Field(max_length=points)))


async def audit_review(
    question: SingleQuestion, draft: Sequence[ReviewPoint], lens: str, paper: Paper, venue_name: str, *, door: Asks
) -> Audit:
    """Ask one auditor.

    Args:
        question: What the draft's author was asked.
        draft: The points, numbered from 1 in this order.
        lens: A key of ``LENSES``.
        paper: The submission, whose sections additions name.
        venue_name: The venue's name.
        door: Who answers.

    Raises:
        ModelError: The model did not answer validly.
    """
    task = load_prompt(AUDIT).render(
        venue_name=venue_name,
        lens=LENSES[lens],
        draft=delimit("review", told(draft)),
        most=str(MOST_ADDED),
        most_first=str(MOST_FIRST),
    )
    quote_chars = question.lengths.quote
    most = _AROUND + _VERDICT_TOKENS * len(draft) // 2 + _ADDITION_TOKENS * MOST_ADDED
    answer = await door.ask(
        task.after(question.prompt), audit_model(len(draft), quote_chars), role=ROLE, max_output_tokens=most
    )
    data = answer.value.model_dump()
    changes = tuple(
        Change(
            id=draft[item["point"] - 1].id,
            what=_VERDICTS[item["verdict"]],
            claim=item["claim"],
            argument=item["argument"],
            quote=item["quote"],
            where=item["where"],
            repeats=draft[item["repeats"] - 1].id if item["verdict"] == "repeats" and item["repeats"] else "",
            severity=SEVERITY_OF[item["severity"]],
            reason=item["reason"],
            by=answer.model,
        )
        for item in data["verdicts"]
    )
    origin = Origin("whole", lens, None, answer.call_id, answer.model, "")
    additions = tuple(review_points(data["additions"], paper, origin))
    first = tuple(draft[number - 1].id for number in data["first"])
    return Audit(changes, additions, first, answer.call_id, answer.notes)


async def read_finally(
    question: SingleQuestion, listed: Sequence[ReviewPoint], scores: Iterable[str], venue_name: str, *, door: Asks
) -> Audit:
    """Ask for what must not leave; errors as of ``audit_review``.

    Args:
        question: What the draft's author was asked.
        listed: The finished points in the order of the list.
        scores: The ratings in words, a line each.
        venue_name: The venue's name.
        door: Who answers.
    """
    shown = "\n\n".join([told(listed), *scores])
    task = load_prompt(FINAL).render(venue_name=venue_name, draft=delimit("review", shown))
    reply = final_model(len(listed), question.lengths.quote)
    most = _AROUND + _VERDICT_TOKENS * len(listed) // 2
    answer = await door.ask(task.after(question.prompt), reply, role=ROLE, max_output_tokens=most)
    changes = []
    for item in answer.value.model_dump()["changes"]:
        repeats, against = (listed[n - 1].id if n else "" for n in (item["repeats"], item["against"]))
        changes.append(
            Change(
                id=listed[item["point"] - 1].id,
                what=_CHANGES[item["change"]],
                claim=item["claim"],
                quote=item["quote"],
                where=item["where"],
                repeats=repeats,
                against=against,
                severity=SEVERITY_OF[item["severity"]],
                reason=item["reason"],
                by=answer.model,
                only_less=True,
            )
        )
    return Audit(tuple(changes), (), (), answer.call_id, answer.notes)


def told(points: Sequence[ReviewPoint]) -> str:
    """The points as a reader of them sees them, numbered from 1 in this order."""
    lines = []
    for number, point in enumerate(points, start=1):
        own = "correction" if point.correction else _KINDS[point.polarity]
        kind = tag(point) if point.heading else f"{own}, {WEIGHTS[point.severity]}"
        lines.append("\n".join([f"{number}. [{kind}] {' '.join(point.statement.split())}", *details(point)]))
    return "\n\n".join(lines)
