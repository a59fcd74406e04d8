"""Papers in: a file, an arXiv id or a web address to the one ``Paper`` that the rest of the package reads.

What fetches from the network is loaded when it is first used: a process that only reads a file needs none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from referee.papers.load import SUPPORTED, load_paper

if TYPE_CHECKING:
    from referee.papers.remote import fetch_paper, remote_name

__all__ = ["SUPPORTED", "fetch_paper", "load_paper", "remote_name"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("referee.papers.remote"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
