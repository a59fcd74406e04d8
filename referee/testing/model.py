"""A scripted model for unit tests of agents and graphs: the door's calling contract without HTTP."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from referee.llm.door import Answer
from referee.llm.images import PromptImage
from referee.schemas import Usage
from referee.testing.instances import instance

T = TypeVar("T", bound=BaseModel)


class Rendered(Protocol):
    """What is needed of a rendered prompt."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def digest(self) -> str: ...  # noqa: D102
    @property
    def system(self) -> str: ...  # noqa: D102
    @property
    def user(self) -> str: ...  # noqa: D102
    @property
    def prefix(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Asked:
    """One entry of a scripted model's history; ``reply`` is the reply model's class, ``user`` is without ``prefix``."""

    role: str
    prompt_id: str
    system: str
    user: str
    unit: str
    reply: type[BaseModel]
    max_output_tokens: int | None
    sample: int
    prefix: str = ""
    images: tuple[PromptImage, ...] = ()


class ScriptedModelError(AssertionError):
    """The script does not hold what was asked for: the test, or what it tests, is wrong."""


Given: TypeAlias = Mapping[str, Any] | BaseModel | BaseException
Source: TypeAlias = Given | Callable[[Asked], Given] | Sequence[Given | Callable[[Asked], Given]]


class ScriptedModel:
    """Answers from queues and keeps the history.

    A reply is a mapping (validated into the reply model asked for), an instance of that model, an exception (raised),
    or a function of ``Asked`` that returns one of these. A sequence is a queue, one a call; a reply that is no
    sequence is given each time.

    Args:
        replies: By prompt id or role (the prompt id wins), ``*`` for all others; or one sequence for all
            calls in order.
        fill: Answer what has no entry with a generated valid instance, quotations cut from the prompt, instead of
            failing.
        model: The model id in answers.
        seed: For generated instances.

    Attributes:
        history: What was asked, in order.
    """

    def __init__(
        self,
        replies: Mapping[str, Source] | Sequence[Given | Callable[[Asked], Given]] = (),
        *,
        fill: bool = False,
        model: str = "scripted",
        seed: int = 0,
    ) -> None:
        by_key = replies if isinstance(replies, Mapping) else {"*": replies} if replies else {}
        self._entries: dict[str, Any] = {key: _queue_or_constant(source) for key, source in by_key.items()}
        self._fill, self._model, self._seed = fill, model, seed
        self.history: list[Asked] = []

    async def ask(
        self,
        prompt: Rendered,
        reply: type[T],
        *,
        role: str,
        unit: str = "",
        max_output_tokens: int | None = None,
        sample: int = 0,
        images: Sequence[PromptImage] = (),
    ) -> Answer[T]:
        """The next reply for this prompt or role, validated.

        Raises:
            ScriptedModelError: The queue has run out, nothing is held for the call, or the reply does not fit.
            BaseException: The exception that stands in the script.
        """
        shown = (prompt.system, prompt.user)
        asked = Asked(role, prompt.id, *shown, unit, reply, max_output_tokens, sample, prompt.prefix, tuple(images))
        self.history.append(asked)
        given = self._next(asked)
        if isinstance(given, BaseException):
            raise given
        value = _validated(given, asked, reply)
        words_in, words_out = (
            len(f"{prompt.system} {prompt.prefix} {prompt.user}".split()),
            len(value.model_dump_json().split()),
        )
        usage = Usage(calls=1, input_tokens=words_in, output_tokens=words_out)
        return Answer(value=value, usage=usage, call_id=f"scripted-{len(self.history)}", model=self._model)

    def left(self) -> dict[str, int]:
        """How many replies are left in each queue that still holds some."""
        return {key: len(entry) for key, entry in self._entries.items() if isinstance(entry, list) and entry}

    def _next(self, asked: Asked) -> Given:
        key = next((key for key in (asked.prompt_id, asked.role, "*") if key in self._entries), None)
        if key is None and self._fill:
            rng = random.Random(f"{self._seed}:{asked.prompt_id}:{asked.sample}:{asked.user}")
            made: dict[str, Any] = instance(asked.reply.model_json_schema(), asked.prefix + asked.user, rng)
            return made
        if key is None:
            raise ScriptedModelError(f"no reply is held for role {asked.role!r}, prompt {asked.prompt_id!r}.")
        entry = self._entries[key]
        if isinstance(entry, list):
            if not entry:
                raise ScriptedModelError(
                    f"the replies for {key!r} have run out: call {len(self.history)}, role {asked.role!r}, "
                    f"prompt {asked.prompt_id!r}."
                )
            entry = entry.pop(0)
        given: Given = entry(asked) if callable(entry) else entry
        return given


def _queue_or_constant(source: Any) -> Any:
    return list(source) if isinstance(source, Sequence) and not isinstance(source, str) else source


def _validated(given: Any, asked: Asked, reply: type[T]) -> T:
    if isinstance(given, reply):
        return given
    data = given.model_dump(mode="json") if isinstance(given, BaseModel) else given
    try:
        return reply.model_validate(data)
    except ValidationError as error:
        raise ScriptedModelError(
            f"the scripted reply for role {asked.role!r}, prompt {asked.prompt_id!r} is no {reply.__name__}: {error}"
        ) from error
