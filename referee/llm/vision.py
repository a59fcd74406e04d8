"""Which models take pictures: by LangChain's profile where it knows the name, else by one small question."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from referee.errors import ModelRefused, ReplyInvalid
from referee.llm.door import Door
from referee.llm.images import PromptImage, image_of
from referee.llm.models import Model
from referee.llm.prices import image_tokens
from referee.prompts import load_prompt

PROMPT = "models/sees"
PROBE_OUTPUT_TOKENS = 256

_SHOWN = ("orange", "blue")
# 64 x 64 dots: the left half orange, the right half blue.
_PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAV0lEQVR42u3PQQ0AIAwEwRb9iEEQXqiKe5DMCthk+u2K1udG/6s+"
    "DwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACDfAPS0A5i0fW43AAAAAElFTkSuQmCC"
)

Colour = Literal["red", "orange", "yellow", "green", "blue", "purple", "black", "white", "no picture"]


class Halves(BaseModel):
    """The colours of a picture's two halves."""

    left: Colour = Field(description="the left half's colour")
    right: Colour = Field(description="the right half's colour")


@dataclass(frozen=True)
class TakesImages:
    """Whether a model takes pictures. ``reason`` says how that is known, for the record."""

    takes: bool
    reason: str


def probe_image() -> PromptImage:
    """The picture of the question."""
    return image_of(_PICTURE, "the two halves")


def known_to_take_images(model: Model) -> TakesImages | None:
    """What is known without a call; null where only a question tells.

    The embedded models take none. A server's models are not looked up by name: it may run another model under it. Who
    answers through files is asked as well.
    """
    if model.spec.is_local:
        return TakesImages(False, f"{model.spec.id} takes text only")
    if model.spec.is_server or model.spec.is_answers:
        return None
    listed = model.wire.listed_for_images()
    if listed is None:
        return None
    return TakesImages(listed, f"{model.spec.id} is listed as {'taking' if listed else 'not taking'} pictures")


def probe_tokens(model: Model) -> int:
    """Input tokens of the question, for the estimate; 0 where none has to be asked."""
    if known_to_take_images(model) is not None:
        return 0
    prompt = load_prompt(PROMPT).render()
    return model.count(prompt.system) + model.count(prompt.user) + image_tokens(model.spec, probe_image())


async def takes_images(door: Door, role: str) -> TakesImages:
    """Whether a role's model takes pictures, asked once where it is not known.

    A model that refuses the picture, or answers as one does that was not shown it, takes none.

    Raises:
        ModelUnavailable: The provider did not answer.
        BudgetExceeded: The question could pass a limit; nothing was sent.
    """
    model = door.models[role]
    if (known := known_to_take_images(model)) is not None:
        return known
    prompt, name = load_prompt(PROMPT).render(), model.spec.id
    try:
        answer = await door.ask(
            prompt, Halves, role=role, max_output_tokens=PROBE_OUTPUT_TOKENS, images=(probe_image(),)
        )
    except ModelRefused as refusal:
        return TakesImages(False, f"{name} refused a small picture: {refusal.message}")
    except ReplyInvalid:
        return TakesImages(False, f"{name} gave no valid answer about a small picture")
    seen = (answer.value.left, answer.value.right)
    if seen != _SHOWN:
        return TakesImages(False, f"{name} took a small picture and did not see it: it said {' and '.join(seen)}")
    return TakesImages(True, f"{name} saw a small picture")
