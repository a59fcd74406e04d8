"""The cache across runs: one small file per reply, named by the request's digest."""

from __future__ import annotations

import logging
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.runs.files import write_atomically

logger = logging.getLogger(__name__)


class CachedReply(BaseModel):
    """A reply as it was accepted, with the tokens it once cost."""

    model_config = ConfigDict(extra="forbid")

    reply: str
    input_tokens: int
    output_tokens: int


class ReplyCache:
    """Replies under the user's cache folder. A damaged entry is a miss; an unwritable folder is said once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writable = True

    def get(self, request: str) -> CachedReply | None:
        """The reply to this very request, if there is one."""
        try:
            return CachedReply.model_validate_json(self._path(request).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            logger.warning("cache entry %s is not usable and counts as a miss: %s", request[:12], error)
            return None

    def put(self, request: str, entry: CachedReply) -> None:
        """Keep a reply."""
        if not self._writable:
            return
        path = self._path(request)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, entry.model_dump_json())
        except OSError as error:
            self._writable = False
            logger.warning("the reply cache %s cannot be written, this run goes on without it: %s", self._folder, error)

    def _path(self, request: str) -> Path:
        return self._folder / request[:2] / f"{request[2:]}.json"
