"""One call over all points: which of them say the same, by ids only. It has no way to change or to remove a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.carded import ModelWindow
from referee.errors import ContextTooLong
from referee.prompts import delimit, load_prompt
from referee.schemas.point import ReviewPoint

PROMPT = "review/consolidate"
ROLE = "cross"

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
    seat: ModelWindow,
    prompt_versions: Mapping[str, str] | None = None,
) -> Pairs:
    """Ask which points were raised twice.

    Args:
        points: At least two.
        sections: Section id to heading.
        venue_name: For whom the review is written.
        door: Answers the prompt.
        seat: The model that answers.
        prompt_versions: Prompt id to version; the newest by default.

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
    prompt = load_prompt(PROMPT, (prompt_versions or {}).get(PROMPT))
    rendered = prompt.render(venue_name=venue_name, points=delimit("points", "\n".join(lines)))
    room = seat.room(_TOKENS_A_PAIR * len(points) + 100)
    if (left := room.left_by(rendered, reply)) < 0:
        raise ContextTooLong(
            f"the list of {len(points)} points is {-left:,} tokens too long for the model's context.",
            hint=f"Use a model with a longer context for the role {ROLE!r}.",
            ids={"prompt": PROMPT},
        )
    answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=room.reply_tokens)
    order = {point.id: place for place, point in enumerate(points)}
    given: list[dict[str, Any]] = answer.value.model_dump()["duplicates"]
    pairs = {tuple(sorted((pair["first"], pair["second"]), key=order.__getitem__)) for pair in given}
    different = sorted(((a, b) for a, b in pairs if a != b), key=lambda pair: (order[pair[0]], order[pair[1]]))
    return Pairs(tuple(different), answer.notes)


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
