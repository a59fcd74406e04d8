"""The call log of the fake server: what was asked, when, how much at once, and how it ended."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TextIO

from tests.support.request import ChatRequest

PENDING = "pending"
OK = "ok"


@dataclass
class CallEntry:
    """One call.

    Attributes:
        index: Order of arrival, from 0.
        at: Arrival, in seconds since the epoch.
        endpoint: ``chat``, ``messages``, ``generateContent`` or ``embeddings``.
        role: See ``ChatRequest.role``.
        prompt_id: See ``ChatRequest.prompt_id``.
        model: The model id the client named.
        digest: sha-256 of model, messages, schema and parameters: equal for a repeated call.
        in_flight: Calls in progress at arrival, this one included.
        started_s: Arrival, in seconds since the server started.
        finished_s: When the reply was ready, just before it was sent; null while pending.
        status: HTTP status; null while pending and where none was sent.
        input_tokens: Words in the messages (or in the texts to embed).
        output_tokens: Words in the reply; 0 unless the reply was sent with status 200.
        streamed: Whether the reply was sent as server-sent events. ``finished_s`` is then when it began.
        cached_tokens: Words of the messages that came from the cache of prompts.
        cache_write_tokens: Words that were written to it (Anthropic's format).
        outcome: ``pending``, ``ok``, a fault's kind, ``unauthorized``, ``script_exhausted``, ``script_error``,
            ``client_left`` (the client was gone before its reply was ready) or ``server_closed``.
        request: The request itself. It is not written to the file.
    """

    index: int
    at: float
    endpoint: str
    role: str
    prompt_id: str
    model: str
    digest: str
    in_flight: int
    started_s: float
    input_tokens: int
    outcome: str = PENDING
    finished_s: float | None = None
    status: int | None = None
    output_tokens: int = 0
    streamed: bool = False
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    request: ChatRequest | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, object]:
        """The entry as JSON data, without the request's text."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "request"}


class CallLog:
    """All calls of one server, in order of arrival.

    Args:
        path: Also append every finished call to this file as one JSON line, flushed before the reply is sent.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.entries: list[CallEntry] = []
        self.in_flight = 0
        self.peak_in_flight = 0
        self._began = time.monotonic()
        self._file: TextIO | None = path.open("a", encoding="utf-8") if path else None

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[CallEntry]:
        return iter(list(self.entries))

    def calls(
        self, *, role: str | None = None, outcome: str | None = None, endpoint: str | None = None
    ) -> list[CallEntry]:
        """The entries with this role, outcome and endpoint; all by default."""
        return [
            entry
            for entry in self
            if role in (None, entry.role) and outcome in (None, entry.outcome) and endpoint in (None, entry.endpoint)
        ]

    def outcomes(self) -> Counter[str]:
        """How many calls ended how."""
        return Counter(entry.outcome for entry in self)

    def repeated(self) -> list[str]:
        """Digests that were answered with ``ok`` more than once: calls that would have been paid twice."""
        counts = Counter(entry.digest for entry in self.calls(outcome=OK))
        return [digest for digest, count in counts.items() if count > 1]

    def start(self, endpoint: str, request: ChatRequest) -> CallEntry:
        """Record the arrival of a call."""
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        entry = CallEntry(
            index=len(self.entries),
            at=time.time(),
            endpoint=endpoint,
            role=request.role,
            prompt_id=request.prompt_id,
            model=request.model,
            digest=request.digest,
            in_flight=self.in_flight,
            started_s=time.monotonic() - self._began,
            input_tokens=count_words(request.text),
            request=request,
        )
        self.entries.append(entry)
        return entry

    def finish(self, entry: CallEntry, outcome: str, status: int | None, output_tokens: int = 0) -> None:
        """Record how a call ended, once; what comes later for the same entry is ignored."""
        if entry.finished_s is not None:
            return
        self.in_flight -= 1
        entry.outcome, entry.status, entry.output_tokens = outcome, status, output_tokens
        entry.finished_s = time.monotonic() - self._began
        if self._file is not None:
            self._file.write(json.dumps(entry.as_dict(), ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file, if there is one; the entries stay."""
        if self._file is not None:
            self._file.close()
            self._file = None


def count_words(text: str) -> int:
    """The server's stand-in for a token count."""
    return len(text.split())
