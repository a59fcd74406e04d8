"""What an agent needs of the world: someone who answers prompts, and excerpts of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from referee.llm.door import Answer
from referee.prompts import RenderedPrompt

T = TypeVar("T", bound=BaseModel)


class Asks(Protocol):
    """What an agent needs of the door."""

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, role: str, max_output_tokens: int, sample: int = 0
    ) -> Answer[T]:
        """Ask a role's model."""
        ...


@dataclass(frozen=True)
class Excerpt:
    """The paper's own words from one place; ``page`` counts from 1 and is null for formats without pages."""

    section_id: str
    section: str
    text: str
    page: int | None = None
