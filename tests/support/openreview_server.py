"""A local server that stands in for OpenReview's two APIs: pages of notes, files, the log-in, and what goes wrong."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

Note = dict[str, Any]
FaultKind = Literal[
    "status",  # an error of this status, in the API's own form
    "truncated",  # status 200, and JSON that ends in the middle
    "cut",  # the connection ends in the middle of the body
    "drop",  # the connection ends without a byte
    "silent",  # half a second of nothing, then the same
    "challenge",  # sent on to a web page that asks for a person
    "bare",  # notes without their replies
]


@dataclass(frozen=True)
class PageFault:
    """What goes wrong with some requests of a path.

    Attributes:
        kind: See ``FaultKind``.
        calls: Which of the path's requests, counted from 0; all where it is empty.
        path: ``/notes``, ``/attachment``, ``/login`` and so on.
        status: Of ``status``.
        retry_after: The header, where there is to be one.
        message: The error's words.
    """

    kind: FaultKind
    calls: tuple[int, ...] = (0,)
    path: str = "/notes"
    status: int = 500
    retry_after: str | None = None
    message: str = "Something went wrong"


@dataclass(frozen=True)
class Asked:
    """One request: its path, its parameters, and whether a log-in's token came with it."""

    path: str
    query: Mapping[str, str]
    has_token: bool


class FakeOpenReview:
    """Serves forums as API v1 and v2 do, on 127.0.0.1, from ``with FakeOpenReview(forums) as server``.

    ``GET /notes`` (``invitation``, ``id`` or ``forum``, with ``after``, ``limit``, ``count`` and ``details=replies``),
    ``/groups`` and ``/invitations`` by id, ``/attachment`` (``id``, or ``ids`` as a zip), ``/pdf``, ``POST /login``.

    Args:
        forums: Submissions with their replies in ``details``, as the API gives them. The server does not change them.
        pdfs: The files by forum id.
        faults: What goes wrong; the first that applies decides.
        page: Notes that a page holds at most, whatever limit is asked for.
        account: The only user name and password that may log in.
        private: Whether nobody is answered without having logged in.
        before: Called with this server before a request for notes, by its number from 0: what changes meanwhile.

    Attributes:
        forums: Those it serves now, by id.
        asked: The requests so far.
    """

    TOKEN = "a-token-of-the-fake"

    def __init__(
        self,
        forums: Iterable[Note] = (),
        *,
        pdfs: Mapping[str, bytes] | None = None,
        faults: Iterable[PageFault] = (),
        page: int = 1000,
        account: tuple[str, str] = ("somebody@example.org", "a-password"),
        private: bool = False,
        before: Mapping[int, Callable[[FakeOpenReview], object]] | None = None,
    ) -> None:
        self.forums: dict[str, Note] = {note["id"]: note for note in forums}
        self.pdfs = dict(pdfs or {})
        self.asked: list[Asked] = []
        self._faults, self._page, self._account, self._private = tuple(faults), page, account, private
        self._before, self._calls = dict(before or {}), Counter[str]()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), name="fake-openreview", daemon=True
        )

    @property
    def url(self) -> str:
        """The address of both APIs."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeOpenReview:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fault(self, path: str) -> PageFault | None:
        """What goes wrong with this request, which is counted."""
        number = self._calls[path]
        self._calls[path] += 1
        if path == "/notes" and number in self._before:
            self._before[number](self)
        applies = (one for one in self._faults if one.path == path and (not one.calls or number in one.calls))
        return next(applies, None)

    def answer(self, method: str, path: str, query: Mapping[str, str], body: bytes, token: str) -> _Answer:
        """What the API answers where nothing goes wrong."""
        if method == "POST" and path == "/login":
            return self._login(json.loads(body or b"{}"))
        if self._private and token != f"Bearer {self.TOKEN}":
            return _refusal(403, "ForbiddenError", "Please log in")
        if path == "/notes":
            return self._notes(query)
        if path in ("/attachment", "/pdf"):
            return self._files(query)
        if path in ("/groups", "/invitations"):
            return _json(200, {path[1:]: [{"id": query.get("id", "")}], "count": 1})
        return _refusal(404, "NotFoundError", f"{path} was not found")

    def _login(self, given: Mapping[str, Any]) -> _Answer:
        if (given.get("id"), given.get("password")) != self._account:
            return _refusal(400, "LoginError", "Invalid username or password")
        return _json(200, {"token": self.TOKEN, "user": {"id": given["id"], "profile": {"id": "~Some_Body1"}}})

    def _notes(self, query: Mapping[str, str]) -> _Answer:
        wanted, by_id = query.get("invitation"), query.get("id") or query.get("forum")
        listed = sorted((n for n in self.forums.values() if wanted is None or wanted in _invitations(n)), key=_id)
        if wanted is not None and not listed:
            return _refusal(404, "NotFoundError", f"The Invitation {wanted} was not found")
        listed = [note for note in listed if by_id in (None, note["id"])]
        after = query.get("after")
        if after is not None and after not in self.forums:
            return _refusal(404, "NotFoundError", f"The Note {after} was not found")
        rest = [note for note in listed if after is None or note["id"] > after]
        shown = rest[: min(int(query.get("limit", 1000)), self._page)]
        if query.get("details") != "replies":
            shown = [{key: value for key, value in note.items() if key != "details"} for note in shown]
        return _json(200, {"notes": shown, **({"count": len(listed)} if query.get("count") else {})})

    def _files(self, query: Mapping[str, str]) -> _Answer:
        if "ids" in query:
            return _Answer(200, self._archive(query["ids"].split(",")), {"Content-Type": "application/zip"})
        file = self.pdfs.get(query.get("id", ""))
        if file is None:
            return _refusal(404, "NotFoundError", "Attachment was not found")
        return _Answer(200, file, {"Content-Type": "application/pdf"})

    def _archive(self, ids: Sequence[str]) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for forum_id in ids:
                if forum_id in self.pdfs:
                    archive.writestr(f"{self.forums[forum_id]['number']}_pdf.pdf", self.pdfs[forum_id])
        return packed.getvalue()


@dataclass(frozen=True)
class _Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that leave."""


