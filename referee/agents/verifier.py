"""Points tested against the whole paper, in batches, blind to who raised them, how gravely and why.

The model answers ordered questions; code draws the consequences. A refutation needs the paper's own words. What no
reply covers stays unchecked and keeps its severity. Source: OpenAIReview's verifier agrees with that
project's labels far more often when it does not read the accuser's reasons.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.focus import shortened
from referee.agents.grouper import neutral_ids
from referee.agents.paper_reader import SEVERITY_OF, Effect
from referee.agents.paper_text import PaperRun
from referee.errors import ModelError
from referee.evidence import NotFound
from referee.prompts import delimit
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint, Severity, Verdict

PROMPT = "review/verify"
AMEND_PROMPT = "review/amend"
ROLE = "checker"
BATCH, MOST_BATCHES = 16, 4
MOST_AMENDED = 60
# The checker has the paper: quotations only lead it to the places.
_MOST_QUOTES, _QUOTE_CHARS = 6, 160
_TOKENS_A_VERDICT, _TOKENS_AN_AMENDMENT, _TOKENS_AROUND = 420, 160, 512

_CLOSED = ConfigDict(extra="ignore")
_SHOWN: Any = Literal["yes", "partly", "no", "undecidable"]
_AMENDED: Any = Literal["shown", "changed", "not_shown"]
_BEARS_ON: Any = Literal["correctness", "detail", "style"]
_WEIGHTS: dict[str, Severity] = {"correctness": "major", "detail": "minor", "style": "note"}


@dataclass(frozen=True)
class Checked:
    """A check and the severity that follows from it."""

    check: PointCheck
    severity: Severity


@dataclass(frozen=True)
class Checks:
    """What was tested by point id, and what went wrong; a point that is not there was not tested."""

    by_id: dict[str, Checked] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def verdicts_model(ids: tuple[str, ...], sections: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape for a batch: one verdict for each id."""
    verdict = create_model(
        "Verdict",
        __config__=_CLOSED,
        id=(one_of(ids), Field()),
        words=(str, Field(max_length=500)),
        place=(one_of(("", *sections)), Field()),
        shown=(_SHOWN, Field()),
        true_if_narrowed=(str, Field(max_length=450)),
        conceded=(bool, Field()),
        in_scope=(bool, Field()),
        effect=(Effect, Field()),
    )
    return create_model(
        "Verdicts", __config__=_CLOSED, verdicts=(list_of(verdict), Field(min_length=len(ids), max_length=len(ids)))
    )


