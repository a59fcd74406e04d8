"""The topics of one review, as sentences that can be understood without it.

Source: ReviewEval section 3.1. The list is read from a structured reply: a topic that begins with a number keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.errors import ContextTooLong
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.usage import Usage

PROMPT = "eval/topics"
MOST_TOPICS = 20
MOST_OUT = 2_048

_MOST_CHARS = 400


class TopicsReply(BaseModel):
    """The topics of a review."""

    model_config = ConfigDict(extra="ignore")

    topics: list[Annotated[str, Field(max_length=_MOST_CHARS)]] = Field(
        max_length=MOST_TOPICS, description="one full sentence for each topic, in the order of the review"
    )


@dataclass(frozen=True)
class Topics:
    """What was found in a review.

    ``tokens`` is the review's length and ``tokens_read`` what the model was shown of it: less where it was cut.
    ``full`` says that the list is as long as it may be, so that there may be more topics. ``notes`` are the door's.
    """

    sentences: tuple[str, ...]
    tokens: int
    tokens_read: int
    model: str
    call_id: str
    usage: Usage
    notes: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Whether the list has reached its bound."""
        return len(self.sentences) >= MOST_TOPICS


async def extract_topics(
    text: str,
    *,
    door: Asks,
    role: str,
    context_tokens: int,
    count: CountTokens,
    prompt_versions: Mapping[str, str] | None = None,
) -> Topics:
    """List a review's topics, in one call. What does not fit the context is cut from the end and counted.

    Args:
        text: The review in canonical form; not blank.
        door: Answers the prompt.
        role: Whose model is asked.
        context_tokens: That model's context.
        count: Counts tokens as that model does.
        prompt_versions: Prompt id to version; the newest by default.

    Raises:
        ContextTooLong: Nothing of the review fits.
        ModelError: The model did not answer validly.
    """
    prompt = load_prompt(PROMPT, (prompt_versions or {}).get(PROMPT))
    room = tokens_left(_rendered(prompt, ""), TopicsReply, MOST_OUT, context_tokens, count)
    shown = _head(text, room, count)
    if not shown.strip():
        raise ContextTooLong(
            f"a context of {context_tokens:,} tokens has no room for a review beside the prompt {PROMPT!r}.",
            hint="Use a judge with a longer context, or set models.context_tokens to what it really has.",
            ids={"prompt": PROMPT},
        )
    answer = await door.ask(_rendered(prompt, shown), TopicsReply, role=role, max_output_tokens=MOST_OUT)
    return Topics(
        sentences=_distinct(answer.value.topics),
        tokens=count(text),
        tokens_read=count(shown),
        model=answer.model,
        call_id=answer.call_id,
        usage=answer.usage,
        notes=answer.notes,
    )


def _rendered(prompt: Prompt, text: str) -> RenderedPrompt:
    return prompt.render(review=delimit("review", text), most=str(MOST_TOPICS))


def _distinct(topics: list[str]) -> tuple[str, ...]:
    """Each topic once, on one line; blank ones say nothing."""
    lines = (" ".join(topic.split()) for topic in topics)
    return tuple({line.casefold(): line for line in lines if line}.values())


def _head(text: str, room: int, count: CountTokens) -> str:
    """The longest beginning that fits as it is shown, ended at a blank where there is one."""

    def fits(end: int) -> bool:
        return count(delimit("review", text[:end])) <= room

    low, high = 0, len(text)
    if fits(high):
        return text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    words = text[:low].rsplit(maxsplit=1)
    return words[0] if len(words) > 1 and not text[low].isspace() else text[:low]
