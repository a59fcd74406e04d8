"""What the scales of a form measure, where their titles do not say it: one call, and only then.

Code reads boxes and scales from the page; a model chooses among fixed aspects and can add no box.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, one_of
from referee.errors import ReplyInvalid
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Aspect
from referee.venues.page.page_types import FieldDraft

PROMPT = "guidelines/form"
ROLE = "mapper"

_ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
_TOKENS_A_BOX, _TOKENS_AROUND = 24, 64
_SHOWN_CHARS = 240


@dataclass(frozen=True)
class Aspects:
    """Aspect by field name, for the fields that were asked about; ``notes`` say what was put aside."""

    by_field: Mapping[str, Aspect]
    notes: tuple[str, ...] = ()


def unclear_scores(fields: Sequence[FieldDraft]) -> tuple[FieldDraft, ...]:
    """The scores whose aspect nobody knows, where none of the form is known to be the overall rating."""
    scores = [field for field in fields if field.kind == "score"]
    if any(field.aspect == "overall" for field in scores):
        return ()
    return tuple(field for field in scores if field.aspect == "other")


async def read_aspects(
    fields: Sequence[FieldDraft],
    *,
    venue_name: str,
    door: Asks,
) -> Aspects:
    """Ask what the unclear scores measure. Of two that are called overall neither is believed.

    Args:
        fields: All boxes of the form; a form without an unclear score needs no call.
        venue_name: As the prompt calls the venue.
        door: Answers the prompt.

    Raises:
        ModelError: The model cannot be reached, or refuses. An invalid reply is a note.
    """
    unclear = unclear_scores(fields)
    if not unclear:
        return Aspects({})
    names = {f"box{number}": field.name for number, field in enumerate(unclear, start=1)}
    reply = aspects_model(tuple(names))
    rendered = render_form_prompt(unclear, venue_name=venue_name)
    most_out = _TOKENS_AROUND + _TOKENS_A_BOX * len(unclear)
    try:
        answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=most_out)
    except ReplyInvalid:
        return Aspects({}, ("the model gave no valid reply on what the scores measure",))
    chosen: dict[str, Aspect] = {names[box]: aspect for box, aspect in answer.value.model_dump().items()}
    overall = [name for name, aspect in chosen.items() if aspect == "overall"]
    if len(overall) > 1:
        put_aside = {name: aspect for name, aspect in chosen.items() if aspect != "overall"}
        return Aspects(put_aside, (f"the model called {' and '.join(overall)} overall: neither is taken for it",))
    return Aspects(chosen, tuple(answer.notes))


def render_form_prompt(unclear: Sequence[FieldDraft], *, venue_name: str) -> RenderedPrompt:
    """The prompt about the unclear scores, as it is sent."""
    prompt = load_prompt(PROMPT)
    boxes = "\n".join(_shown(f"box{number}", field) for number, field in enumerate(unclear, start=1))
    name = " ".join(re.sub(r"[<>]", "", venue_name).split())
    return prompt.render(venue_name=name, boxes=delimit("boxes", boxes))


@lru_cache(maxsize=64)
def aspects_model(boxes: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: an answer for each of the names it is given."""
    shape: dict[str, Any] = {name: (one_of(_ASPECTS), Field(description="what it measures")) for name in boxes}
    return create_model("FormAspects", __config__=ConfigDict(extra="ignore"), **shape)


def _shown(box: str, field: FieldDraft) -> str:
    options = "; ".join(f"{option.value}: {option.label}" for option in field.options)
    return f"{box}, {field.title}: {field.words[:_SHOWN_CHARS]}\n  scale: {options[:_SHOWN_CHARS]}"
