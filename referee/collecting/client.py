"""The one door to OpenReview: openreview-py's clients of both APIs, one request at a time, within limits.

The clients block and are used in a thread. Their own retries print to the terminal, their waits have no end that is
known here, and their ``Note`` keeps only the keys it knows: so they send and log in, and the answers are judged, tried
again and taken from the response itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from aiolimiter import AsyncLimiter
from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

from referee.errors import CollectionError, MissingExtra, SettingsError
from referee.runs import Event, Progress
from referee.runs.stopping import current_stop
from referee.secrets import scrub
from referee.settings import CollectSettings

if TYPE_CHECKING:
    from requests import Response

T = TypeVar("T")
Note = dict[str, object]

USERNAME, PASSWORD = "OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD"  # names of variables
_CONNECT_S = 20.0
_LONGEST_PAUSE_S = 120.0
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_IN_WORDS = re.compile(r"try again in (?:(\d+) minutes?)?(?: and )?(?:(\d+) seconds?)?", re.IGNORECASE)
_ACCOUNT = f"Set {USERNAME} and {PASSWORD} to an OpenReview account's; anonymous requests are refused at times."
_CHECK = f"Check {USERNAME} and {PASSWORD}."
_UNSEEN = f"It may not be public yet, or be shown only to an account ({USERNAME}, {PASSWORD})."
_KEPT = "What was collected is kept: go on later."


class Refused(CollectionError):
    """OpenReview was reached and does not give what was asked for; another try would not help."""


class NotThere(Refused):
    """OpenReview has no such note, list or file."""


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

    def __init__(self, client: Any, api: Literal[1, 2], settings: CollectSettings, progress: Progress) -> None:
        self.requests = 0
        self._client, self._api, self._settings, self._progress = client, api, settings, progress
        self._limiter = AsyncLimiter(settings.requests_per_minute, 60)
        self._response: Response | None = None
        client.session.hooks["response"].append(self._keep)

    async def page(self, invitation: str, *, after: str | None, limit: int) -> Page:
        """The next submissions of a list by id, each with all its replies in ``details``; none where it has ended.

        Raises:
            NotThere: There is no such list, or no note ``after``.
            CollectionError: OpenReview cannot be reached, refuses, or answers in a form that is not its own.
        """
        asked: dict[str, Any] = {"invitation": invitation, "details": "replies", "sort": "id", "limit": limit}
        asked |= {"after": after} if after else {"with_count": True}
        return await self._ask(f"the submissions of {invitation!r}", self._client.get_notes, _page, asked)

    async def pdfs(self, ids: Sequence[str]) -> bytes:
        """The file of one submission, or an archive (zip) with those of several, which API v1 does not have.

        Raises:
            Refused: There is none, or it is not shown to who asks like this.
            CollectionError: As ``page``.
        """
        several = len(ids) > 1
        asked = {"field_name": "pdf", **({"ids": list(ids)} if several else {"id": ids[0]})}
        what = f"{len(ids)} PDFs" if several else f"the PDF of {ids[0]!r}"
        return await self._ask(what, self._client.get_attachment, lambda response: response.content, asked)

    @property
    def pdfs_per_request(self) -> int:
        """How many files one request may bring."""
        return 50 if self._api == 2 else 1

    async def log_in(self, username: str, password: str) -> None:
        """Log in, for this process.

        Raises:
            CollectionError: The log-in is refused, or asks for a second factor.
        """

        def logged_in(response: Response) -> None:
            if not self._client.token:
                raise CollectionError(
                    f"the account of {USERNAME} wants a second factor to log in.",
                    hint="Use an account without one, or none.",
                )

        asked = {"username": username, "password": password}
        await self._ask(f"the log-in of {USERNAME}", self._client.login_user, logged_in, asked)

    def close(self) -> None:
        """Close the connections."""
        self._client.session.close()

    def _keep(self, response: Response, **_: object) -> None:
        self._response = response

    async def _ask(
        self, what: str, method: Callable[..., object], read: Callable[[Response], T], asked: Mapping[str, Any]
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

        async def once() -> T:
            await self._limiter.acquire()
            self.requests += 1
            return await asyncio.to_thread(self._once, what, method, read, asked)

        async with stop.call():
            return await tries(once)

    def _once(self, what: str, method: Callable[..., object], read: Callable[[Response], T], asked: Any) -> T:
        from openreview import OpenReviewException
        from requests import RequestException
        from requests.exceptions import JSONDecodeError

        self._response = None
        try:
            method(**asked)
        except (OpenReviewException, JSONDecodeError, AttributeError, KeyError, TypeError):
            pass  # what the client makes of an answer is not used; the answer is judged below
        except RequestException as error:
            raise _Failed(
                f"{self._client.baseurl} did not give {what}: {_reason(error)}.",
                hint=f"Check the network. {_KEPT}",
            ) from error
        response = self._response
        assert response is not None, "an answer without an error of the connection was kept"
        self._judge(what, response)
        return read(response)

    def _judge(self, what: str, response: Response) -> None:
        """Raise where the answer is not what was asked for."""
        status, said = response.status_code, _said(response)
        if status in _AGAIN:
            failed = _Failed(f"OpenReview answered {what} with status {status}: {said}.", hint=_KEPT)
            failed.wait_s = _named_pause_s(response, said)
            raise failed
        refusal = f"OpenReview refused {what} (status {status}): {said}."
        if _is_page(response):
            raise CollectionError(refusal, hint=self._way_in(what, _ACCOUNT))
        if status >= 400:
            kind = NotThere if status == 404 or "notfound" in said.lower().replace(" ", "") else Refused
            raise kind(refusal, hint=self._way_in(what, _ACCOUNT if status in (401, 403) else _UNSEEN))

    def _way_in(self, what: str, anonymous: str) -> str:
        """The next step after a refusal: what it is for who asks anonymously, else to look at the account."""
        return _CHECK if "log-in" in what or self._client.token else anonymous

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
        MissingExtra: openreview-py is not installed.
        SettingsError: Only one of the two variables is set, or the address is that of the other API.
        CollectionError: As ``log_in``, or OpenReview cannot be reached.
    """
    check_access(settings)
    opened = OpenReview(_client(api, settings), api, settings, progress)
    if os.environ.get(USERNAME):
        await opened.log_in(os.environ[USERNAME], os.environ[PASSWORD])
    return opened


