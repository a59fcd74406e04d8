"""Many small pieces of writing by models, several at once: what cannot be had is counted, what is silent ends it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from referee.errors import (
    DataError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    PromptError,
    RefereeError,
    ReplyInvalid,
    RunStopped,
)
from referee.runs import Event, Progress

SILENT_AFTER = 3
"""Pieces in a row without an answer from the model before the others are left for a resumed run."""

Lost = Literal["refused", "invalid", "failed"]
U = TypeVar("U")
R = TypeVar("R")

_OF_THE_PIECE = (DataError, ModelError, PromptError)
_LONGEST_REFUSAL = 600
_REFUSAL = re.compile(
    r"\s*(?:i(?:'|’)?m sorry|i am sorry|sorry,|i apologi[sz]e)\b.{0,80}\b(?:can(?:no|'|’)t|unable|not able)"
    r"|\s*(?:i (?:cannot|can't|can’t|am unable to|am not able to|won't|won’t)|as an ai\b)",
    re.IGNORECASE | re.DOTALL,
)


def declines(text: str) -> bool:
    """Whether a short text says that its model will not write what it was asked for."""
    return len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text) is not None


def require_text(text: str, what: str) -> str:
    """The text.

    Raises:
        ModelRefused: It only says that the model will not write it.
    """
    if declines(text):
        raise ModelRefused(f"the model declined to write {what}: {text.strip()[:120]!r}.", hint="Leave it out.")
    return text


@dataclass
class Writing(Generic[U, R]):
    """One start of the work. A piece that cannot be had is left out and counted, with its reason.

    Attributes:
        write: Writes one piece.
        name: How a piece is named in messages.
        concurrency: Pieces under way at once.
        progress: Told how far it is.
        written: What there is, in the order in which it came; pieces with what was written.
        lost: Pieces that were left out, how, and why.
    """

    write: Callable[[U], Awaitable[R]]
    name: Callable[[U], str]
    concurrency: int
    progress: Progress
    written: list[tuple[U, R]] = field(default_factory=list)
    lost: list[tuple[U, Lost, str]] = field(default_factory=list)
    _fatal: RefereeError | None = None
    _silent: int = 0
    _taking: int = 0

    @property
    def counts(self) -> Counter[str]:
        """Pieces by what became of them."""
        return Counter(written=len(self.written)) + Counter(how for _, how, _ in self.lost)

    async def run(self, pieces: Sequence[U]) -> None:
        """Write them; where one ends the work, those under way are still finished.

        Raises:
            BudgetExceeded: The next call could pass a limit.
            ModelError: The model left three pieces in a row unanswered.
            RefereeError: A folder or setting is not usable.
        """
        waiting, total = deque(pieces), len(pieces)
        self._taking = min(self.concurrency, total)
        await asyncio.gather(*(self._take(waiting, total) for _ in range(self._taking)))
        if self._fatal is not None:
            raise self._fatal

    async def _take(self, waiting: deque[U], total: int) -> None:
        """Take pieces until none is left; where the budget is short, leave the rest to those who are under way.

        What calls under way have set aside is more than they will use, so a limit is reached only when nobody else is.
        """
        while waiting and self._fatal is None:
            piece = waiting.popleft()
            try:
                await self._one(piece)
            except RunStopped as error:
                self._taking -= 1
                if not self._taking:
                    self._fatal = self._fatal or error
                waiting.appendleft(piece)
                return
            done = len(self.written) + len(self.lost)
            self.progress(Event("stage", f"{done} of {total} reviews", done=done, total=total))
        self._taking -= 1  # who has left takes nothing that another one puts back

    async def _one(self, piece: U) -> None:
        try:
            self.written.append((piece, await self.write(piece)))
            self._silent = 0
        except _OF_THE_PIECE as error:
            self.lost.append((piece, _how(error), error.message))
            self.progress(Event("note", f"{self.name(piece)}: {error.message}"))
            # A provider that turns down the first questions turns down all; later ones are refused for what they hold.
            unanswered = isinstance(error, ModelUnavailable) or (_how(error) == "refused" and not self.written)
            self._silent = self._silent + 1 if unanswered else 0
            if self._silent >= SILENT_AFTER:
                self._fatal = self._fatal or error
        except RunStopped:
            raise
        except RefereeError as error:
            self._fatal = self._fatal or error


def _how(error: RefereeError) -> Lost:
    return "refused" if isinstance(error, ModelRefused) else "invalid" if isinstance(error, ReplyInvalid) else "failed"
