"""The cache across runs: one small file per reply, named by the request's digest."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.runs.files import write_atomically
from referee.schemas.usage import Usage

logger = logging.getLogger(__name__)


class _Entry(BaseModel):
    """What a file holds: a reply as it was accepted, with the tokens it once cost.

    ``seal`` binds the reply to its request, so that no damage can pass for a reply.
    """

    model_config = ConfigDict(extra="forbid")

    reply: str
    input_tokens: int
    output_tokens: int
    seal: str


class ReplyCache:
    """Replies under the user's cache folder. A damaged entry is a miss; an unwritable folder is said once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writable = True

    def get(self, request: str) -> str | None:
        """The reply to this very request, if there is one."""
        path = self._path(request)
        try:
            entry = _Entry.model_validate_json(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            logger.info("cache entry %s is not usable (%s) and counts as absent", path, type(error).__name__)
            return None
        if entry.seal != _seal(request, entry.reply, entry.input_tokens, entry.output_tokens):
            logger.info("cache entry %s is not what was written for its request and counts as absent", path)
            return None
        return entry.reply

    def put(self, request: str, reply: str, used: Usage) -> None:
        """Keep a reply."""
        if not self._writable:
            return
        path = self._path(request)
        tokens_in, tokens_out = used.input_tokens, used.output_tokens
        seal = _seal(request, reply, tokens_in, tokens_out)
        entry = _Entry(reply=reply, input_tokens=tokens_in, output_tokens=tokens_out, seal=seal)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, entry.model_dump_json())
        except OSError as error:
            self._writable = False
            logger.warning(
                "the reply cache %s cannot be written (%s); this run goes on without it",
                self._folder,
                error.strerror or error,
            )

    def drop(self, request: str) -> None:
        """Forget a reply."""
        with suppress(OSError):
            self._path(request).unlink(missing_ok=True)

    def _path(self, request: str) -> Path:
        return self._folder / request[:2] / f"{request[2:]}.json"


def _seal(request: str, reply: str, tokens_in: int, tokens_out: int) -> str:
    parts = f"{request}\x00{tokens_in}\x00{tokens_out}\x00{reply}"
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()
