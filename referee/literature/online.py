"""Citations looked up at Crossref, OpenAlex and DBLP, in this order, with answers kept on the disk."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from referee.errors import EvaluationError
from referee.literature.checking import Cited, Record, Unresolved, compared, record_of
from referee.literature.sources import CROSSREF, DBLP, OPENALEX, Crossref, Dblp, OpenAlex, Source
from referee.literature.titles import normalised_title
from referee.runs.files import write_atomically
from referee.web.fetch import USER_AGENT

if TYPE_CHECKING:
    import httpx

LONGEST_S = 60.0
MOST_BYTES = 4 * 2**20


def body_of(response: httpx.Response, source: str, clock: Callable[[], float]) -> bytes:
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


def records_in(source: Source, body: bytes) -> list[Record]:
    """The records of an answer.

    Raises:
        Unresolved: It is no JSON, or no answer of this service: then it does not say that there is no such work.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unresolved(f"{source.id} did not answer in JSON") from error
    records = source.records(answer)
    if records is None:
        raise Unresolved(f"{source.id} answered in a form that is not its own")
    return records


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


NEGATIVE_DAYS = 30
_DAY_S = 86_400


class CitationCache:
    """A folder with one small JSON file for each title and year.

    Args:
        folder: Made with the first answer that is stored.
        now: Seconds since 1970.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def get(self, title: str, year: int | None, source: str) -> list[Record] | None:
        """What the source answered; null where it was not asked, or its useless answer is older than 30 days.

        A file that cannot be read counts as none: the source is asked again.
        """
        entry = self._read(self._path(title, year)).get(source)
        if not isinstance(entry, dict) or not isinstance(entry.get("records"), list):
            return None
        at = entry.get("at")
        if not entry.get("found") and not (isinstance(at, int | float) and self._now() - at < NEGATIVE_DAYS * _DAY_S):
            return None
        return [record for row in entry["records"] if isinstance(row, dict) and (record := record_of(row))]

    def put(self, title: str, year: int | None, source: str, records: Sequence[Record], *, found: bool) -> None:
        """Store an answer; ``found`` says that one of the records was accepted, and keeps it for good."""
        path = self._path(title, year)
        rows = [record._asdict() for record in records]
        content = {**self._read(path), source: {"at": self._now(), "found": found, "records": rows}}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(content, ensure_ascii=False))

    def _path(self, title: str, year: int | None) -> Path:
        digest = hashlib.sha256(f"{normalised_title(title)}\n{year}".encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:34]}.json"

    def _read(self, path: Path) -> dict[str, object]:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}


_TRIES = 3
_WAIT_S = 2.0
_RETRIED = frozenset({429, 500, 502, 503, 504})
_MOVED = frozenset({301, 302, 307, 308})
_FAILURES_IN_A_ROW = 3


class OnlineResolver:
    """Asks the sources one after the other, one request at a time, and keeps every answer.

    Each source's least interval is kept, and widened where its ``X-Rate-Limit-*`` headers say so; 429 and 5xx are tried
    again after ``Retry-After``, else after 2 and 4 seconds, three times at most and never after more than a minute. A
    source that asks for a longer wait, or fails for three citations in a row, is not asked again. The same question is
    not asked twice, whether it was answered or failed. Titles, surnames and ids go out, nothing else.

    Args:
        sources: Whom to ask, in order.
        cache: Where answers are kept.
        transport: What carries the requests; the network by default.
        clock: Seconds that only grow.
        sleep: Waits so many seconds; by default until ``close`` at most.
        timeout_s: How long a service may take to connect, and to say something.
    """

    id = "online"

    def __init__(
        self,
        sources: Sequence[Source],
        cache: CitationCache,
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
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        limits = httpx.Limits(max_connections=1)
        self._client = httpx.Client(
            headers=headers,
            timeout=timeout_s,
            limits=limits,
            transport=transport,
            trust_env=False,
            follow_redirects=False,
        )
        self._sources = tuple(sources)
        self._timeout_s = timeout_s
        self._stopped = threading.Event()
        self._cache, self._clock, self._sleep = cache, clock, sleep or self._stopped.wait
        self._free_at: dict[str, float] = {}
        self._interval = {source.id: source.interval_s for source in sources}
        self._failed: dict[tuple[str, str, int | None], str] = {}
        self._failures = Counter[str]()
        self._given_up: dict[str, str] = {}

    def candidates(self, citation: Cited) -> Iterator[Record]:
        """What each source lists for the citation; a source is asked only when those before it were not enough.

        Raises:
            Unresolved: A source did not answer; the others were asked all the same.
        """
        failed = []
        for source in self._sources:
            try:
                yield from self._known(source, citation)
            except Unresolved as error:
                failed.append(str(error))
        if failed:
            raise Unresolved("; ".join(failed))

    @property
    def services(self) -> tuple[str, ...]:
        """The names of those that are asked, in order."""
        return tuple(source.id for source in self._sources)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sources that were given up, and why."""
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

    def _known(self, source: Source, citation: Cited) -> list[Record]:
        """The answer from the cache or the source; a question that failed before fails again without being asked."""
        records = self._cache.get(citation.title, citation.year, source.id)
        if records is not None:
            return records
        question = (source.id, normalised_title(citation.title), citation.year)
        reason = self._failed.get(question) or self._given_up.get(source.id)
        if reason:
            raise Unresolved(reason)
        try:
            records = self._ask(source, citation)
        except Unresolved as error:
            self._failed[question] = str(error)
            self._failures[source.id] += 1
            if self._failures[source.id] >= _FAILURES_IN_A_ROW:
                self._given_up.setdefault(source.id, str(error))
            raise
        self._failures[source.id] = 0
        return records

    def _ask(self, source: Source, citation: Cited) -> list[Record]:
        records: list[Record] = []
        found = False
        for address in source.addresses(citation):
            records += self._answer(source, address)
            found = any(compared(citation, record).status == "verified" for record in records)
            if found:
                break
        self._cache.put(citation.title, citation.year, source.id, records, found=found)
        return records

    def _answer(self, source: Source, address: str) -> list[Record]:
        """The records that came; none where the source has no such work."""
        reason = ""
        for number in range(_TRIES):
            status, headers, body = self._get(source, address)
            if status == 404:
                return []
            if status == 200:
                return records_in(source, body)
            reason = f"{source.id} answered with status {status}"
            if status in _MOVED and (elsewhere := self._moved(address, headers)):
                address = elsewhere
                continue
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

        wait = self._free_at.get(source.id, 0.0) - self._clock()
        if wait > 0:
            self._sleep(wait)
        if self._stopped.is_set():
            raise Unresolved(f"{source.id} was not asked: the run was ended")
        try:
            with self._client.stream("GET", address) as response:
                body = body_of(response, source.id, self._clock)
        except httpx.TimeoutException as error:
            raise Unresolved(f"{source.id} did not answer within {self._timeout_s:g} seconds") from error
        except httpx.HTTPError as error:
            raise Unresolved(f"{source.id} cannot be reached ({type(error).__name__})") from error
        finally:
            self._free_at[source.id] = self._clock() + self._interval[source.id]
        self._slow_down(source, response.headers)
        return response.status_code, response.headers, body

    def _moved(self, address: str, headers: Mapping[str, str]) -> str:
        """Where a merged record lies now; empty where that is another host, which nobody chose."""
        import httpx

        here = httpx.URL(address)
        try:
            there = here.join(headers.get("Location", ""))
        except httpx.InvalidURL:
            return ""
        return str(there) if (there.scheme, there.netloc) == (here.scheme, here.netloc) else ""

    def _slow_down(self, source: Source, headers: Mapping[str, str]) -> None:
        limit = header_number(headers.get("X-Rate-Limit-Limit"), default=0.0)
        per = header_number((headers.get("X-Rate-Limit-Interval") or "").removesuffix("s"), default=0.0)
        if limit > 0 and per > 0:
            self._interval[source.id] = max(source.interval_s, min(per / limit, LONGEST_S))