def check_access(settings: CollectSettings) -> None:
    """See that openreview-py is there, and a log-in complete and for OpenReview, before a folder is made.

    Raises:
        MissingExtra: It is not installed.
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
    try:
        import openreview  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "collecting from OpenReview needs the package 'openreview-py', which is not installed.",
            hint="Run `pip install 'referee[openreview]'`.",
        ) from error


def _may_log_in(address: str) -> bool:
    parts = urlsplit(address)
    host = parts.hostname or ""
    own = host == "openreview.net" or host.endswith(".openreview.net")
    return (own and parts.scheme == "https") or host in ("127.0.0.1", "::1", "localhost")


def _client(api: Literal[1, 2], settings: CollectSettings) -> Any:
    """A client that nobody is logged in to, whose requests are tried once and end in time."""
    from openreview import Client, OpenReviewException
    from openreview.api import OpenReviewClient

    address = settings.api_v1 if api == 1 else settings.api_v2
    try:
        # With any token the constructor logs nobody in: it would do so at once, with retries of its own.
        client = (Client if api == 1 else OpenReviewClient)(baseurl=address, token="none")  # noqa: S106
    except OpenReviewException as error:
        raise SettingsError(
            f"{address!r} is not where API v{api} of OpenReview answers.", hint=f"Correct collect.api_v{api}."
        ) from error
    client.token = None
    del client.headers["Authorization"]
    if api == 1:
        client.baseurl_v2 = settings.api_v2  # where it logs in
    for scheme in ("http://", "https://"):
        client.session.mount(scheme, _adapter(settings.timeout_s))
    return client


def _adapter(timeout_s: float) -> Any:
    from requests.adapters import HTTPAdapter

    adapter = HTTPAdapter(max_retries=0)
    send = adapter.send

    def bounded(request: Any, **options: Any) -> Any:
        return send(request, **{**options, "timeout": (min(_CONNECT_S, timeout_s), timeout_s)})

    adapter.send = bounded  # type: ignore[assignment,method-assign]
    return adapter


def _page(response: Response) -> Page:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise _Failed("OpenReview's answer is no whole JSON.", hint=_KEPT) from error
    notes = body.get("notes") if isinstance(body, dict) else None
    if not isinstance(notes, list) or not all(isinstance(n, dict) and isinstance(n.get("id"), str) for n in notes):
        raise CollectionError(
            "OpenReview answered in a form that is not its own: no list of notes with ids.",
            hint="Check collect.api_v1 and collect.api_v2; what was collected is kept.",
        )
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


def _is_page(response: Response) -> bool:
    return "text/html" in response.headers.get("Content-Type", "")


def _said(response: Response) -> str:
    """The error's own words on one line, without what it may repeat of a log-in."""
    if _is_page(response):
        return "a web page came, as for people"
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.reason or "no reason given"
    named = [str(body[key]) for key in ("name", "message") if body.get(key)] if isinstance(body, dict) else []
    return scrub(" ".join(": ".join(named).split())).rstrip(".")[:300] or response.reason or "no reason given"


def _named_pause_s(response: Response, said: str) -> float | None:
    """Seconds until another try is welcome: by the header, else by the words of the message; None where none say."""
    header = response.headers.get("Retry-After", "").strip()
    if header.isdecimal():
        return float(header)
    if header:
        try:
            return max(0.0, parsedate_to_datetime(header).timestamp() - datetime.now(UTC).timestamp())
        except (TypeError, ValueError):
            pass
    found = _IN_WORDS.search(said)
    if found is None or not (found[1] or found[2]):
        return None
    return 60.0 * int(found[1] or 0) + int(found[2] or 0)


def _reason(error: Exception) -> str:
    """Why there is no answer, in words: those of the libraries repeat the whole request."""
    from requests import exceptions

    if isinstance(error, exceptions.Timeout):
        return "no answer came in time"
    if isinstance(error, exceptions.ChunkedEncodingError | exceptions.ContentDecodingError):
        return "the answer broke off"
    if isinstance(error, exceptions.ConnectionError):
        return "there is no connection, or it was cut"
    return type(error).__name__
