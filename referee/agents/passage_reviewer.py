"""One passage of a paper with the running summary of what came before: points, and the summary written anew.

Source: the progressive method of OpenAIReview. The summary is the only thing that passes from one call to the next.
At the end one call over all points says by ids which say the same; it has no way to change or to remove a point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.briefing import Sentence
from referee.agents.card import Card
from referee.agents.carded import ModelWindow, PromptBudget, render_criteria, with_card
from referee.agents.chunks import chunk_sections
from referee.agents.parts import Part, render_part
from referee.agents.point_reply import (
    FULL_REPLY_TOKENS,
    LEAN_REPLY_TOKENS,
    Choices,
    Origin,
    lean_points_model,
    points_model,
    to_points,
)
from referee.agents.section_reviewer import render_places
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.prompts import delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT, LEAN_PROMPT = "review/passage", "review/passage-lean"
ROLE = "writer"

SUMMARY_CHARS, LEAN_SUMMARY_CHARS = 4_000, 800
_CHARS_A_TOKEN = 3
_BEGINNING = "(this is the beginning)"


@dataclass(frozen=True)
class PassageBrief:
    """A passage and what stands beside it.

    ``summary`` is that of the call before, empty at the beginning. ``sections`` (id to heading) are those read so far,
    this passage's included: a quotation may come from them. ``at`` says which passage of how many it is.
    """

    venue_name: str
    how_read: str
    card: Card
    passage: Part
    at: str
    summary: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)
    criteria: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PassageReply:
    """The points of one passage, the summary for the next, and what was cut or completed on the way."""

    points: tuple[ReviewPoint, ...]
    summary: str
    notes: tuple[str, ...]
    call_id: str = ""


async def review_passage(
    brief: PassageBrief,
    *,
    door: Asks,
    window: ModelWindow,
    lean: bool = False,
) -> PassageReply:
    """Raise points about a passage and write the running summary anew.

    Args:
        brief: The passage, the summary and what stands beside them. Of the card the claims alone are shown: what else
            a reader needs of earlier passages is the summary's to keep.
        door: Answers the prompt.
        window: The model that answers.
        lean: Ask for at most three short points that quote by sentence id, and a short summary.

    Returns:
        Points whose quotations are not verified yet; none is a valid answer.

    Raises:
        ContextTooLong: The passage does not fit.
        ModelError: The model did not answer validly.
    """
    prompt_id = LEAN_PROMPT if lean else PROMPT
    prompt = load_prompt(prompt_id)
    text, sentences = render_part(brief.passage, numbered=lean)
    sections = dict(brief.sections) or chunk_sections((brief.passage,))
    reply = passage_model(brief, sections, sentences, lean=lean)
    given = {
        "venue_name": brief.venue_name,
        "how_read": brief.how_read,
        "criteria": render_criteria(brief.criteria),
        "places": render_places(sections),
        "summary": delimit("summary", brief.summary or _BEGINNING),
        "section": text,
        "at": brief.at,
    }
    values = {name: value for name, value in given.items() if name in prompt.inputs}
    room = passage_room(window, lean=lean)
    rendered, _ = with_card(prompt, values, _claims_only(brief.card), reply, room)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    digest = prompt_digest(rendered, reply_schema(reply))
    part = brief.passage
    origin = Origin("section", part.id, part.section_ids[0], answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, sections, sentences)
    data: dict[str, Any] = answer.value.model_dump()
    return PassageReply(tuple(points), data["summary"].strip(), (*answer.notes, *said), answer.call_id)


def passage_room(window: ModelWindow, *, lean: bool) -> PromptBudget:
    """The context with room for points and summary in the reply."""
    points, chars = (LEAN_REPLY_TOKENS, LEAN_SUMMARY_CHARS) if lean else (FULL_REPLY_TOKENS, SUMMARY_CHARS)
    return window.room(points + chars // _CHARS_A_TOKEN)


def passage_model(
    brief: PassageBrief, sections: Mapping[str, str], sentences: Mapping[str, Sentence], *, lean: bool
) -> type[BaseModel]:
    """The points first, then the summary."""
    if lean:
        return with_summary(lean_points_model(tuple(sentences)), LEAN_SUMMARY_CHARS)
    choices = Choices(tuple(brief.criteria), brief.card.claim_ids, sections)
    return with_summary(points_model(choices), SUMMARY_CHARS)


@lru_cache(maxsize=64)
def with_summary(points: type[BaseModel], most_chars: int) -> type[BaseModel]:
    """A reply model of points with a running summary behind them, of so many characters at most."""
    about = "what a reader of the rest needs: definitions, settings, numbers, open promises"
    return create_model(
        points.__name__, __base__=points, summary=(str, Field(max_length=most_chars, description=about))
    )


def _claims_only(card: Card) -> Card:
    return replace(card, abstract="", outline=(), definitions=(), captions=(), limitations=(), ledger=())


PAIRS_PROMPT = "review/consolidate"
PAIRS_ROLE = "cross"

_TOKENS_A_PAIR = 40


@dataclass(frozen=True)
class Pairs:
    """Pairs of ids, each once, the earlier id first; and notes."""

    duplicates: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


async def pair_points(
    points: Sequence[ReviewPoint],
    sections: Mapping[str, str],
    venue_name: str,
    *,
    door: Asks,
    window: ModelWindow,
) -> Pairs:
    """Ask which points were raised twice.

    Args:
        points: At least two.
        sections: Section id to heading.
        venue_name: For whom the review is written.
        door: Answers the prompt.
        window: The model that answers.

    Raises:
        ContextTooLong: The list of points does not fit.
        ModelError: The model did not answer validly.
    """
    reply = pairs_model(tuple(point.id for point in points))
    lines = (
        f"{point.id} | {sections.get(point.section_id or '', 'the whole paper')} | {point.kind} | "
        f"{' '.join(point.claim.split())}"
        for point in points
    )
    prompt = load_prompt(PAIRS_PROMPT)
    rendered = prompt.render(venue_name=venue_name, points=delimit("points", "\n".join(lines)))
    room = window.room(_TOKENS_A_PAIR * len(points) + 100)
    if (left := room.left_by(rendered, reply)) < 0:
        raise ContextTooLong(
            f"the list of {len(points)} points is {-left:,} tokens too long for the model's context.",
            hint=f"Use a model with a longer context for the role {PAIRS_ROLE!r}.",
            ids={"prompt": PAIRS_PROMPT},
        )
    answer = await door.ask(rendered, reply, role=PAIRS_ROLE, max_output_tokens=room.reply_tokens)
    order = {point.id: place for place, point in enumerate(points)}
    given: list[dict[str, Any]] = answer.value.model_dump()["duplicates"]
    pairs = {tuple(sorted((pair["first"], pair["second"]), key=order.__getitem__)) for pair in given}
    different = sorted(((a, b) for a, b in pairs if a != b), key=lambda pair: (order[pair[0]], order[pair[1]]))
    return Pairs(tuple(different), answer.notes)


@lru_cache(maxsize=64)
def pairs_model(point_ids: tuple[str, ...]) -> type[BaseModel]:
    """Pairs of ids there are; as many pairs as points at most."""
    pair = create_model(
        "Pair", __config__=ConfigDict(extra="ignore"), first=(one_of(point_ids), ...), second=(one_of(point_ids), ...)
    )
    about = "pairs of points that say the same of the same thing; may be empty"
    return create_model(
        "Pairs",
        __config__=ConfigDict(extra="ignore"),
        duplicates=(list_of(pair), Field(max_length=len(point_ids), description=about)),
    )
