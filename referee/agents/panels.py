"""What agents that judge need of the world: one judge for what is extracted once, every judge for a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pydantic import BaseModel

from referee.llm.door import Answer
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage

T = TypeVar("T", bound=BaseModel)
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
