"""The last step of a review from points: summaries, scores and checklists, from the points and not from the paper.

Source: freely given scores are compressed and lenient, so a score is chosen from the checked points, names them, and
is null where none bears on it. Text fields other than summaries are made by code, from the points as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, list_of, one_of, tokens_left
from referee.agents.briefing import fit_paper, how_read
from referee.agents.form_reply import (
    FULL,
    OPEN,
    FormValues,
    Lengths,
    StatedScore,
    offered,
    slugs_of,
    stated_scores,
    ticked_choices,
    whole_texts,
)
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import ReviewPoint
from referee.schemas.venue import FormField, VenueForm
from referee.venues import render_form, render_guidelines

PROMPT = "review/compose"
PAPER_PROMPT = "review/compose-paper"
ROLE = "composer"
_GRAVE = ("fatal", "major")


@dataclass(frozen=True)
class PaperBeside:
    """A paper that the composer sees beside the points, and the context of the model that is to read it."""

    paper: Paper
    context_tokens: int
    count: CountTokens
    reading_tokens: int | None = None


class Composed(FormValues):
    """What the composing call gave, in the form's own names."""

    notes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


def summary_fields(form: VenueForm) -> tuple[FormField, ...]:
    """The text fields that retell the paper instead of judging it."""
    return tuple(f for f in form.reviewer_fields if f.kind == "text" and _is_summary(f))


async def compose_review(
    form: VenueForm,
    card: str,
    points: Sequence[ReviewPoint],
    *,
    door: Asks,
    lengths: Lengths = FULL,
    send_back: bool = True,
) -> Composed:
    """Fill summaries, scores and checklists in one call, or two where the scores contradict the points.

    Args:
        form: The venue's form.
        card: The paper's own statements, as text: title, abstract, claims.
        points: The points that stand; they are shown by id.
        door: Answers the prompt.
        lengths: Bounds of texts and reasons.
        send_back: Whether scores that the points do not support are chosen once again, before they are left open.

    Raises:
        ModelError: The model did not answer validly.
    """
    reply = reply_model(form, tuple(p.id for p in points), lengths)
    first = await door.ask(
        _render(form, card, points, lengths, returned=""),
        reply,
        role=ROLE,
        max_output_tokens=_output_tokens(form, lengths),
    )
    scores, calls, notes = stated_scores(form, first.value.model_dump()), [first.call_id], [*first.notes]
    against = objections(form, scores, points)
    if against and send_back:
        again = await door.ask(
            _render(form, card, points, lengths, returned=_returned(against)),
            reply,
            role=ROLE,
            max_output_tokens=_output_tokens(form, lengths),
        )
        second = stated_scores(form, again.value.model_dump())
        scores |= {name: second[name] for name in against}
        calls.append(again.call_id)
        against = objections(form, scores, points)
    for name, objection in against.items():
        scores[name] = left_open(scores[name], objection)
        notes.append(f"the score of {name} was left open: {objection}")
    return _composed(form, first.value, scores, tuple(notes), tuple(calls))


async def compose_from_paper(
    form: VenueForm,
    card: str,
    points: Sequence[ReviewPoint],
    beside: PaperBeside,
    *,
    door: Asks,
    lengths: Lengths = FULL,
) -> Composed:
    """Fill the same fields with the paper beside the points; a score needs no point, and none is sent back.

    Args:
        form: The venue's form.
        card: The paper's own statements, as text.
        points: The points that stand.
        beside: The paper, shown as far as it fits; notes say what of it was not.
        door: Answers the prompt.
        lengths: Bounds of texts and reasons.

    Raises:
        ContextTooLong: Form and points leave no room for the paper.
        ModelError: The model did not answer validly.
    """
    prompt, reply = load_prompt(PAPER_PROMPT), reply_model(form, tuple(p.id for p in points), lengths)
    values, most_out = _values(form, card, points, lengths), _output_tokens(form, lengths)
    frame = prompt.render(**values, how_read=how_read(beside.paper, ()), paper="")
    room = tokens_left(frame, reply, most_out, beside.context_tokens, beside.count)
    shown = fit_paper(beside.paper, room, beside.count, beside.reading_tokens)
    rendered = prompt.render(**values, how_read=how_read(beside.paper, shown.cuts), paper=shown.text)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=most_out)
    notes = (*answer.notes, *([f"the composer: {cut_line(shown.cut).rstrip('.')}"] if shown.cut else []))
    return _composed(form, answer.value, stated_scores(form, answer.value.model_dump()), notes, (answer.call_id,))


