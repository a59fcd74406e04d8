"""What a provider of batches can do, whatever it calls it."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from referee.schemas.base import Frozen

if TYPE_CHECKING:
    from referee.llm.clients import Connection

OK, BAD_REQUEST, UNANSWERED = 200, 400, 503

Status = Literal["open", "ended", "expired", "cancelled", "failed"]
Pause = Callable[[], Awaitable[None]]

# A call's id stands first in its line, so that lines are told apart without parsing them.
_ID = re.compile(rb'\s*\{\s*"(?:custom_id|key|id)"\s*:\s*"([0-9a-f]{64})"')


class Submission(Frozen):
    """A batch as it was written down before it was sent: its own name, whose it is, and how many calls it holds.

    ``at`` is in seconds since the epoch. The name finds the batch at the provider where its id was not noted.
    """

    name: str
    model: str
    requests: int
    at: float


# A batch that was handed in stands among the newest, which the provider lists first.
_LOOKED_AT = 200


@dataclass(frozen=True)
class BatchState:
    """How a batch stands. ``full`` is whether it was turned away because too much of the account's waits already."""

    status: Status
    answered: int = 0
    problem: str = ""
    full: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchResult:
    """What became of one call: the HTTP status and body it would have had at once."""

    digest: str
    status: int
    body: Mapping[str, Any] = field(repr=False)


@dataclass
class BatchProvider(ABC):
    """A provider's batches, for one model, over its SDK's client. All raise what the SDK or the transport raises.

    Attributes:
        most_requests: Most calls of one batch.
        most_bytes: Its most bytes, as far as they go through this process's memory at once.
    """

    client: Any
    connection: Connection
    most_requests, most_bytes = 100_000, 1_000_000_000

    @abstractmethod
    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call as it stands in a file of requests, its id first, with the line's end."""

    @abstractmethod
    async def submit(self, submission: Submission, requests: Path) -> str:
        """Hand in a batch; its id."""

    @abstractmethod
    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """The id of a batch that was handed in and whose id is not known; empty where there is none.

        Args:
            submission: As it was written down.
            known: Ids of other batches.
            digests: The calls it holds.
            wait: Called between two looks, where only an ended batch can be told apart.
        """

    @abstractmethod
    async def state(self, batch_id: str) -> BatchState:
        """How it stands."""

    @abstractmethod
    def results(self, batch_id: str, state: BatchState, scratch: Path) -> AsyncIterator[BatchResult]:
        """What became of its calls, in any order; ``scratch`` is a file for a body that is read as a whole."""

    @abstractmethod
    async def cancel(self, batch_id: str) -> None:
        """End it; what is answered is kept and paid."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self.connection.aclose()


async def newest(
    listed: AsyncIterator[Any], is_it: Callable[[Any], bool], made_at: Callable[[Any], float | None], since: float
) -> Any | None:
    """The first that is it among a provider's batches, newest first; those from before are looked at up to a number."""
    looked_at = 0
    async for batch in listed:
        looked_at += 1
        made = made_at(batch)
        if is_it(batch) or (looked_at >= _LOOKED_AT and made is not None and made < since):
            return batch if is_it(batch) else None
    return None


def digest_in(line: bytes) -> str | None:
    """The call's id in a line of requests or results; None in one that has none of ours."""
    found = _ID.match(line[:120])
    return found.group(1).decode() if found else None


def unanswered(digest: str, why: str, status: int = UNANSWERED) -> BatchResult:
    """A call that was not answered, in a body that all three SDKs read as their provider's error."""
    error = {"type": "api_error", "code": status, "message": why, "status": "UNAVAILABLE"}
    return BatchResult(digest, status, {"type": "error", "error": error})


def parsed_lines(path: Path, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file of results that are JSON objects with an id of ours under this key; others are left out."""
    with path.open("rb") as file:
        for raw in file:
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            named = line.get(key) if isinstance(line, dict) else None
            if isinstance(named, str):
                yield named, line
