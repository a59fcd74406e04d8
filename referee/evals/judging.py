"""A panel of judges: one question to every judge in every repeat, and what each of them said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pydantic import BaseModel

from referee.agents.asking import Asks
from referee.errors import ModelError, RunStopped
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt
from referee.schemas.metric import JudgeScore
from referee.schemas.usage import Usage

if TYPE_CHECKING:
    from referee.llm.models import Models

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)


class JudgeDoor(Asks, Protocol):
    """What a panel needs of the door: someone who answers, and what each role's model can read."""

    models: Models


@dataclass(frozen=True)
class JudgeReply(Generic[T]):
    """What one judge said in one repeat: its reply, or in ``error`` why there is none.

    ``judge`` is the model's id; ``usage`` also counts what a reply that never fitted has cost.
    """

    judge: str
    repeat: int
    value: T | None
    error: str = ""
    call_id: str = ""
    usage: Usage = field(default_factory=Usage)

    def score(self, value: float | None, reason: str = "") -> JudgeScore:
        """This judge's value as it stands in a result; where it did not answer, its error is the reason."""
        return JudgeScore(
            judge=self.judge,
            repeat=self.repeat,
            value=value,
            reason=self.error or reason,
            calls=(self.call_id,) if self.call_id else (),
        )


@dataclass(frozen=True)
class Panel:
    """The judges of a run.

    Attributes:
        door: Where they are asked.
        judges: Their roles at the door: ``judge``, ``judge-2``, ...
        repeats: How often each is asked the same.
        models: Role to model id, for the records; a role that is missing stands for itself.
    """

    door: JudgeDoor
    judges: tuple[str, ...] = ("judge",)
    repeats: int = 1
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The role that makes the steps that are made once."""
        return self.judges[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """The judges' model ids, in the order of their roles."""
        return tuple(self.models.get(role, role) for role in self.judges)

    async def ask(
        self, prompt: RenderedPrompt, reply: type[T], *, max_output_tokens: int, unit: str
    ) -> list[JudgeReply[T]]:
        """Ask every judge in every repeat, side by side; ordered by judge, then by repeat.

        Args:
            prompt: What is asked.
            reply: The pydantic model a reply must fit.
            max_output_tokens: The longest reply, in tokens.
            unit: What is judged, as ``depth of case 17``; for the log.

        Raises:
            BudgetExceeded: A call could pass a limit; calls under way were answered and written down first.
        """
        asked = [
            self._said(prompt, reply, role, repeat, max_output_tokens, unit)
            for role in self.judges
            for repeat in range(self.repeats)
        ]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        said: list[JudgeReply[T]] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            said.append(outcome)
        return said

    async def ask_once(
        self, prompt: RenderedPrompt, reply: type[T], *, max_output_tokens: int, unit: str, role: str | None = None
    ) -> Answer[T]:
        """Ask one judge once: the first, unless a role is named. For steps that all judges then share.

        Raises:
            ModelError: There is no usable reply.
            BudgetExceeded: The call could pass a limit.
        """
        return await self.door.ask(prompt, reply, role=role or self.first, max_output_tokens=max_output_tokens)

    async def _said(
        self, prompt: RenderedPrompt, reply: type[T], role: str, repeat: int, max_output_tokens: int, unit: str
    ) -> JudgeReply[T]:
        judge = self.models.get(role, role)
        try:
            answer = await self.door.ask(prompt, reply, role=role, max_output_tokens=max_output_tokens, sample=repeat)
        except RunStopped:
            raise
        except ModelError as error:
            logger.info("judge %s did not answer (%s, repeat %d): %s", judge, unit, repeat, error.message)
            return JudgeReply(judge, repeat, None, error.message, usage=paid(error))
        return JudgeReply(judge, repeat, answer.value, "", answer.call_id, answer.usage)


def paid(error: ModelError) -> Usage:
    """What a failed question has cost."""
    return Usage.model_validate(error.usage) if error.usage else Usage()


def total_usage(said: Sequence[JudgeReply[T]]) -> Usage:
    """What all of them cost together."""
    return sum((one.usage for one in said), Usage())


def silence(said: Sequence[JudgeReply[T]]) -> str:
    """Why no judge answered, in one phrase; empty where at least one did."""
    if any(one.value is not None for one in said):
        return ""
    reasons = dict.fromkeys(one.error for one in said)
    return "no judge gave a usable reply: " + "; ".join(reasons)
