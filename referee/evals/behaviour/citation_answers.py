"""What bibliographic services answer, read with care: bodies, waits, limits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from referee.evals.behaviour.citation_check import Record, Unresolved
from referee.evals.behaviour.citation_sources import Source

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
