"""Logging for the command line: to stderr, with keys removed whatever a library logs, warns of or raises."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType
from typing import Any


class _ScrubbingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from referee.secrets import scrub

        return scrub(super().format(record))


class _ToStderr(logging.StreamHandler[Any]):
    """Writes to what stderr is at that moment: a living line there makes way for it."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, given: Any) -> None:
        """It is always the current one."""


def configure(verbose: int) -> None:
    """Warnings by default, more with ``-v``. Debug is for our own loggers: the SDKs log whole requests there."""
    handler = _ToStderr()
    handler.setFormatter(_ScrubbingFormatter("%(levelname)s %(name)s: %(message)s"))
    own = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("referee").setLevel(own)
    sys.excepthook = _print_scrubbed
    threading.excepthook = lambda failed: _print_scrubbed(failed.exc_type, failed.exc_value, failed.exc_traceback)
    # It warns about every proxy variable, also where our own connections decide.
    logging.getLogger("langchain_openai").setLevel(logging.ERROR)


def _print_scrubbed(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """Print what nobody caught as Python would, without keys: a message may hold the header that could not be sent."""
    from referee.secrets import scrub

    print(scrub("".join(traceback.format_exception(kind, error, trace))), end="", file=sys.stderr, flush=True)
