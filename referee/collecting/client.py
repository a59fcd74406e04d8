"""OpenReview's two APIs, one request at a time, within limits.

Four requests are used: a page of a list, one file, an archive of files, and the log-in. Notes keep every key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import responses
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx
from aiolimiter import AsyncLimiter
from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

from referee.errors import CollectionError, DataError, SettingsError
from referee.runs import Event, Progress
from referee.runs.stopping import current_stop
from referee.schemas.foreign import Unreadable, json_value
from referee.secrets import scrub
from referee.settings import CollectSettings
from referee.web import Answer, WebLimits, ask, carried_by, retry_after_s, tls

T = TypeVar("T")
Note = dict[str, object]

USERNAME, PASSWORD = "OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD"  # names of variables
_CONNECT_S = 20.0
_LONGEST_PAUSE_S = 120.0
_WHOLE = 5  # times timeout_s: how long an answer may take from its first word to its last
_REDIRECTS = 3
_LONGEST_PAGE, _LONGEST_ARCHIVE = 20 * 2**20, 2**31
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_IN_WORDS = re.compile(r"try again in (?:(\d{1,9}) minutes?)?(?: and )?(?:(\d{1,9}) seconds?)?", re.IGNORECASE)
_ACCOUNT = f"Set {USERNAME} and {PASSWORD} to an OpenReview account's; anonymous requests are refused at times."
_CHECK = f"Check {USERNAME} and {PASSWORD}."
_UNSEEN = f"It may not be public yet, or be shown only to an account ({USERNAME}, {PASSWORD})."
_KEPT = "What was collected is kept: go on later."


class Refused(CollectionError):
    """OpenReview was reached and does not give what was asked for; another try would not help."""


class NotThere(Refused):
    """OpenReview has no such note, list or file."""


class TooLarge(Refused):
    """OpenReview sent more bytes, or more redirects, than are taken."""


class _Failed(CollectionError):
    """A try that another one can mend; ``wait_s`` is the pause OpenReview asked for."""

    retryable = True
    wait_s: float | None = None


@dataclass(frozen=True)
class Page:
    """Notes as the API gave them, with every key; ``total`` of the list where it was asked for and told."""

    notes: tuple[Note, ...]
    total: int | None


class OpenReview:
    """One of the two APIs, anonymous or logged in; made by ``open_openreview``.

    Attributes:
        requests: How many were sent, tries included.
    """

    def __init__(self, api: Literal[1, 2], settings: CollectSettings, progress: Progress) -> None:
        self.requests = 0
        self._api, self._settings, self._progress = api, settings, progress
        self._address = settings.api_v1 if api == 1 else settings.api_v2
        self._limiter = AsyncLimiter(settings.requests_per_minute, 60)
        self._client = httpx.AsyncClient(verify=tls(True))
        self._token = ""

    async def page(self, invitation: str, *, after: str | None, limit: int) -> Page:
        """The next submissions of a list by id, each with all its replies in ``details``; none where it has ended.

        Raises:
            NotThere: There is no such list, or no note ``after``.
            CollectionError: OpenReview cannot be reached, refuses, or answers in a form that is not its own.
        """
        asked: dict[str, object] = {"invitation": invitation, "details": "replies", "sort": "id", "limit": limit}
        asked |= {"after": after} if after else {"count": "true"}
        what = f"the submissions of {invitation!r}"
        address = f"{self._address}/notes?{urlencode(asked)}"
        return await self._ask(what, address, _LONGEST_PAGE, lambda answer: _page(answer, limit))

    async def pdfs(self, ids: Sequence[str], into: Path, most_bytes: int) -> None:
        """Fetch the file of one submission, or an archive (zip) with those of several, which API v1 does not have.

        Args:
            ids: The submissions.
            into: The file to write.
            most_bytes: What one PDF may have.

        Raises:
            TooLarge: It is larger.
            Refused: There is none, or it is not shown to who asks like this.
            CollectionError: As ``page``.
            OSError: The file cannot be written.
        """
        several = len(ids) > 1
        asked = urlencode({"name": "pdf", **({"ids": ",".join(ids)} if several else {"id": ids[0]})})
        what = f"{len(ids)} PDFs" if several else f"the PDF of {ids[0]!r}"
        most = min(len(ids) * most_bytes, _LONGEST_ARCHIVE) if several else most_bytes
        await self._ask(what, f"{self._address}/attachment?{asked}", most, lambda answer: None, into=into)

    @property
    def pdfs_per_request(self) -> int:
        """How many files one request may bring."""
        return 50 if self._api == 2 else 1

    async def log_in(self, username: str, password: str) -> None:
        """Log in, for this process.

        Raises:
            CollectionError: The log-in is refused, or asks for a second factor.
        """
        account = {"id": username, "password": password}
        address = f"{self._settings.api_v2}/login"
        said = await self._ask(f"the log-in of {USERNAME}", address, _LONGEST_PAGE, _object, json=account)
        if said.get("mfaPending"):
            raise CollectionError(
                f"the account of {USERNAME} wants a second factor to log in.",
                hint="Use an account without one, or none.",
            )
        if not isinstance(said.get("token"), str):
            raise CollectionError(f"OpenReview answered the log-in of {USERNAME} without a token.", hint=_CHECK)
        self._token = said["token"]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(
        self,
        what: str,
        address: str,
        most_bytes: int,
        read: Callable[[Answer], T],
        *,
        json: object = None,
        into: Path | None = None,
    ) -> T:
        """Send a request until it is answered; raises the last try's error."""
        stop = current_stop()
        tries = AsyncRetrying(
            stop=stop_after_attempt(self._settings.max_tries),
            retry=self._can_help,
            wait=self._pause_s,
            before_sleep=self._tell,
            sleep=stop.pause,
            reraise=True,
        )
        timeout_s = self._settings.timeout_s
        limits = WebLimits(most_bytes, min(_CONNECT_S, timeout_s), timeout_s, timeout_s * _WHOLE, _REDIRECTS)

        async def once() -> T:
            await self._limiter.acquire()
            self.requests += 1
            headers = {"Accept": "application/json, */*"}
            if self._token:
                headers["Authorization"] = f"Bearer {self._token}"
            try:
                answer = await ask(carried_by(self._client), address, limits, headers=headers, json=json, into=into)
            except DataError as error:
                raise self._unanswered(what, error) from error
            self._judge(what, answer)
            return read(answer)

        async with stop.call():
            return await tries(once)

    def _unanswered(self, what: str, error: DataError) -> CollectionError:
        cause, late = error.ids["cause"], isinstance(error.__cause__, TimeoutError | httpx.TimeoutException)
        if cause == "refused":
            return CollectionError(f"OpenReview refused {what}: {error.message}", hint=self._way_in(what, _ACCOUNT))
        if cause == "limit" and not late:
            return TooLarge(f"OpenReview's answer to {what} is refused: {error.message}", hint=_KEPT)
        reason = "no answer came in time" if late else "there is no connection, or the answer broke off"
        return _Failed(f"{self._address} did not give {what}: {reason}.", hint=f"Check the network. {_KEPT}")

    def _judge(self, what: str, answer: Answer) -> None:
        """Raise where the answer is not what was asked for."""
        status, said = answer.status, _said(answer)
        if status in _AGAIN:
            failed = _Failed(f"OpenReview answered {what} with status {status}: {said}.", hint=_KEPT)
            failed.wait_s = _named_pause_s(answer.headers.get("Retry-After", ""), said)
            raise failed
        refusal = f"OpenReview refused {what} (status {status}): {said}."
        if _is_page(answer):
            raise CollectionError(refusal, hint=self._way_in(what, _ACCOUNT))
        if status >= 400:
            kind = NotThere if status == 404 or "notfound" in said.lower().replace(" ", "") else Refused
            raise kind(refusal, hint=self._way_in(what, _ACCOUNT if status in (401, 403) else _UNSEEN))

    def _way_in(self, what: str, anonymous: str) -> str:
        """The next step after a refusal: what it is for who asks anonymously, else to look at the account."""
        return _CHECK if "log-in" in what or self._token else anonymous

    def _can_help(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        return isinstance(error, _Failed) and (error.wait_s or 0.0) <= self._settings.longest_wait_s

    def _pause_s(self, state: RetryCallState) -> float:
        """The pause OpenReview named, else one that doubles from try to try, with a random part."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Failed) and error.wait_s is not None:
            return error.wait_s
        first = self._settings.retry_wait_s
        return float(wait_exponential_jitter(initial=first, max=_LONGEST_PAUSE_S, jitter=first)(state))

    def _tell(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        pause = state.next_action.sleep if state.next_action else 0.0
        waited = f"waiting {pause / 60:.0f} minutes" if pause >= 120 else f"waiting {pause:.0f} s"
        message = error.message if isinstance(error, CollectionError) else str(error)
        self._progress(Event("retry", f"{message} Try {state.attempt_number}; {waited}"))


async def open_openreview(api: Literal[1, 2], settings: CollectSettings, progress: Progress) -> OpenReview:
    """The API, logged in where ``OPENREVIEW_USERNAME`` and ``OPENREVIEW_PASSWORD`` are set; who asked closes it.

    Raises:
        SettingsError: As ``check_access``.
        CollectionError: As ``log_in``, or OpenReview cannot be reached.
    """
    check_access(settings)
    opened = OpenReview(api, settings, progress)
    if os.environ.get(USERNAME):
        try:
            await opened.log_in(os.environ[USERNAME], os.environ[PASSWORD])
        except BaseException:
            await opened.aclose()
            raise
    return opened


def check_access(settings: CollectSettings) -> None:
    """See that a log-in is complete and for OpenReview, before a folder is made.

    Raises:
        SettingsError: Only one of the two variables is set, or they would go to an address that is neither
            OpenReview's nor this machine's: a settings file that came with something else may name any.
    """
    if bool(os.environ.get(USERNAME)) != bool(os.environ.get(PASSWORD)):
        raise SettingsError(
            f"only one of {USERNAME} and {PASSWORD} is set.", hint="Set both to log in, or none to ask anonymously."
        )
    elsewhere = [address for address in (settings.api_v1, settings.api_v2) if not _may_log_in(address)]
    if os.environ.get(USERNAME) and elsewhere:
        raise SettingsError(
            f"the account of {USERNAME} is not sent to {elsewhere[0]!r}, which is not OpenReview's own.",
            hint=f"Unset {USERNAME} and {PASSWORD}, or correct collect.api_v1 and collect.api_v2.",
        )


def _may_log_in(address: str) -> bool:
    parts = urlsplit(address)
    host = parts.hostname or ""
    own = host == "openreview.net" or host.endswith(".openreview.net")
    return (own and parts.scheme == "https") or host in ("127.0.0.1", "::1", "localhost")


def _object(answer: Answer) -> Mapping[str, Any]:
    """The JSON object of an answer; an empty one where it is another value."""
    try:
        found = json_value(answer.content, "OpenReview's answer")
    except Unreadable as error:
        kind = _Failed if error.problem == "syntax" else CollectionError
        raise kind(error.message, hint=_KEPT) from error
    return found if isinstance(found, dict) else {}


def _page(answer: Answer, limit: int) -> Page:
    """The notes of an answer, as many as were asked for."""
    body = _object(answer)
    notes = body.get("notes")
    if not isinstance(notes, list) or not all(isinstance(n, dict) and isinstance(n.get("id"), str) for n in notes):
        raise CollectionError(
            "OpenReview answered in a form that is not its own: no list of notes with ids.",
            hint="Check collect.api_v1 and collect.api_v2; what was collected is kept.",
        )
    notes = notes[:limit]
    if not all(_has_replies(note) for note in notes):
        raise CollectionError(
            "OpenReview gave submissions without their replies.",
            hint="Nobody's reviews would be in them, so they were not kept. Try again later.",
        )
    count = body.get("count")
    return Page(tuple(notes), count if isinstance(count, int) and not isinstance(count, bool) else None)


def _has_replies(note: Note) -> bool:
    """Whether the replies, be there any or not, are in the answer; of a deleted note nobody wants them."""
    details = note.get("details")
    return note.get("ddate") is not None or (isinstance(details, dict) and isinstance(details.get("replies"), list))


def _is_page(answer: Answer) -> bool:
    return "text/html" in answer.content_type


def _said(answer: Answer) -> str:
    """The error's own words on one line, without what it may repeat of a log-in."""
    if _is_page(answer):
        return "a web page came, as for people"
    if answer.status < 400:
        return ""
    usual = responses.get(answer.status, "no reason given")
    try:
        body = json_value(answer.content, "the answer")
    except Unreadable:
        return usual
    named = [str(body[key]) for key in ("name", "message") if body.get(key)] if isinstance(body, dict) else []
    return scrub(" ".join(": ".join(named).split())).rstrip(".")[:300] or usual


def _named_pause_s(header: str, said: str) -> float | None:
    """Seconds until another try is welcome: by the header, else by the words of the message; None where none say."""
    if (pause_s := retry_after_s(header)) is not None:
        return pause_s
    found = _IN_WORDS.search(said)
    if found is None or not (found[1] or found[2]):
        return None
    return 60.0 * int(found[1] or 0) + int(found[2] or 0)
