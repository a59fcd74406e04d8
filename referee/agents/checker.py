"""Points tested in a fresh context, in batches, blind to who raised them, how gravely and why.

The model answers ordered tests; code maps the answers to a verdict. A refutation needs a passage of the paper by its
id. What no reply covers stays ``unchecked``: it is never taken for sound.

Source: the self-check of the `sections` strategy: a verifier that does not read the accuser's reasons agrees with hand
labels far more often.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, Excerpt, list_of, one_of, tokens_left
from referee.errors import ContextTooLong, ModelRefused, ReplyInvalid
from referee.llm.door import Answer
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint, Verdict


@dataclass(frozen=True)
class Case:
    """One point under its alias, with the words quoted for it by id (``c1q1``); ``remark`` is what its author adds."""

    alias: str
    point: ReviewPoint
    quotations: Mapping[str, PointEvidence]
    remark: str = ""


@dataclass(frozen=True)
class CheckBatch:
    """The cases of one call and the passages they share by id (``p1``); ``left_out`` counts those that did not fit.

    ``found`` and ``remarks`` are kept by point for the halves of the batch.
    """

    cases: tuple[Case, ...]
    shared: Mapping[str, PointEvidence]
    found: Mapping[str, Sequence[Excerpt]]
    remarks: Mapping[str, str]
    left_out: int = 0

    def ids(self) -> tuple[str, ...]:
        """Everything a reply can name: quotations of all cases, then passages."""
        return (*(name for case in self.cases for name in case.quotations), *self.shared)

    def passages(self) -> str:
        """The shared passages as prompt text; empty where there are none."""
        return "\n".join(_words("passage", name, words) for name, words in self.shared.items())

    def statements(self) -> str:
        """The cases as prompt text."""
        return "\n\n".join(_statement(case) for case in self.cases)


def batch_of(
    points: Sequence[ReviewPoint], found: Mapping[str, Sequence[Excerpt]], remarks: Mapping[str, str]
) -> CheckBatch:
    """Points with what was found for them: each passage once, the nearest of every point before farther ones."""
    ranked = zip_longest(*(found.get(point.id, ()) for point in points))
    nearest = {(e.section_id, e.text): e for rank in ranked for e in rank if e is not None}
    shared = {f"p{number}": _evidence(excerpt) for number, excerpt in enumerate(nearest.values(), start=1)}
    cases = (_case(f"c{n}", point, remarks.get(point.id, "")) for n, point in enumerate(points, start=1))
    return CheckBatch(tuple(cases), shared, found, remarks)


def fitting(batch: CheckBatch, fits: Callable[[CheckBatch], bool]) -> list[CheckBatch]:
    """The batch, or its halves, or a single case with fewer passages; nothing for a case that never fits."""
    if fits(batch):
        return [batch]
    points = [case.point for case in batch.cases]
    if len(points) > 1:
        half = (len(points) + 1) // 2
        halves = (batch_of(some, batch.found, batch.remarks) for some in (points[:half], points[half:]))
        return [part for some in halves for part in fitting(some, fits)]
    if not batch.shared:
        return []
    shorter = dict(list(batch.shared.items())[:-1])
    return fitting(replace(batch, shared=shorter, left_out=batch.left_out + 1), fits)


def _case(alias: str, point: ReviewPoint, remark: str) -> Case:
    quoted = [evidence for evidence in point.evidence if evidence.status != "not_found"]
    return Case(
        alias, point, {f"{alias}q{number}": evidence for number, evidence in enumerate(quoted, start=1)}, remark
    )


def _evidence(found: Excerpt) -> PointEvidence:
    return PointEvidence(
        section_id=found.section_id, section=found.section, quote=found.text, status="exact", page=found.page
    )


def _statement(case: Case) -> str:
    lines = [case.point.claim, f"Would be refuted by: {case.point.refuted_by or '(not said)'}"]
    stated = "\n".join([*lines, case.remark] if case.remark else lines)
    quoted = [_words("quotation", name, words) for name, words in case.quotations.items()]
    return "\n".join([delimit("statement", stated, id=case.alias), *(quoted or ["(Nothing is quoted for it.)"])])


def _words(tag: str, name: str, words: PointEvidence) -> str:
    return delimit(tag, f"From {words.section or 'the paper'}:\n{words.quote}", id=name)


logger = logging.getLogger(__name__)

PROMPT = "review/check"
ROLE = "checker"
BATCH = 6
# Passages shown with one batch; a paper no longer than this is shown whole.
PASSAGE_TOKENS = 8_000
NOBODY = "no check"

Shown = Literal["yes", "partly", "no", "nothing_quoted"]

_NONE = "none"
_TOKENS_A_POINT, _TOKENS_AROUND = 220, 128


@dataclass(frozen=True)
class CheckAnswers:
    """The ordered tests of one point. ``refuted`` and ``conceded`` say whether a passage of the paper was named."""

    coherent: bool
    shown: Shown
    refuted: bool
    conceded: bool
    in_scope: bool
    matters: bool


def verdict_of(answers: CheckAnswers, *, absence: bool = False, strength: bool = False) -> Verdict:
    """The verdict that follows from the tests, in their order.

    Incoherent: undecidable. A passage refutes it: refuted. The quotations do not show it: undecidable, unless it
    claims an absence, which no quotation can show. Conceded, shown in part, or of no consequence: weakened. Else it
    stands. Scope does not change the verdict; it is kept beside it.

    Args:
        answers: The tests' outcome.
        absence: The point says that something is not there.
        strength: The point is a merit, which nothing needs to mend and which the paper may say of itself.
    """
    if not answers.coherent:
        return "undecidable"
    if answers.refuted:
        return "refuted"
    if not absence and answers.shown in ("no", "nothing_quoted"):
        return "undecidable"
    partly = not absence and answers.shown == "partly"
    conceded_or_idle = not strength and (answers.conceded or not answers.matters)
    return "weakened" if partly or conceded_or_idle else "stands"


def batches(points: Sequence[ReviewPoint], size: int = BATCH) -> list[tuple[ReviewPoint, ...]]:
    """Cut points into the fewest batches, kept within a section where that costs no further batch.

    Batches are ordered by the first of their points, so that a caller who puts grave points first sees them checked
    first.

    Args:
        points: In the order of checking.
        size: Most points in a batch, at least 1.
    """
    order = {point.id: place for place, point in enumerate(points)}
    groups: dict[str | None, list[ReviewPoint]] = {}
    for point in points:
        groups.setdefault(point.section_id, []).append(point)
    cut: list[list[ReviewPoint]] = []
    for group in sorted(groups.values(), key=lambda group: len(group) % size, reverse=True):
        for chunk in _chunks(group, size):
            home = next((other for other in cut if len(other) + len(chunk) <= size), None)
            if home is None:
                cut.append(list(chunk))
            else:
                home.extend(chunk)
    if len(cut) > -(-len(points) // size):
        cut = _chunks([point for group in groups.values() for point in group], size)
    ordered = [tuple(sorted(batch, key=lambda point: order[point.id])) for batch in cut]
    return sorted(ordered, key=lambda batch: order[batch[0].id])


async def check_points(
    points: Sequence[ReviewPoint],
    passages_by_point: Mapping[str, Sequence[Excerpt]],
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
    how_read: str,
    max_calls: int | None = None,
    remarks: Mapping[str, str] | None = None,
) -> dict[str, PointCheck]:
    """Check points against the paper's words, batches at the same time.

    A passage that several points of a batch need is shown once. A batch too long for the context is halved; a single
    point that is still too long loses its farthest passages, and says so. A batch whose reply fails leaves its points
    unchecked and the others alone.

    Args:
        points: With verified quotations; those not found in the paper are not shown to the checker.
        passages_by_point: What bears on a point by its id: what searches found, the nearest first, or all of a short
            paper.
        door: Answers the prompt.
        context_tokens: The model's context.
        count: Counts tokens as the model does.
        how_read: What the text lost on its way, in words.
        max_calls: Batches beyond this many stay unchecked; all are checked where null.
        remarks: What the author of a point adds, by the point's id. The check is blind only without them.

    Returns:
        One check for every point.

    Raises:
        ModelUnavailable, BudgetExceeded: After all batches under way have ended.
    """
    prompt = load_prompt(PROMPT)

    def fits(batch: CheckBatch) -> bool:
        if count(batch.passages()) > PASSAGE_TOKENS:
            return False
        rendered = _render(prompt, batch, how_read)
        return tokens_left(rendered, _model(batch), _most_out(batch), context_tokens, count) >= 0

    whole = [batch_of(batch, passages_by_point, remarks or {}) for batch in batches(points)]
    cut = [part for batch in whole for part in fitting(batch, fits)]
    asked = cut if max_calls is None else cut[:max_calls]
    checked = await asyncio.gather(
        *(_check_batch(batch, prompt, door, how_read) for batch in asked), return_exceptions=True
    )
    checks = {point.id: _unchecked("it does not fit into the checker's context") for point in points}
    checks |= {case.point.id: _unchecked("there was no call left for it") for batch in cut for case in batch.cases}
    for outcome in checked:
        if isinstance(outcome, BaseException):
            raise outcome
        checks.update(outcome)
    return checks


async def _check_batch(batch: CheckBatch, prompt: Prompt, door: Asks, how_read: str) -> dict[str, PointCheck]:
    try:
        answer = await door.ask(
            _render(prompt, batch, how_read), _model(batch), role=ROLE, max_output_tokens=_most_out(batch)
        )
    except (ReplyInvalid, ModelRefused, ContextTooLong) as error:
        logger.warning("a batch of %d points stays unchecked: %s", len(batch.cases), error.message)
        return {case.point.id: _unchecked("the check gave no usable answer") for case in batch.cases}
    return _read(answer, batch)


def _read(answer: Answer[BaseModel], batch: CheckBatch) -> dict[str, PointCheck]:
    """Verdicts from a reply. Of two answers to one statement neither is believed."""
    given: dict[str, list[dict[str, Any]]] = {case.alias: [] for case in batch.cases}
    for item in answer.value.model_dump()["answers"]:
        given[item["statement"]].append(item)
    checks = {}
    for case in batch.cases:
        if len(given[case.alias]) == 1:
            checks[case.point.id] = _ruled(case, batch, given[case.alias][0], answer.model)
        else:
            said = "answered twice" if given[case.alias] else "left it out"
            checks[case.point.id] = _unchecked(f"the check {said}")
    return checks


def _ruled(case: Case, batch: CheckBatch, item: Mapping[str, Any], model: str) -> PointCheck:
    words = {**case.quotations, **batch.shared}
    refuting, conceding = words.get(item["refuted"]), words.get(item["conceded"])
    quoted = any(evidence.status != "not_found" for evidence in case.point.evidence)
    answers = CheckAnswers(
        coherent=item["coherent"],
        shown=item["shown"] if quoted else "nothing_quoted",
        refuted=refuting is not None,
        conceded=conceding is not None,
        in_scope=item["in_scope"],
        matters=item["matters"],
    )
    named = [refuting.model_copy(update={"role": "contradicts"})] if refuting else []
    named += [conceding] if conceding and conceding is not refuting else []
    astray = {item["refuted"], item["conceded"]} - {_NONE, *words}
    remark = " (a passage it named belongs to another statement and does not count)" if astray else ""
    remark += f" ({batch.left_out} found passages did not fit)" if batch.left_out else ""
    strength = case.point.polarity == "strength"
    return PointCheck(
        verdict=verdict_of(answers, absence=case.point.absence is not None, strength=strength),
        by=model,
        reason=item["finding"] + remark,
        passages=tuple(named),
        conceded=answers.conceded,
        out_of_scope=not answers.in_scope,
    )


def _unchecked(reason: str) -> PointCheck:
    return PointCheck(verdict="unchecked", by=NOBODY, reason=reason)


def _render(prompt: Prompt, batch: CheckBatch, how_read: str) -> RenderedPrompt:
    return prompt.render(how_read=how_read, passages=batch.passages() or "(none)", claims=batch.statements())


def _model(batch: CheckBatch) -> type[BaseModel]:
    return check_model(tuple(case.alias for case in batch.cases), batch.ids())


@lru_cache(maxsize=64)
def check_model(aliases: tuple[str, ...], words: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: an answer for each of the names it is given."""
    named = one_of((_NONE, *words))
    closed = ConfigDict(extra="ignore")
    one = create_model(
        "Tested",
        __config__=closed,
        statement=(one_of(aliases), ...),
        finding=(str, Field(max_length=240, description="what the words shown say about it, in one sentence")),
        coherent=(bool, ...),
        shown=(Shown, ...),
        refuted=(named, Field(description="the id of the words that make it false")),
        conceded=(named, Field(description="the id of the words in which the paper says the same of itself")),
        in_scope=(bool, ...),
        matters=(bool, ...),
    )
    # Room for a repeated answer: the reply is read with it, and the statement stays unchecked.
    return create_model("Tests", __config__=closed, answers=(list_of(one), Field(max_length=2 * len(aliases))))


def _most_out(batch: CheckBatch) -> int:
    return _TOKENS_A_POINT * len(batch.cases) + _TOKENS_AROUND


def _chunks(points: Sequence[ReviewPoint], size: int) -> list[list[ReviewPoint]]:
    return [list(points[start : start + size]) for start in range(0, len(points), size)]
