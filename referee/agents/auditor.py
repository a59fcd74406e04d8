"""A review in points, tested by another reading of the same paper: what it refutes, narrows, weighs anew and adds.

A draft is audited by one reader, and read once more when code has settled it. Each call begins with the bytes of the
draft's own call, so that a provider's cache serves the paper. What a reader refutes counts with the paper's own words;
what code does with it is in ``evidence.audits``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from referee.schemas.point import Fix, Polarity, ReviewPoint

AUDIT, FINAL = "review/audit", "review/final"
ROLE = "checker"
PART = "A"
"""What the ids of added points begin with, after the `p`."""
MOST_ADDED = 5
MOST_FIRST = 10
_VERDICTS: dict[str, What] = {"refuted": "refute", "repeats": "refute", "narrowed": "narrow", "weighed": "weigh"}
_CHANGES: dict[str, What] = {"delete": "refute", "omit": "omit", "narrow": "narrow", "lower": "weigh"}
_KINDS: dict[Polarity, str] = {"strength": "merit", "weakness": "weakness", "question": "question"}
_REASON = 400
_CHANGE_TOKENS, _ADDITION_TOKENS, _AROUND = 260, 330, 512
_WITHOUT_QUOTATIONS = {"evidence": (), "absence": None, "computations": (), "fix": Fix(kind="none")}
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
    """The reply of the auditor of so many points. Of longer lists than it names the beginnings are taken."""
    number: Any = Annotated[int, Field(ge=1, le=points)]
    return create_model(
        "ReviewAudit",
        __config__=_LENIENT,
        changes=_changes(points, quote_chars, _VERDICTS),
        first=(list_of(number), Field(json_schema_extra={"maxItems": MOST_FIRST})),
        additions=(list_of(point_model(quote_chars)), Field(json_schema_extra={"maxItems": MOST_ADDED})),
    )


@lru_cache(maxsize=64)
def final_model(points: int, quote_chars: int) -> type[BaseModel]:
    """The reply of who reads so many finished points."""
    return create_model("FinalReading", __config__=_LENIENT, changes=_changes(points, quote_chars, _CHANGES))


def _changes(points: int, quote_chars: int, words: Mapping[str, What]) -> Any:
    other: Any = Field(ge=0, le=points, description="0 for none")
    change = create_model(
        "PointChange",
        __config__=_LENIENT,
        point=(int, Field(ge=1, le=points)),
        change=(one_of(tuple(words)), Field()),
        claim=(str, Field(max_length=CLAIM_CHARS)),
        argument=(str, Field(max_length=ARGUMENT_CHARS)),
        where=(str, Field(max_length=WHERE_CHARS)),
        quote=(str, Field(max_length=quote_chars)),
        repeats=(int, other),
        against=(int, other),
        severity=(Weighs, Field()),
        reason=(str, Field(max_length=_REASON)),
    )
    return (list_of(change), Field(max_length=points))


async def audit_review(
    question: SingleQuestion, draft: Sequence[ReviewPoint], paper: Paper, venue_name: str, *, door: Asks
) -> Audit:
    """Ask the auditor.

    Args:
        question: What the draft's author was asked.
        draft: The points, numbered from 1 in this order.
        paper: The submission, whose sections additions name.
        venue_name: The venue's name.
        door: Who answers.

    Raises:
        ModelError: The model did not answer validly.
    """
    task = load_prompt(AUDIT).render(
        venue_name=venue_name,
        draft=delimit("review", "\n\n".join(told(draft))),
        most=str(MOST_ADDED),
        most_first=str(MOST_FIRST),
    )
    quote_chars = question.lengths.quote
    most = _AROUND + _CHANGE_TOKENS * len(draft) // 2 + _ADDITION_TOKENS * MOST_ADDED
    answer = await door.ask(
        task.after(question.prompt), audit_model(len(draft), quote_chars), role=ROLE, max_output_tokens=most
    )
    data = answer.value.model_dump()
    origin = Origin("whole", PART, None, answer.call_id, answer.model, "")
    additions = tuple(review_points(data["additions"][:MOST_ADDED], paper, origin))
    first = tuple(draft[number - 1].id for number in data["first"][:MOST_FIRST])
    left = len(data["additions"]) - MOST_ADDED
    notes = (*answer.notes, f"the auditor added {left} points more than the {MOST_ADDED} that were taken")
    changes = _asked_for(data, draft, _VERDICTS)
    return Audit(changes, additions, first, answer.call_id, notes if left > 0 else answer.notes)


async def read_finally(
    question: SingleQuestion, listed: Sequence[ReviewPoint], scores: Iterable[str], venue_name: str, *, door: Asks
) -> Audit:
    """Ask for what must not leave; errors as of ``audit_review``.

    Args:
        question: What the draft's author was asked.
        listed: The finished points in the order of the list; shown without their quotations, which code looked up.
        scores: The ratings in words, a line each.
        venue_name: The venue's name.
        door: Who answers.
    """
    shown = "\n\n".join([*told(listed, quoted=False), *scores])
    task = load_prompt(FINAL).render(venue_name=venue_name, draft=delimit("review", shown))
    reply = final_model(len(listed), question.lengths.quote)
    most = _AROUND + _CHANGE_TOKENS * len(listed) // 2
    answer = await door.ask(task.after(question.prompt), reply, role=ROLE, max_output_tokens=most)
    changes = _asked_for(answer.value.model_dump(), listed, _CHANGES, only_less=True)
    return Audit(changes, (), (), answer.call_id, answer.notes)


def _asked_for(
    data: Mapping[str, Any],
    shown: Sequence[ReviewPoint],
    words: Mapping[str, What],
    *,
    only_less: bool = False,
) -> tuple[Change, ...]:
    ids = ["", *(point.id for point in shown)]
    return tuple(
        Change(
            id=ids[item["point"]],
            what=words[item["change"]],
            claim=item["claim"],
            argument=item["argument"],
            quote=item["quote"],
            repeats=ids[item["repeats"]] if words[item["change"]] == "refute" else "",
            against=ids[item["against"]],
            severity=SEVERITY_OF[item["severity"]],
            reason=item["reason"],
            only_less=only_less,
        )
        for item in data["changes"]
        if item["repeats"] or item["change"] != "repeats"
    )


def told(points: Sequence[ReviewPoint], *, quoted: bool = True) -> Iterator[str]:
    """The points as a reader of them sees them, numbered from 1 in this order; not quoted, claim and argument alone."""
    for number, point in enumerate(points, start=1):
        own = "correction" if point.correction else _KINDS[point.polarity]
        kind = tag(point) if point.heading else f"{own}, {WEIGHTS[point.severity]}"
        behind = details(point if quoted else point.model_copy(update=_WITHOUT_QUOTATIONS))
        yield "\n".join([f"{number}. [{kind}] {' '.join(point.statement.split())}", *behind])
