"""One passage of a paper with the running summary of what came before: points, and the summary written anew.

Source: the progressive method of OpenAIReview. The summary is the only thing that passes from one call to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field, create_model

from referee.agents.asking import Asks
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


async def review_passage(
    brief: PassageBrief,
    *,
    door: Asks,
    seat: ModelWindow,
    lean: bool = False,
    prompt_versions: Mapping[str, str] | None = None,
) -> PassageReply:
    """Raise points about a passage and write the running summary anew.

    Args:
        brief: The passage, the summary and what stands beside them. Of the card the claims alone are shown: what else
            a reader needs of earlier passages is the summary's to keep.
        door: Answers the prompt.
        seat: The model that answers.
        lean: Ask for at most three short points that quote by sentence id, and a short summary.
        prompt_versions: Prompt id to version; the newest by default.

    Returns:
        Points whose quotations are not verified yet; none is a valid answer.

    Raises:
        ContextTooLong: The passage does not fit.
        ModelError: The model did not answer validly.
    """
    prompt_id = LEAN_PROMPT if lean else PROMPT
    prompt = load_prompt(prompt_id, (prompt_versions or {}).get(prompt_id))
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
    room = passage_room(seat, lean=lean)
    rendered, _ = with_card(prompt, values, _claims_only(brief.card), reply, room)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    digest = prompt_digest(rendered, reply_schema(reply))
    part = brief.passage
    origin = Origin("section", part.id, part.section_ids[0], answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, sections, sentences)
    data: dict[str, Any] = answer.value.model_dump()
    return PassageReply(tuple(points), data["summary"].strip(), (*answer.notes, *said))


def passage_room(seat: ModelWindow, *, lean: bool) -> PromptBudget:
    """The context with room for points and summary in the reply."""
    points, chars = (LEAN_REPLY_TOKENS, LEAN_SUMMARY_CHARS) if lean else (FULL_REPLY_TOKENS, SUMMARY_CHARS)
    return seat.room(points + chars // _CHARS_A_TOKEN)


def passage_model(
    brief: PassageBrief, sections: Mapping[str, str], sentences: Mapping[str, Sentence], *, lean: bool
) -> type[BaseModel]:
    """The points first, then the summary."""
    if lean:
        return with_summary(lean_points_model(tuple(sentences)), LEAN_SUMMARY_CHARS)
    choices = Choices(tuple(brief.criteria), brief.card.claim_ids, sections)
    return with_summary(points_model(choices), SUMMARY_CHARS)


def with_summary(points: type[BaseModel], most_chars: int) -> type[BaseModel]:
    """A reply model of points with a running summary behind them, of so many characters at most."""
    about = "what a reader of the rest needs: definitions, settings, numbers, open promises"
    return create_model(
        points.__name__, __base__=points, summary=(str, Field(max_length=most_chars, description=about))
    )


def _claims_only(card: Card) -> Card:
    return replace(card, abstract="", outline=(), definitions=(), captions=(), limitations=(), ledger=())