@lru_cache(maxsize=64)
def reply_model(form: VenueForm, point_ids: tuple[str, ...], lengths: Lengths) -> type[BaseModel]:
    """Summaries, then scores with the overall last, then checklists; points only by the ids there are."""
    slugs = slugs_of(form)
    shape: dict[str, Any] = {}
    for field in summary_fields(form):
        shape[slugs[field.name]] = (str, Field(max_length=lengths.text, description=field.asks))
    for field in sorted(form.reviewer_fields, key=lambda f: f.aspect == "overall"):
        if field.kind == "score":
            shape[slugs[field.name]] = (score_model(field, point_ids, lengths), Field(description=field.asks))
    for field in form.reviewer_fields:
        if field.kind == "choice":
            shape[slugs[field.name]] = (one_of(tuple(offered(field))), Field(description=field.asks))
        elif field.kind == "flag":
            most = 2 if lengths.brief else len(field.options)
            shape[slugs[field.name]] = (list_of(one_of(tuple(offered(field)))), Field(max_length=most))
    return create_model("ComposedReview", __config__=ConfigDict(extra="ignore"), **shape)


def _is_summary(field: FormField) -> bool:
    return "summary" in field.name.lower() and not any(
        word in field.name.lower() for word in ("strength", "weakness", "of_the_review", "recommendation")
    )


@lru_cache(maxsize=64)
def score_model(field: FormField, point_ids: tuple[str, ...] | None, lengths: Lengths) -> type[BaseModel]:
    """One score: the reason, the points for and against it, then an option of the field, or ``open``.

    Null for ``point_ids`` leaves the ids unlisted: a list of many in every field costs more than it prevents.
    """
    ids = list_of(one_of(point_ids)) if point_ids else list_of(str)
    most = 2 if lengths.brief else 8
    if point_ids is not None:
        most = min(len(point_ids), most)
    return create_model(
        "PointScore",
        __config__=ConfigDict(extra="ignore"),
        reason=(str, Field(max_length=lengths.reason)),
        supports=(ids, Field(max_length=most)),
        opposes=(ids, Field(max_length=most)),
        value=(one_of((*offered(field), OPEN)), Field()),
    )


def _render(
    form: VenueForm, card: str, points: Sequence[ReviewPoint], lengths: Lengths, *, returned: str
) -> RenderedPrompt:
    return load_prompt(PROMPT).render(**_values(form, card, points, lengths), returned=returned)


def _values(form: VenueForm, card: str, points: Sequence[ReviewPoint], lengths: Lengths) -> dict[str, str]:
    shown = "\n".join(_line(point) for point in points) or "(no point stands)"
    return {
        "venue_name": form.name,
        "card": delimit("paper_card", card),
        "points": delimit("points", shown),
        "form": render_form(form, brief=lengths.brief),
        "guidelines": render_guidelines(form, brief=lengths.brief),
        "lengths": f"A text field holds at most {lengths.text} characters, a reason {lengths.reason}.",
    }


def _composed(
    form: VenueForm,
    reply: BaseModel,
    scores: dict[str, StatedScore],
    notes: tuple[str, ...],
    calls: tuple[str, ...],
) -> Composed:
    data, slugs = reply.model_dump(), slugs_of(form)
    texts, broken = whole_texts(reply, {f.name: slugs[f.name] for f in summary_fields(form)})
    return Composed(
        texts=texts,
        scores=scores,
        choices=ticked_choices(form, data),
        notes=(*notes, *broken),
        calls=calls,
    )


def _line(point: ReviewPoint) -> str:
    verdict = f", check: {point.check.verdict}" if point.check else ""
    return f"[{point.id}] {point.polarity}, {point.severity}, {point.kind}{verdict}: {point.claim}"


def left_open(score: StatedScore, reason: str) -> StatedScore:
    """The score without its value, and why."""
    return score.model_copy(update={"value": None, "reason": reason})


def objections(form: VenueForm, scores: Mapping[str, StatedScore], points: Sequence[ReviewPoint]) -> dict[str, str]:
    """Scores at an end of their scale that the points do not allow."""
    grave = {p.id for p in points if p.polarity == "weakness" and p.severity in _GRAVE}
    found: dict[str, str] = {}
    for field in form.reviewer_fields:
        if field.kind != "score" or field.aspect in ("confidence", "expertise"):
            continue
        said, values = scores[field.name], [o.value for o in field.options]
        against = grave if field.aspect == "overall" else grave & set(said.opposes)
        if said.value == max(values, key=float) and against:
            found[field.name] = f"its best option stands against {', '.join(sorted(against))}"
        elif said.value == min(values, key=float) and not grave:
            found[field.name] = "its worst option stands without a major weakness"
    return found


def _returned(objections: Mapping[str, str]) -> str:
    lines = "\n".join(f"- {name}: {objection}" for name, objection in objections.items())
    return f"An earlier answer was sent back. Choose these scores again, or leave them open:\n{lines}\n"


def _output_tokens(form: VenueForm, lengths: Lengths) -> int:
    texts = lengths.text * len(summary_fields(form))
    others = sum(lengths.reason + 200 for f in form.reviewer_fields if f.kind != "text")
    return (texts + others) // 3 + 256
