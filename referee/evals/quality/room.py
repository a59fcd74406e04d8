"""How much of a review one question can show: what the smallest context among the judges leaves.

All judges read the same text, so that their answers can be compared. What is left out is on the record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.evals.judging import Panel
from referee.llm.models import Model
from referee.prompts import RenderedPrompt

_TIGHTER = 0.97


@dataclass(frozen=True)
class Shown:
    """The beginning of a review that fits; ``cut`` says what was left out, and is null where nothing was."""

    text: str
    cut: dict[str, Any] | None = None


def smallest_context(panel: Panel) -> int:
    """The context of the judge that can read least, in tokens."""
    return min(model.context_tokens for model in _models(panel))


def no_room(panel: Panel) -> str:
    """Why a review cannot be judged at all."""
    return f"the prompt alone fills the judge's context of {smallest_context(panel)} tokens"


def fitted(
    text: str, panel: Panel, *, render: Callable[[str], RenderedPrompt], reply: type[BaseModel], most_out: int
) -> Shown:
    """Fit a review into every judge's context, beside the prompt, the schema and the reply.

    Args:
        text: The review.
        panel: The judges.
        render: Makes the prompt that shows a text.
        reply: The reply model, whose schema is sent too.
        most_out: The longest reply, in tokens.

    Returns:
        The whole text, or its beginning up to a word's end; empty where not even the prompt fits.
    """
    shown = text
    for model in _models(panel):
        shown = _fitted(shown, model, render, reply, most_out)
    if shown == text:
        return Shown(text)
    words, left = len(text.split()), len(shown.split())
    return Shown(shown, {"words": words, "words_shown": left, "context_tokens": smallest_context(panel)})


def _fitted(
    text: str, model: Model, render: Callable[[str], RenderedPrompt], reply: type[BaseModel], most_out: int
) -> str:
    empty = render("")
    room = tokens_left(empty, reply, most_out, model.context_tokens, model.count)
    while room > 0 and text:
        used = model.count(render(text).user) - model.count(empty.user)
        if used <= room:
            return text
        kept = text[: int(len(text) * room / used * _TIGHTER)]
        text = kept.rsplit(None, 1)[0] if " " in kept.strip() else kept
    return ""


def _models(panel: Panel) -> list[Model]:
    return [panel.door.models[role] for role in panel.judges]
