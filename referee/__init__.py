"""Peer reviews on a venue's own form, and measurements of peer reviews.

The public functions are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api import (
        arena_calibrate,
        arena_run,
        arena_score,
        compile_venue,
        evaluate,
        experiment,
        load_paper,
        load_venue,
        profile,
        refine_prompts,
        rescore,
        review,
    )

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "arena_calibrate",
    "arena_run",
    "arena_score",
    "compile_venue",
    "evaluate",
    "experiment",
    "load_paper",
    "load_venue",
    "profile",
    "refine_prompts",
    "rescore",
    "review",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("referee.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