@lru_cache(maxsize=64)
def amendments_model(ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape for corrections: one line for each id."""
    item = create_model(
        "Amendment",
        __config__=_CLOSED,
        id=(one_of(ids), Field()),
        verdict=(_AMENDED, Field()),
        wording=(str, Field(max_length=400)),
        bears_on=(_BEARS_ON, Field()),
    )
    return create_model(
        "Amendments", __config__=_CLOSED, amendments=(list_of(item), Field(min_length=len(ids), max_length=len(ids)))
    )


async def check_statements(run: PaperRun, points: Sequence[ReviewPoint]) -> Checks:
    """Test points in at most ``MOST_BATCHES`` batches at the same time; what they do not hold stays untested.

    Args:
        run: The paper under review.
        points: In the order in which checks are spent.

    Raises:
        BudgetExceeded: A limit was met. A batch that fails is a note and leaves the others alone.
    """
    names = neutral_ids(points[: BATCH * MOST_BATCHES])
    listed = list(names.items())
    size = -(-len(listed) // max(1, -(-len(listed) // BATCH)))
    batches = [dict(listed[start : start + size]) for start in range(0, len(listed), size or 1)]
    checked = await asyncio.gather(*(_check_batch(run, batch) for batch in batches))
    notes = [note for checks in checked for note in checks.notes]
    if (left := len(points) - len(names)) > 0:
        notes.append(f"{left} points stand unchecked: {len(names)} are as many as the checks hold")
    return Checks({name: one for checks in checked for name, one in checks.by_id.items()}, tuple(notes))


async def check_corrections(run: PaperRun, corrections: Sequence[ReviewPoint]) -> Checks:
    """Test corrections in one call; errors as of ``check_statements``."""
    names = neutral_ids(corrections[:MOST_AMENDED])
    if not names:
        return Checks()
    left = len(corrections) - len(names)
    beyond = (f"{left} corrections stand unchecked: {len(names)} are as many as the check holds",) if left else ()
    lines = "\n".join(f"[{name}] {' '.join(point.claim.split())}" for name, point in names.items())
    task = run.task(AMEND_PROMPT, corrections=delimit("corrections", lines))
    most = _TOKENS_AROUND + _TOKENS_AN_AMENDMENT * len(names)
    try:
        answer = await run.ask(task, amendments_model(tuple(names)), role=ROLE, tokens=most)
    except ModelError as error:
        return Checks(notes=(f"the corrections stand unchecked: {error.message}", *beyond))
    by_id = {names[item["id"]].id: _amended(item, answer.model) for item in answer.value.model_dump()["amendments"]}
    return Checks(by_id, (*answer.notes, *beyond))


async def _check_batch(run: PaperRun, batch: Mapping[str, ReviewPoint]) -> Checks:
    lines = "\n\n".join(f"[{name}] {_statement(point)}" for name, point in batch.items())
    task = run.task(PROMPT, points=delimit("statements", lines))
    reply = verdicts_model(tuple(batch), tuple(run.sections))
    try:
        answer = await run.ask(task, reply, role=ROLE, tokens=_TOKENS_AROUND + _TOKENS_A_VERDICT * len(batch))
    except ModelError as error:
        return Checks(notes=(f"{len(batch)} points stand unchecked: {error.message}",))
    verdicts = answer.value.model_dump()["verdicts"]
    return Checks({batch[v["id"]].id: _checked(v, answer.model, run) for v in verdicts}, answer.notes)


def _statement(point: ReviewPoint) -> str:
    """The claim with the words it rests on, both rows of a table too: not who raised it, how gravely, or why."""
    found = {(e.section_id, e.quote): e for e in point.evidence if e.status != "not_found"}
    quotes = "".join(
        f"\n  {e.role} ({e.section_id}): “{shortened(' '.join(e.quote.split()), _QUOTE_CHARS)}”"
        for e in list(found.values())[:_MOST_QUOTES]
    )
    return f"{' '.join(point.claim.split())}{quotes}"


def _checked(answer: Mapping[str, Any], model: str, run: PaperRun) -> Checked:
    words = _looked_up(answer, run)
    check = PointCheck(
        verdict=_verdict(answer, refuting=bool(words)),
        by=model,
        narrowed=" ".join(answer["true_if_narrowed"].split()) if answer["shown"] == "partly" else "",
        passages=words,
        conceded=answer["conceded"],
        out_of_scope=not answer["in_scope"],
    )
    return Checked(check, SEVERITY_OF[answer["effect"]])


def _verdict(answer: Mapping[str, Any], *, refuting: bool) -> Verdict:
    if answer["shown"] == "no":
        return "refuted" if refuting else "undecidable"
    verdicts: dict[str, Verdict] = {"yes": "stands", "partly": "weakened", "undecidable": "undecidable"}
    return verdicts[answer["shown"]]


def _looked_up(answer: Mapping[str, Any], run: PaperRun) -> tuple[PointEvidence, ...]:
    """The deciding words where they are in the paper; nothing else counts."""
    if not answer["words"].strip():
        return ()
    words, place = answer["words"], answer["place"] or None
    found = run.index.equation(words) or run.index.unnumbered(words) or run.index.find(words, section_id=place)
    if isinstance(found, NotFound):
        return ()
    named = found.model_copy(update={"section": run.sections.get(found.section_id, found.section)})
    return (PointEvidence(**dict(named), role="contradicts" if answer["shown"] == "no" else "shows"),)


def _amended(answer: Mapping[str, Any], model: str) -> Checked:
    wording = " ".join(answer["wording"].split()) if answer["verdict"] == "changed" else ""
    verdicts: dict[str, Verdict] = {"shown": "stands", "changed": "weakened", "not_shown": "refuted"}
    check = PointCheck(verdict=verdicts[answer["verdict"]], by=model, narrowed=wording)
    return Checked(check, _WEIGHTS[answer["bears_on"]])
