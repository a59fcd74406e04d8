"""Uploads: bounded in size and time while they come in, and in place only when they are whole."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

_FIELDS_BYTES = 64 * 1024
_PAUSE_S = 30.0
_WHOLE_S = 600.0


def bounded(request: Request, most_bytes: int) -> Request:
    """The request with a body that may be so long, may pause for half a minute and last ten.

    Reading it raises ``HTTPException`` with 413 or 408 where it is more.
    """
    most = most_bytes + _FIELDS_BYTES
    told = request.headers.get("content-length", "")
    if told.isdigit() and int(told) > most:
        raise _too_long(most_bytes)
    deadline, seen = time.monotonic() + _WHOLE_S, 0

    async def receive() -> Message:
        nonlocal seen
        try:
            message = await asyncio.wait_for(request.receive(), min(_PAUSE_S, max(deadline - time.monotonic(), 0.0)))
        except TimeoutError:
            raise HTTPException(408, "The upload stopped in the middle. Nothing was kept; send it again.") from None
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_long(most_bytes)
        return message

    return Request(request.scope, receive)


async def keep(upload: UploadFile, place: Path) -> None:
    """Put an upload that is here whole into its place."""

    def copy() -> None:
        with place.open("wb") as file:
            shutil.copyfileobj(upload.file, file, 2**20)

    await asyncio.to_thread(copy)


def _too_long(most_bytes: int) -> HTTPException:
    return HTTPException(413, f"The file is larger than {most_bytes / 2**20:,.0f} MB (setting paper.max_bytes).")
