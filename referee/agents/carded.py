"""A prompt with the paper's card in the room that its other parts leave, and what several such prompts have alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from referee.agents.asking import CountTokens, tokens_left
from referee.agents.card import Card
from referee.agents.section_reviewer import fit_card
from referee.errors import ContextTooLong
from referee.prompts import Prompt, RenderedPrompt

_CARD_SHARE, _REPLY_SHARE = 0.15, 0.20


@dataclass(frozen=True)
class PromptBudget:
    """A model's context: how long it is, how it counts, and what of it a reply and the card take at most."""

    context_tokens: int
    count: CountTokens
    reply_tokens: int
    card_tokens: int

    def left_by(self, prompt: RenderedPrompt, reply: type[BaseModel]) -> int:
        """Tokens that a prompt, its reply's schema and its reply leave; negative where they are too long."""
        return tokens_left(prompt, reply, self.reply_tokens, self.context_tokens, self.count)


@dataclass(frozen=True)
class ModelWindow:
    """The model that plays a role: its context in tokens, and how it counts them."""

    context_tokens: int
    count: CountTokens

    def room(self, reply_tokens: int, card_tokens: int | None = None) -> PromptBudget:
        """The context with a reply of so many tokens at most, and a card of at most its share, or of what is given."""
        card = int(self.context_tokens * _CARD_SHARE)
        return PromptBudget(
            self.context_tokens,
            self.count,
            min(reply_tokens, int(self.context_tokens * _REPLY_SHARE)),
            card if card_tokens is None else min(card, card_tokens),
        )


def with_card(
    prompt: Prompt, values: Mapping[str, str], card: Card, reply: type[BaseModel], room: PromptBudget
) -> tuple[RenderedPrompt, tuple[str, ...]]:
    """The rendered prompt with as much of the card as fits, and notes of what did not.

    Args:
        prompt: It has the input ``card``.
        values: Its other inputs.
        card: The paper's card.
        reply: What is asked for; its schema takes room.
        room: The model's context.

    Raises:
        ContextTooLong: The rest of the prompt does not fit, or leaves no room for title and claims.
    """
    left = room.left_by(prompt.render(card="", **values), reply)
    if left < 0:
        raise ContextTooLong(
            f"prompt {prompt.id!r} is {-left:,} tokens too long for the model's context of {room.context_tokens:,}.",
            hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
            ids={"prompt": prompt.id},
        )
    text, notes = fit_card(card, room.card_tokens, left, room.count)
    return prompt.render(card=text, **values), tuple(notes)


def render_criteria(criteria: Mapping[str, str]) -> str:
    """A venue's guidelines by id, one a line."""
    return "\n".join(f"[{name}] {text}" for name, text in criteria.items()) or "(nothing in particular)"