def _handler(server: FakeOpenReview) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: the second of two waits for the client's delayed word

        def do_GET(self) -> None:
            self._respond()

        def do_POST(self) -> None:
            self._respond()

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _respond(self) -> None:
            url = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(url.query).items()}
            body, token = (
                self.rfile.read(int(self.headers.get("Content-Length", 0))),
                self.headers.get("Authorization", ""),
            )
            server.asked.append(Asked(url.path, query, bool(token)))
            fault = server.fault(url.path)
            if url.path == "/challenge":
                return self._send(_Answer(200, b"<html>Are you a person?</html>", {"Content-Type": "text/html"}))
            if fault is not None and fault.kind in ("drop", "silent"):
                time.sleep(0.5 if fault.kind == "silent" else 0)
                self.close_connection = True
                return None
            answer = server.answer(self.command, url.path, query, body, token)
            if fault is not None:
                answer = _spoilt(answer, fault)
            return self._send(answer, cut=fault is not None and fault.kind == "cut")

        def _send(self, answer: _Answer, *, cut: bool = False) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) // 2] if cut else answer.body)
            self.close_connection = cut or self.close_connection

    return Handler


def _spoilt(answer: _Answer, fault: PageFault) -> _Answer:
    match fault.kind:
        case "status":
            name = "RateLimitError" if fault.status == 429 else "Error"
            refused = _refusal(fault.status, name, fault.message)
            more = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            return _Answer(refused.status, refused.body, {**refused.headers, **more})
        case "truncated":
            return _Answer(answer.status, answer.body[: len(answer.body) // 2], answer.headers)
        case "challenge":
            return _Answer(302, b"", {"Location": "/challenge"})
        case "bare":
            body = json.loads(answer.body)
            return _json(200, {**body, "notes": [{**note, "details": {}} for note in body["notes"]]})
        case _:
            return answer


def _invitations(note: Note) -> list[str]:
    return [*note.get("invitations", ()), *([note["invitation"]] if "invitation" in note else ())]


def _id(note: Note) -> str:
    return str(note["id"])


def _json(status: int, data: object) -> _Answer:
    return _Answer(status, json.dumps(data).encode(), {"Content-Type": "application/json"})


def _refusal(status: int, name: str, message: str) -> _Answer:
    return _json(status, {"name": name, "message": message, "status": status})
