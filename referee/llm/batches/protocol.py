"""What a provider of batches can do, whatever it calls it."""

from __future__ import annotations

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx

from referee.errors import DataError, ModelRefused, ModelUnavailable
from referee.schemas.base import Frozen
from referee.schemas.foreign import Unreadable, json_value
from referee.secrets import scrub
from referee.web import WebLimits, ask, carried_by

if TYPE_CHECKING:
    from referee.llm.clients import Connection

logger = logging.getLogger(__name__)

OK, BAD_REQUEST, UNANSWERED = 200, 400, 503

# A line of results holds one reply of a model, and a file a line for each call. Seconds are those of a whole file.
_LONGEST_LINE, _MORE_BYTES, _MOST_BYTES = 8 * 2**20, 64 * 2**20, 4 * 2**30
_LONGEST_S = 1_800.0

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
    """What became of one call: the HTTP status and body it would have had at once.

    ``lost`` is whether the results have no line for it that can be read: it may have been answered and paid.
    """

    digest: str
    status: int
    body: Mapping[str, Any] = field(repr=False)
    lost: bool = False


class ResultsDamaged(Exception):
    """Results of a batch that has ended lack lines for this many of its calls; they may be whole when read again."""

    def __init__(self, calls: int) -> None:
        super().__init__(f"{calls:,} calls have no line that can be read")
        self.calls = calls


@dataclass
class BatchProvider(ABC):
    """A provider's batches, for one model, over its SDK's client. All raise what the SDK or the transport raises.

    Attributes:
        most_requests: Most calls of one batch.
        most_bytes: Its most bytes, as far as they go through this process's memory at once.
        id_key: What the id of a call is called in a line of results.
    """

    client: Any
    connection: Connection
    most_requests, most_bytes = 100_000, 1_000_000_000
    id_key = "custom_id"

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
    def sources(self, batch_id: str, state: BatchState) -> Sequence[str]:
        """The addresses of its results, at the provider's own host."""

    @property
    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """What goes with a question to the provider: the key."""

    @abstractmethod
    def result(self, line: Mapping[str, Any]) -> BatchResult:
        """A line of results, whose id is a text; everything else in it may be anything."""

    async def results(
        self, batch_id: str, state: BatchState, scratch: Path, calls: int
    ) -> AsyncGenerator[BatchResult, None]:
        """What became of its calls, in any order.

        Args:
            batch_id: The batch.
            state: How it stands.
            scratch: A file for what comes.
            calls: How many it holds, which bounds the size.
        """
        for address in self.sources(batch_id, state):
            await self._download(address, scratch, min(_MOST_BYTES, _MORE_BYTES + calls * _LONGEST_LINE))
            for line in parsed_lines(scratch, self.id_key):
                await asyncio.sleep(0)  # a stop is heard between any two lines
                if line is not None:
                    yield self.result(line)

    async def _download(self, address: str, into: Path, most_bytes: int) -> None:
        """Fetch results into a file. Of an answer that passes a limit, the beginning is there.

        Raises:
            ModelRefused, ModelUnavailable: By the status.
            httpx.HTTPError: The provider cannot be reached, or the connection broke off.
        """
        limits = WebLimits(most_bytes, read_s=self.connection.timeout_s, total_s=_LONGEST_S, max_redirects=3)
        into.unlink(missing_ok=True)
        try:
            answer = await ask(carried_by(self.connection.downloads), address, limits, headers=self.headers, into=into)
        except DataError as error:
            if isinstance(error.__cause__, httpx.HTTPError):
                raise error.__cause__ from error
            if error.ids["cause"] == "refused":
                raise ModelRefused(error.message, hint="The key is not sent to another host.") from error
            logger.warning("results of a batch: %s", scrub(error.message))
            return
        if answer.status != 200:
            kind = ModelUnavailable if answer.status in (408, 429) or answer.status >= 500 else ModelRefused
            raise kind(
                f"{self.connection.spec.id!r} did not give the results of a batch (HTTP {answer.status}).",
                hint="Resume the run later (--resume): the batch is kept.",
            )

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


def status_in(value: object, default: int) -> int:
    """An HTTP status that a line of results names; the default where it names none."""
    return value if isinstance(value, int) and 100 <= value <= 599 else default


def parsed_lines(path: Path, key: str) -> Iterator[dict[str, Any] | None]:
    """The lines of a file of results; None in place of one that is no sound JSON object with an id under this key."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        while raw := file.readline(_LONGEST_LINE + 1):
            yield _line(raw, key)
            while not raw.endswith(b"\n") and (raw := file.readline(_LONGEST_LINE)):
                yield None


def _line(raw: bytes, key: str) -> dict[str, Any] | None:
    try:
        line = json_value(raw, "a line of results") if len(raw) <= _LONGEST_LINE else None
    except Unreadable:
        return None
    return line if isinstance(line, dict) and isinstance(line.get(key), str) else None
