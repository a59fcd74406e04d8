"""Comments made specific or dropped: each with the chunks it speaks of, or all in one call for models that read slowly.

The one call says by id which comments are vague or unrelated; it cannot change one, and what it does not name is kept.

Source: MARG's refinement of each comment. What a refinement does to the points on the record is code's to decide; see
``referee.graphs.chunked.multi_agent``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.card import Card
from referee.agents.carded import ModelWindow, render_criteria, with_card
from referee.agents.chunks import chunk_of, chunk_sections
from referee.agents.parts import Part, render_part
from referee.agents.point_reply import Choices, Origin, points_model, to_points
from referee.agents.section_reviewer import LEAN_CARD_TOKENS, render_places
from referee.agents.team import CARD_TOKENS
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/team-refine"
ROLE = "checker"

REPLY_TOKENS = 1_500
MOST_CHUNKS = 2

RefineVerdict = Literal["keep", "sharpen", "drop"]


@dataclass(frozen=True)
class RefineBrief:
    """What stands beside every comment: the paper's card and chunks, and the guidelines that a point may name."""

    venue_name: str
    how_read: str
    card: Card
    chunks: tuple[Part, ...]
    criteria: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refinement:
    """What is to become of a comment. ``points`` holds what was written in its place, whatever the verdict."""

    verdict: RefineVerdict
    reason: str
    points: tuple[ReviewPoint, ...]
    notes: tuple[str, ...] = ()


async def refine_point(
    point: ReviewPoint,
    brief: RefineBrief,
    *,
    door: Asks,
    window: ModelWindow,
) -> Refinement:
    """Ask what is to become of a comment.

    It is shown with at most two chunks: those that its quotations come from, or where it expects what it misses. A
    second chunk that does not fit is left out.

    Args:
        point: The comment, with its quotations looked up.
        brief: What stands beside it.
        door: Answers the prompt.
        window: The model that answers.

    Raises:
        ContextTooLong: Not even one chunk fits.
        ModelError: The model did not answer validly.
    """
    reply = refined_model(Choices(tuple(brief.criteria), brief.card.claim_ids, chunk_sections(brief.chunks)))
    about = chunks_about(point, brief.chunks)
    chunks = about[:MOST_CHUNKS]
    left = (f"{len(about) - len(chunks)} more places that it quotes were not shown",) if about[MOST_CHUNKS:] else ()
    try:
        rendered, notes = _render(point, brief, chunks, reply, window)
    except ContextTooLong:
        if len(chunks) < MOST_CHUNKS:
            raise
        rendered, notes = _render(point, brief, chunks[:1], reply, window)
        notes = (*notes, f"refined without {chunks[1].id}, which did not fit")
    room = window.room(REPLY_TOKENS)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    digest = prompt_digest(rendered, reply_schema(reply))
    part = f"refined-{point.id.removeprefix('p-')}"
    origin = Origin(point.source, part, point.section_id, answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, chunk_sections(brief.chunks))
    data: dict[str, Any] = answer.value.model_dump()
    own = tuple(f"refining {point.id}: {note}" for note in (*notes, *left))
    return Refinement(data["verdict"], " ".join(data["reason"].split()), tuple(points), (*own, *answer.notes, *said))


def refined_model(choices: Choices) -> type[BaseModel]:
    """The reason first, then the verdict, then the point in its new words, if any."""
    shape = points_model(choices).model_fields["points"].annotation
    fields: dict[str, Any] = {
        "reason": (str, Field(min_length=1, max_length=400)),
        "verdict": (RefineVerdict, Field()),
        "points": (shape, Field(max_length=1, description="the sharpened point, or empty")),
    }
    return create_model("RefinedComment", __config__=ConfigDict(extra="ignore"), **fields)


def chunks_about(point: ReviewPoint, chunks: Sequence[Part]) -> tuple[Part, ...]:
    """The chunks that hold its verified quotations, else where it expects what it misses, else none."""
    quoted = sorted(point.evidence, key=lambda evidence: evidence.status == "not_found")
    places = [(evidence.section_id, evidence.quote) for evidence in quoted]
    places += [(point.absence.expected_in, "")] if point.absence is not None else []
    found = (chunk_of(place, chunks, quote) for place, quote in places)
    return tuple({chunk.id: chunk for chunk in found if chunk is not None}.values())


