"""Stand-ins for tests of what is built on ``referee``: a scripted model without HTTP, and a hash embedder."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from referee.llm.door import Answer
from referee.llm.images import PromptImage
from referee.schemas import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
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
        model: The model id in answers.

    Attributes:
        history: What was asked, in order.
    """

    def __init__(
        self,
        replies: Mapping[str, Source] | Sequence[Given | Callable[[Asked], Given]] = (),
        *,
        model: str = "scripted",
    ) -> None:
        by_key = replies if isinstance(replies, Mapping) else {"*": replies} if replies else {}
        self._entries: dict[str, Any] = {key: _queue_or_constant(source) for key, source in by_key.items()}
        self._model = model
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


def hash_vector(text: str, dim: int) -> list[float]:
    """A unit vector: every lower-cased word adds 1 or -1 at a place its hash names; a text without words is e0."""
    values = [0.0] * dim
    for word in _WORD.findall(text.lower()):
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        values[(number >> 1) % dim] += 1.0 if number & 1 else -1.0
    norm = math.sqrt(sum(value * value for value in values))
    if norm == 0:
        return [1.0] + [0.0] * (dim - 1)
    return [value / norm for value in values]


class HashEmbedder:
    """An embedder for tests.

    Args:
        dim: Length of the vectors.

    Attributes:
        id: What stands in records.
        calls: The lists of texts it was given.
        urgencies: How urgent each of these was.
    """

    def __init__(self, dim: int = 64) -> None:
        self.id = f"hash-{dim}"
        self.dim = dim
        self.calls: list[list[str]] = []
        self.urgencies: list[int] = []

    async def embed(self, texts: Sequence[str], *, urgency: int = 0) -> NDArray[np.float32]:
        """Unit vectors, one row a text; no texts give an array of shape (0, dim)."""
        import numpy as np

        self.calls.append(list(texts))
        self.urgencies.append(urgency)
        rows = [hash_vector(text, self.dim) for text in texts]
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), self.dim)

    async def aclose(self) -> None:
        """There is nothing to close."""
