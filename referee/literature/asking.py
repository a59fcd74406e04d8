"""How services are asked: each within its own limits, with an end to patience, and without a word to other hosts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import httpx

from referee.errors import DataError
from referee.literature.checking import Record, Unresolved
from referee.literature.services import ROWS, Source
from referee.runs.stopping import current_stop
from referee.schemas.foreign import Unreadable, number
from referee.web import USER_AGENT, Answer, WebLimits, ask, carried_by, retry_after_s, tls

LONGEST_S = 60.0
MOST_BYTES = 4 * 2**20
_TRIES = 3
_WAIT_S = 2.0
_RETRIED = frozenset({429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_FAILURES_IN_A_ROW = 3
_LOOKS_S = 0.2  # whether the run was ended meanwhile
_WHY = {
    "network": "cannot be reached",
    "limit": "did not answer within the limits of time and size",
    "refused": "sends questions on to another host, which is not asked",
    "answer": "did not answer in HTTP that can be read",
}


class Services:
    """Asks the services that it was given, one request at a time each.

    A service's least interval is kept, and widened where its ``X-Rate-Limit-*`` headers say so; 429 and 5xx are tried
    again after ``Retry-After``, else after 2 and 4 seconds, three times at most and never after more than a minute. A
    service that asks for a longer wait, or fails three times in a row, is not asked again.

    Args:
        sources: Whom to ask.
        transport: What carries the requests; the network by default.
        clock: Seconds that only grow.
        sleep: Waits so many seconds; by default until ``close`` at most.
        timeout_s: How long a service may take to connect, and to say something.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        timeout_s: float = 20.0,
    ) -> None:
        contact = next((mail for source in sources if (mail := getattr(source, "mailto", ""))), "")
        self._headers = {
            "User-Agent": f"{USER_AGENT} (mailto:{contact})" if contact else USER_AGENT,
            "Accept": "application/json, application/atom+xml;q=0.9",
        }
        self._transport = transport
        self.sources = tuple(sources)
        self._limits = WebLimits(MOST_BYTES, connect_s=timeout_s, read_s=timeout_s, total_s=LONGEST_S, max_redirects=3)
        self._stop = current_stop()
        self._stopped = threading.Event()
        self._clock, self._sleep = clock, sleep or self._stopped.wait
        self._free_at: dict[str, float] = {}
        self._interval = {source.id: source.interval_s for source in sources}
        self._failures = Counter[str]()
        self._given_up: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that are asked, in order."""
        return tuple(source.id for source in self.sources)

    @property
    def notes(self) -> tuple[str, ...]:
        """The services that were given up, and why."""
        return tuple(f"{name}: not asked any more, {reason}" for name, reason in self._given_up.items())

    def close(self) -> None:
        """End a wait; nothing can be asked after."""
        self._stopped.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def first(
        self, source: Source, addresses: Sequence[str], is_enough: Callable[[Record], bool], rows: int = ROWS
    ) -> list[Record]:
        """The records at the addresses, up to the first of them that holds one which is enough.

        Args:
            source: Whom to ask.
            addresses: What to ask, in order.
            is_enough: Whether a record ends it.
            rows: How many works each address asks for.

        Raises:
            Unresolved: The service cannot be asked, or its answer is none.
        """
        if reason := self._given_up.get(source.id):
            raise Unresolved(reason)
        records: list[Record] = []
        try:
            for address in addresses:
                records += self._answer(source, address, rows)
                if any(map(is_enough, records)):
                    break
        except Unresolved as error:
            self._failures[source.id] += 1
            if self._failures[source.id] >= _FAILURES_IN_A_ROW:
                self._given_up.setdefault(source.id, str(error))
            raise
        self._failures[source.id] = 0
        return records

    def _answer(self, source: Source, address: str, rows: int) -> list[Record]:
        """The records that came; none where the source has no such work."""
        reason = ""
        for turn in range(_TRIES):
            answer = self._get(source, address)
            status = answer.status
            if status == 404:
                return []
            if status == 200:
                return _records_in(source, answer.content, rows)
            reason = f"{source.id} answered with status {status}"
            if status in _REFUSED:
                reason = f"{source.id} refuses the question or the key (status {status})"
            if status not in _RETRIED:
                break
            asked_s = retry_after_s(answer.headers.get("Retry-After", ""))
            wait = _WAIT_S * 2**turn if asked_s is None else asked_s
            if wait > LONGEST_S:
                reason = f"{reason} and asks to wait {wait:g} seconds"
                self._given_up[source.id] = reason
                break
            self._free_at[source.id] = max(self._free_at[source.id], self._clock() + wait)
        raise Unresolved(reason)

    def _get(self, source: Source, address: str) -> Answer:
        if (wait := self._free_at.get(source.id, 0.0) - self._clock()) > 0:
            self._rest(wait)
        try:
            answer = asyncio.run(self._asked(address, {**self._headers, **source.headers}))
        except asyncio.CancelledError as error:
            raise Unresolved(f"{source.id} was not asked: the run was ended") from error
        except DataError as error:
            why = f"{_WHY[error.ids['cause']]} ({type(error.__cause__).__name__})"
            if isinstance(error.__cause__, httpx.ReadTimeout):
                why = f"did not answer within {self._limits.read_s:g} seconds"
            raise Unresolved(f"{source.id} {why}") from error
        finally:
            self._free_at[source.id] = self._clock() + self._interval[source.id]
        self._slow_down(source, answer.headers)
        return answer

    async def _asked(self, address: str, headers: Mapping[str, str]) -> Answer:
        """The answer; raises ``CancelledError`` once the run is ended."""
        async with httpx.AsyncClient(transport=self._transport, trust_env=False, verify=tls(False)) as client:
            answer = asyncio.ensure_future(ask(carried_by(client), address, self._limits, headers=headers))
            while not answer.done():
                if self._stopped.is_set() or self._stop.requested:
                    answer.cancel()
                await asyncio.wait([answer], timeout=_LOOKS_S)
            return answer.result()

    def _rest(self, seconds: float) -> None:
        self._sleep(seconds)

    def _slow_down(self, source: Source, headers: Mapping[str, str]) -> None:
        limit = header_number(headers.get("X-Rate-Limit-Limit"))
        per = header_number((headers.get("X-Rate-Limit-Interval") or "").removesuffix("s"))
        if limit > 0 and per > 0:
            self._interval[source.id] = max(source.interval_s, min(per / limit, LONGEST_S))


def _records_in(source: Source, body: bytes, rows: int) -> list[Record]:
    """The records of an answer.

    Raises:
        Unresolved: It is no answer of this service: then it does not say that there is no such work.
    """
    try:
        records = source.records(body, rows)
    except Unreadable as error:
        raise Unresolved(f"{source.id} answered in a form that cannot be read") from error
    if records is None:
        raise Unresolved(f"{source.id} answered in a form that is not its own")
    return records


def header_number(value: str | None) -> float:
    """A header's number; 0 where it is none."""
    try:
        return number(value or "", "the header", most=1e9)
    except Unreadable:
        return 0.0
