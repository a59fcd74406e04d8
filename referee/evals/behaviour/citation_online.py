"""Citations looked up in bibliographic services over the network, slowly and once: only on explicit request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from referee.errors import EvaluationError
from referee.evals.behaviour.citation_cache import CitationCache
from referee.evals.behaviour.citation_check import Record, Unresolved, compared
from referee.evals.behaviour.citation_sources import Crossref, Dblp, OpenAlex, Source
from referee.evals.behaviour.citations import Citation
from referee.web.fetch import USER_AGENT

if TYPE_CHECKING:
    import httpx

_TRIES = 3
_WAIT_S = 2.0
_LONGEST_WAIT_S = 60.0
_TIMEOUT_S = 20.0
_MOST_BYTES = 4 * 2**20
_RETRIED = frozenset({429, 500, 502, 503, 504})


class OnlineResolver:
    """Asks the sources one after the other, one request at a time, and keeps every answer.

    Each source's least interval is kept, and widened where its ``X-Rate-Limit-*`` headers say so; 429 and 5xx are tried
    again after ``Retry-After``, three times at most and never after more than a minute. Titles go out, nothing else.

    Args:
        sources: Whom to ask, in order.
        cache: Where answers are kept.
        transport: What carries the requests; the network by default.
        clock: Seconds that only grow.
        sleep: Waits so many seconds.
    """

    id = "online"

    def __init__(
        self,
        sources: Sequence[Source],
        cache: CitationCache,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx

        contact = next((mail for source in sources if (mail := getattr(source, "mailto", ""))), "")
        headers = {
            "User-Agent": f"{USER_AGENT} (mailto:{contact})" if contact else USER_AGENT,
            "Accept": "application/json",
        }
        limits = httpx.Limits(max_connections=1)
        self._client = httpx.Client(
            headers=headers,
            timeout=_TIMEOUT_S,
            limits=limits,
            transport=transport,
            trust_env=False,
            follow_redirects=False,
        )
        self._sources = tuple(sources)
        self._cache, self._clock, self._sleep = cache, clock, sleep
        self._free_at: dict[str, float] = {}
        self._interval = {source.id: source.interval_s for source in sources}

    def candidates(self, citation: Citation) -> Iterator[Record]:
        """What each source lists for the citation; a source is asked only when those before it were not enough.

        Raises:
            Unresolved: A source did not answer.
        """
        for source in self._sources:
            records = self._cache.get(citation.title, citation.year, source.id)
            if records is None:
                records = self._ask(source, citation)
            yield from records

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _ask(self, source: Source, citation: Citation) -> list[Record]:
        records: list[Record] = []
        found = False
        for address in source.addresses(citation):
            answer = self._answer(source, address)
            records += source.records(answer) if answer is not None else []
            found = any(compared(citation, record).status == "verified" for record in records)
            if found:
                break
        self._cache.put(citation.title, citation.year, source.id, records, found=found)
        return records

    def _answer(self, source: Source, address: str) -> object:
        """The JSON that came; null where the source has no such record."""
        reason = ""
        for _ in range(_TRIES):
            status, headers, body = self._get(source, address)
            if status == 404:
                return None
            if status == 200:
                return _json(body, source.id)
            reason = f"{source.id} answered with status {status}"
            if status not in _RETRIED:
                break
            wait = _retry_after(headers.get("Retry-After"))
            if wait > _LONGEST_WAIT_S:
                reason = f"{reason} and asks to wait {wait:g} seconds"
                break
            self._free_at[source.id] = max(self._free_at[source.id], self._clock() + wait)
        raise Unresolved(reason)

    def _get(self, source: Source, address: str) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        wait = self._free_at.get(source.id, 0.0) - self._clock()
        if wait > 0:
            self._sleep(wait)
        try:
            with self._client.stream("GET", address) as response:
                body = _read(response)
        except httpx.HTTPError as error:
            raise Unresolved(f"{source.id} cannot be reached ({type(error).__name__})") from error
        finally:
            self._free_at[source.id] = self._clock() + self._interval[source.id]
        self._slow_down(source, response.headers)
        return response.status_code, response.headers, body

    def _slow_down(self, source: Source, headers: httpx.Headers) -> None:
        limit = _seconds(headers.get("X-Rate-Limit-Limit"), default=0.0)
        per = _seconds((headers.get("X-Rate-Limit-Interval") or "").removesuffix("s"), default=0.0)
        if limit > 0 and per > 0:
            self._interval[source.id] = max(source.interval_s, min(per / limit, _LONGEST_WAIT_S))


def online_resolver(
    *, contact: str, folder: Path, openalex_key: str = "", **options: Any
) -> tuple[OnlineResolver, tuple[str, ...]]:
    """Crossref, OpenAlex and DBLP in that order, with what is left out and why.

    Args:
        contact: An e-mail address that tells the services whom to write to; they ask for it.
        folder: Where answers are kept.
        openalex_key: Without it OpenAlex is not asked.
        options: For ``OnlineResolver``.

    Raises:
        EvaluationError: The contact is no e-mail address.
    """
    if contact.count("@") != 1 or contact.strip() != contact or " " in contact or not all(contact.split("@")):
        raise EvaluationError(
            f"{contact!r} is no e-mail address.", hint="Citations are looked up online with a contact address only."
        )
    sources: list[Source] = [Crossref(contact), *([OpenAlex(openalex_key, contact)] if openalex_key else []), Dblp()]
    notes = () if openalex_key else ("openalex: not asked, it needs an API key",)
    return OnlineResolver(sources, CitationCache(folder), **options), notes


def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > _MOST_BYTES:
            raise Unresolved(f"an answer has more than {_MOST_BYTES >> 20} MiB")
    return bytes(body)


def _json(body: bytes, source: str) -> object:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Unresolved(f"{source} did not answer in JSON") from error


def _retry_after(value: str | None) -> float:
    """Seconds to wait: a number, or until a date; 2 where the header says nothing."""
    if value and not value.strip().isdigit():
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return _WAIT_S
    return _seconds(value, default=_WAIT_S)


def _seconds(value: str | None, *, default: float) -> float:
    """A header's number; a date or nonsense is the default."""
    try:
        found = float(value) if value else default
    except ValueError:
        return default
    return found if 0 <= found < float("inf") else default
