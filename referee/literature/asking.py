"""How services are asked: each within its own limits, with an end to patience, and without a word to other hosts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from referee.literature.checking import Record, Unresolved
from referee.literature.services import Source
from referee.web.fetch import USER_AGENT

if TYPE_CHECKING:
    import httpx

LONGEST_S = 60.0
MOST_BYTES = 4 * 2**20
_TRIES = 3
_WAIT_S = 2.0
_RETRIED = frozenset({429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_MOVED = frozenset({301, 302, 307, 308})
_FAILURES_IN_A_ROW = 3


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
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        timeout_s: float = 20.0,
    ) -> None:
        import httpx

        contact = next((mail for source in sources if (mail := getattr(source, "mailto", ""))), "")
        headers = {
            "User-Agent": f"{USER_AGENT} (mailto:{contact})" if contact else USER_AGENT,
            "Accept": "application/json, application/atom+xml;q=0.9",
            "Accept-Encoding": "identity",
        }
        self._client = httpx.Client(
            headers=headers, timeout=timeout_s, transport=transport, trust_env=False, follow_redirects=False
        )
        self.sources = tuple(sources)
        self._timeout_s = timeout_s
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
        """End a wait, and close the connections; nothing can be asked after."""
        self._stopped.set()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def first(self, source: Source, addresses: Sequence[str], is_enough: Callable[[Record], bool]) -> list[Record]:
        """The records at the addresses, up to the first of them that holds one which is enough.

        Raises:
            Unresolved: The service cannot be asked, or its answer is none.
        """
        if reason := self._given_up.get(source.id):
            raise Unresolved(reason)
        records: list[Record] = []
        try:
            for address in addresses:
                records += self._answer(source, address)
                if any(map(is_enough, records)):
                    break
        except Unresolved as error:
            self._failures[source.id] += 1
            if self._failures[source.id] >= _FAILURES_IN_A_ROW:
                self._given_up.setdefault(source.id, str(error))
            raise
        self._failures[source.id] = 0
        return records

    def _answer(self, source: Source, address: str) -> list[Record]:
        """The records that came; none where the source has no such work."""
        reason = ""
        for number in range(_TRIES):
            status, headers, body = self._get(source, address)
            if status == 404:
                return []
            if status == 200:
                return _records_in(source, body)
            reason = f"{source.id} answered with status {status}"
            if status in _MOVED and (elsewhere := _moved(address, headers)):
                address = elsewhere
                continue
            if status in _REFUSED:
                reason = f"{source.id} refuses the question or the key (status {status})"
            if status not in _RETRIED:
                break
            wait = retry_after_s(headers.get("Retry-After"), _WAIT_S * 2**number)
            if wait > LONGEST_S:
                reason = f"{reason} and asks to wait {wait:g} seconds"
                self._given_up[source.id] = reason
                break
            self._free_at[source.id] = max(self._free_at[source.id], self._clock() + wait)
        raise Unresolved(reason)

    def _get(self, source: Source, address: str) -> tuple[int, Mapping[str, str], bytes]:
        import httpx

        if (wait := self._free_at.get(source.id, 0.0) - self._clock()) > 0:
            self._rest(wait)
        if self._stopped.is_set():
            raise Unresolved(f"{source.id} was not asked: the run was ended")
        try:
            with self._client.stream("GET", address, headers=dict(source.headers)) as response:
                body = _body_of(response, source.id, self._clock)
        except httpx.TimeoutException as error:
            raise Unresolved(f"{source.id} did not answer within {self._timeout_s:g} seconds") from error
        except httpx.HTTPError as error:
            raise Unresolved(f"{source.id} cannot be reached ({type(error).__name__})") from error
        finally:
            self._free_at[source.id] = self._clock() + self._interval[source.id]
        self._slow_down(source, response.headers)
        return response.status_code, response.headers, body

    def _rest(self, seconds: float) -> None:
        self._sleep(seconds)

    def _slow_down(self, source: Source, headers: Mapping[str, str]) -> None:
        limit = header_number(headers.get("X-Rate-Limit-Limit"), default=0.0)
        per = header_number((headers.get("X-Rate-Limit-Interval") or "").removesuffix("s"), default=0.0)
        if limit > 0 and per > 0:
            self._interval[source.id] = max(source.interval_s, min(per / limit, LONGEST_S))


def _body_of(response: httpx.Response, source: str, clock: Callable[[], float]) -> bytes:
    """The body of an answer, which may neither be large nor trickle.

    Raises:
        Unresolved: It is, or it is compressed, which was not asked for.
        httpx.HTTPError: The connection failed while it was read.
    """
    if response.headers.get("Content-Encoding", "identity").lower() not in ("", "identity"):
        raise Unresolved(f"{source} sent a compressed answer, which was not asked for")
    body, until = bytearray(), clock() + LONGEST_S
    for piece in response.iter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            raise Unresolved(f"{source} answered with more than {MOST_BYTES:,} bytes")
        if clock() > until:
            raise Unresolved(f"{source} did not finish its answer within {LONGEST_S:g} seconds")
    return bytes(body)


def _records_in(source: Source, body: bytes) -> list[Record]:
    """The records of an answer.

    Raises:
        Unresolved: It is no answer of this service: then it does not say that there is no such work.
    """
    try:
        records = source.records(body)
    except ValueError as error:
        raise Unresolved(f"{source.id} answered in a form that cannot be read") from error
    if records is None:
        raise Unresolved(f"{source.id} answered in a form that is not its own")
    return records


def _moved(address: str, headers: Mapping[str, str]) -> str:
    """Where a merged record lies now; empty where that is another host, which nobody chose."""
    import httpx

    here = httpx.URL(address)
    try:
        there = here.join(headers.get("Location", ""))
    except httpx.InvalidURL:
        return ""
    return str(there) if (there.scheme, there.netloc) == (here.scheme, here.netloc) else ""


def retry_after_s(value: str | None, default: float) -> float:
    """Seconds to wait: a number, or until a date; the default where the header says nothing."""
    if value and not value.strip().isdigit():
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return default
    return header_number(value, default=default)


def header_number(value: str | None, *, default: float) -> float:
    """A header's number; a date or nonsense is the default."""
    try:
        found = float(value) if value else default
    except ValueError:
        return default
    return found if 0 <= found < float("inf") else default
