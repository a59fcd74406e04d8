"""Logging for the command line: to stderr, with keys removed whatever a library logs."""

from __future__ import annotations

import logging
import sys


class _ScrubbingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from referee.llm.secrets import scrub

        return scrub(super().format(record))


def configure(verbose: int) -> None:
    """Warnings by default, more with ``-v``. Debug is for our own loggers: the SDKs log whole requests there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ScrubbingFormatter("%(levelname)s %(name)s: %(message)s"))
    own = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("referee").setLevel(own)
    # It warns about every proxy variable, also where our own connections decide.
    logging.getLogger("langchain_openai").setLevel(logging.ERROR)
