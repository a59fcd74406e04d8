"""A worker of a team for models that read slowly: it answers the three experts at once, with points on its chunk."""

from __future__ import annotations

from referee.agents.asking import Asks
from referee.agents.card import Card
from referee.agents.carded import ModelWindow, with_card
from referee.agents.parts import Part, render_part
from referee.agents.point_reply import LEAN_REPLY_TOKENS, Origin, lean_points_model, to_points
from referee.agents.section_reviewer import LEAN_CARD_TOKENS
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.prompts import load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/team-worker-lean"
ROLE = "writer"


async def answer_with_points(
    chunk: Part,
    card: Card,
    venue_name: str,
    how_read: str,
    *,
    door: Asks,
    window: ModelWindow,
) -> tuple[tuple[ReviewPoint, ...], tuple[str, ...]]:
    """Raise at most three short points on a chunk, each with a sentence of it.

    Args:
        chunk: What the worker holds.
        card: The paper's card, of which a small share is shown.
        venue_name: For whom the review is written.
        how_read: What the text lost on its way, in words.
        door: Answers the prompt.
        window: The model that answers.

    Returns:
        Points whose quotations are not verified yet, and notes of what was cut or completed.

    Raises:
        ContextTooLong: The chunk does not fit.
        ModelError: The model did not answer validly.
    """
    text, sentences = render_part(chunk, numbered=True)
    reply = lean_points_model(tuple(sentences))
    room = window.room(LEAN_REPLY_TOKENS, LEAN_CARD_TOKENS)
    prompt = load_prompt(PROMPT)
    values = {"venue_name": venue_name, "how_read": how_read, "section": text}
    rendered, notes = with_card(prompt, values, card, reply, room)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    digest = prompt_digest(rendered, reply_schema(reply))
    origin = Origin("section", chunk.id, chunk.section_ids[0], answer.call_id, answer.model, digest)
    headings = {piece.id: piece.heading for piece in chunk.pieces}
    points, said = to_points(answer.value, origin, headings, sentences)
    return tuple(points), (*(f"{chunk.id}: {note}" for note in notes), *answer.notes, *said)
