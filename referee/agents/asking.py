"""What an agent needs of the world: who answers prompts, reply types made at run time, and the room a prompt leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from referee.llm.dialects import reply_schema
from referee.llm.door import Answer
from referee.llm.images import PromptImage
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage

T = TypeVar("T", bound=BaseModel)


class Asks(Protocol):
    """What an agent needs of the door."""

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        """Ask a role's model."""
        ...


class AsksWithPictures(Protocol):
    """What an agent that looks at pictures needs of the door."""

    async def ask(
        self,
        prompt: RenderedPrompt,
        reply: type[T],
        *,
        role: str,
        max_output_tokens: int,
        sample: int = 0,
        images: Sequence[PromptImage] = (),
    ) -> Answer[T]:
        """Ask a role's model about pictures."""
        ...


@dataclass(frozen=True)
class Excerpt:
    """The paper's own words from one place; ``page`` counts from 1 and is null for formats without pages."""

    section_id: str
    section: str
    text: str
    page: int | None = None


T_co = TypeVar("T_co", bound=BaseModel, covariant=True)


class SaidBy(Protocol[T_co]):
    """What one judge said in one repeat: a value, or why there is none."""

    @property
    def judge(self) -> str: ...  # noqa: D102
    @property
    def repeat(self) -> int: ...  # noqa: D102
    @property
    def value(self) -> T_co | None: ...  # noqa: D102
    @property
    def error(self) -> str: ...  # noqa: D102
    @property
    def call_id(self) -> str: ...  # noqa: D102
    @property
    def usage(self) -> Usage: ...  # noqa: D102


class AsksOnce(Protocol):
    """Someone who answers a prompt once; a failure is raised."""

    async def ask_once(self, prompt: RenderedPrompt, reply: type[T], *, max_output_tokens: int, unit: str) -> Answer[T]:
        """The first judge's reply."""
        ...


class AsksAll(Protocol):
    """Judges who all answer the same prompt, each as often as it is repeated; a failure is one of the answers."""

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, max_output_tokens: int, unit: str
    ) -> Sequence[SaidBy[T]]:
        """One entry for each judge and repeat."""
        ...


class AsksPanel(AsksOnce, AsksAll, Protocol):
    """A panel of judges."""


def one_of(values: tuple[str, ...]) -> Any:
    """An enumeration; free text where there is nothing to choose from."""
    return Literal[values] if values else str


def list_of(item: Any) -> Any:
    """A list of a type that was made at run time."""
    return list[item]


def shortened(text: str, most: int) -> str:
    """The text, or its beginning up to a word's end with a mark."""
    return text if len(text) <= most else f"{text[:most].rsplit(None, 1)[0]} …"


CountTokens = Callable[[str], int]

# Message framing, and what joining of texts adds to their counts.
SLACK_TOKENS = 64


def tokens_left(
    prompt: RenderedPrompt, reply: type[BaseModel], reply_tokens: int, context_tokens: int, count: CountTokens
) -> int:
    """Tokens of text that fit beside a prompt, its reply's schema and its reply.

    Args:
        prompt: As it is without that text.
        reply: What is asked for; its schema is sent too.
        reply_tokens: The longest reply.
        context_tokens: The model's context.
        count: Counts tokens as the model does.

    Returns:
        Negative where the prompt alone is too long.
    """
    taken = count(prompt.system) + count(prompt.user) + count(str(reply_schema(reply)))
    return context_tokens - taken - reply_tokens - SLACK_TOKENS
