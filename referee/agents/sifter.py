"""The refinement for models that read slowly: one call says of all comments, by id, which are vague or unrelated.

It cannot change a comment; what it does not name is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.card import Card
from referee.agents.carded import ModelWindow, with_card
from referee.agents.section_reviewer import LEAN_CARD_TOKENS
from referee.prompts import delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/team-sift"
ROLE = "supervisor"

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
    seat: ModelWindow,
    prompt_versions: Mapping[str, str] | None = None,
) -> Sifted:
    """Ask which comments are vague or rest on a sentence that has nothing to do with them.

    Args:
        points: The comments, at least one.
        card: The paper's card, of which a small share is shown.
        venue_name: For whom the review is written.
        door: Answers the prompt.
        seat: The model that answers.
        prompt_versions: Prompt id to version; the newest by default.

    Returns:
        The reasons against; a comment with two different verdicts is kept.

    Raises:
        ContextTooLong: The comments do not fit.
        ModelError: The model did not answer validly.
    """
    reply = sift_model(tuple(point.id for point in points))
    lines = "\n".join(f"[{point.id}] {_words(point)}" for point in points)
    room = seat.room(_TOKENS_A_POINT * len(points) + 100, LEAN_CARD_TOKENS)
    prompt = load_prompt(PROMPT, (prompt_versions or {}).get(PROMPT))
    values = {"venue_name": venue_name, "points": delimit("points", lines)}
    rendered, notes = with_card(prompt, values, card, reply, room)
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    items: list[dict[str, Any]] = answer.value.model_dump()["comments"]
    said = {point.id: {item["verdict"] for item in items if item["id"] == point.id} for point in points}
    against = {
        item["id"]: f"{item['verdict']}: {' '.join(item['reason'].split())}"
        for item in items
        if said[item["id"]] == {item["verdict"]} and item["verdict"] != "keep"
    }
    return Sifted(against, (*notes, *answer.notes))


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