def online_resolver(
    *,
    contact: str,
    folder: Path,
    openalex_key: str = "",
    crossref: str = CROSSREF,
    openalex: str = OPENALEX,
    dblp: str = DBLP,
    **options: Any,
) -> tuple[OnlineResolver, tuple[str, ...]]:
    """Crossref, OpenAlex and DBLP in that order, with what is left out and why.

    Args:
        contact: An e-mail address that tells the services whom to write to; they ask for it.
        folder: Where answers are kept.
        openalex_key: Goes to OpenAlex's own address only; without it OpenAlex is not asked there.
        crossref: The service's address, or that of a mirror.
        openalex: Likewise.
        dblp: Likewise.
        options: For ``OnlineResolver``.

    Raises:
        EvaluationError: The contact is no e-mail address.
    """
    if contact.count("@") != 1 or any(not sign.isprintable() or sign.isspace() for sign in contact):
        raise _no_contact(contact)
    if not contact.isascii() or not all(contact.split("@")):
        raise _no_contact(contact)
    mirrored = openalex != OPENALEX
    sources: list[Source] = [Crossref(contact, crossref)]
    if openalex_key or mirrored:
        sources.append(OpenAlex("" if mirrored else openalex_key, contact, openalex))
    sources.append(Dblp(dblp))
    notes = () if len(sources) > 2 else ("openalex: not asked, it needs an API key",)
    return OnlineResolver(sources, CitationCache(folder), **options), notes


def _no_contact(contact: str) -> EvaluationError:
    return EvaluationError(
        f"{contact!r} is no e-mail address.", hint="Citations are looked up online with a contact address only."
    )