def _render(
    point: ReviewPoint,
    brief: RefineBrief,
    chunks: Sequence[Part],
    reply: type[BaseModel],
    window: ModelWindow,
) -> tuple[RenderedPrompt, tuple[str, ...]]:
    shown = "\n\n".join(render_part(chunk, numbered=False)[0] for chunk in chunks)
    values = {
        "venue_name": brief.venue_name,
        "how_read": brief.how_read,
        "criteria": render_criteria(brief.criteria),
        "places": render_places(chunk_sections(chunks or brief.chunks)),
        "comment": delimit("comment", "\n".join(_lines(point))),
        "sections": shown or delimit("section", "(none: it quotes nothing that is in the paper)"),
    }
    return with_card(load_prompt(PROMPT), values, brief.card, reply, window.room(REPLY_TOKENS, CARD_TOKENS))


def _lines(point: ReviewPoint) -> list[str]:
    """The comment without its severity and confidence."""
    lines = [f"{point.polarity}, {point.kind}: {point.claim}"]
    for evidence in point.evidence:
        found = "" if evidence.status != "not_found" else " (these words are not in the paper)"
        lines.append(f"{evidence.role} [{evidence.section_id}]{found}: “{evidence.quote}”")
    if point.absence is not None:
        lines.append(f"said to be absent: {point.absence.what}")
    lines.append(f"would be refuted by: {point.refuted_by or '(nothing named)'}")
    if point.fix.what:
        lines.append(f"would be mended by: {point.fix.what}")
    return lines


SIFT_PROMPT = "review/team-sift"
SIFT_ROLE = "supervisor"

_TOKENS_A_POINT = 60

SiftVerdict = Literal["keep", "vague", "unrelated"]


@dataclass(frozen=True)
class Sifted:
    """Reasons against comments by id; those that are kept are not among them."""

    against: Mapping[str, str]
    notes: tuple[str, ...]


async def sift_points(
    points: Sequence[ReviewPoint],
    card: Card,
    venue_name: str,
    *,
    door: Asks,
    window: ModelWindow,
) -> Sifted:
    """Ask which comments are vague or rest on a sentence that has nothing to do with them.

    Args:
        points: The comments, at least one.
        card: The paper's card, of which a small share is shown.
        venue_name: For whom the review is written.
        door: Answers the prompt.
        window: The model that answers.

    Returns:
        The reasons against; a comment with two different verdicts is kept.

    Raises:
        ContextTooLong: The comments do not fit.
        ModelError: The model did not answer validly.
    """
    reply = sift_model(tuple(point.id for point in points))
    lines = "\n".join(f"[{point.id}] {_words(point)}" for point in points)
    room = window.room(_TOKENS_A_POINT * len(points) + 100, LEAN_CARD_TOKENS)
    prompt = load_prompt(SIFT_PROMPT)
    values = {"venue_name": venue_name, "points": delimit("points", lines)}
    rendered, notes = with_card(prompt, values, card, reply, room)
    answer = await door.ask(rendered, reply, role=SIFT_ROLE, max_output_tokens=room.reply_tokens)
    items: list[dict[str, Any]] = answer.value.model_dump()["comments"]
    said = {point.id: {item["verdict"] for item in items if item["id"] == point.id} for point in points}
    against = {
        item["id"]: f"{item['verdict']}: {' '.join(item['reason'].split())}"
        for item in items
        if said[item["id"]] == {item["verdict"]} and item["verdict"] != "keep"
    }
    return Sifted(against, (*notes, *answer.notes))


@lru_cache(maxsize=64)
def sift_model(point_ids: tuple[str, ...]) -> type[BaseModel]:
    """A verdict for each comment by its id."""
    verdict = create_model(
        "SiftedComment",
        __config__=ConfigDict(extra="ignore"),
        id=(one_of(point_ids), Field()),
        reason=(str, Field(max_length=120)),
        verdict=(SiftVerdict, Field()),
    )
    return create_model(
        "SiftedComments",
        __config__=ConfigDict(extra="ignore"),
        comments=(list_of(verdict), Field(max_length=len(point_ids))),
    )


def _words(point: ReviewPoint) -> str:
    quoted = " / ".join(f"“{evidence.quote}”" for evidence in point.evidence) or "(no sentence)"
    return f"{' '.join(point.claim.split())} | {quoted}"
