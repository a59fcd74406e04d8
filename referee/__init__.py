"""Peer reviews on a venue's own form, and measurements of peer reviews.

The public functions are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from referee.version import VERSION

if TYPE_CHECKING:
    from referee.api import (
        Generation,
        RunOptions,
        arena_calibrate,
        arena_run,
        arena_score,
        collect_openreview,
        compile_venue,
        detect_anchors,
        detect_calibrate,
        detect_check,
        detect_evaluate,
        detect_generate,
        detect_score,
        evaluate,
        experiment,
        load_paper,
        load_venue,
        merge,
        plant,
        profile,
        references,
        refine_by_objective,
        refine_prompts,
        rescore,
        review,
        verify,
    )
    from referee.api.blocking import (
        arena_run_sync,
        collect_openreview_sync,
        compile_venue_sync,
        detect_anchors_sync,
        detect_check_sync,
        detect_generate_sync,
        detect_score_sync,
        evaluate_sync,
        experiment_sync,
        plant_sync,
        profile_sync,
        references_sync,
        refine_by_objective_sync,
        refine_prompts_sync,
        review_sync,
    )

__version__ = VERSION

__all__ = [
    "Generation",
    "RunOptions",
    "__version__",
    "arena_calibrate",
    "arena_run",
    "arena_run_sync",
    "arena_score",
    "collect_openreview",
    "collect_openreview_sync",
    "compile_venue",
    "compile_venue_sync",
    "detect_anchors",
    "detect_anchors_sync",
    "detect_calibrate",
    "detect_check",
    "detect_check_sync",
    "detect_evaluate",
    "detect_generate",
    "detect_generate_sync",
    "detect_score",
    "detect_score_sync",
    "evaluate",
    "evaluate_sync",
    "experiment",
    "experiment_sync",
    "load_paper",
    "load_venue",
    "merge",
    "plant",
    "plant_sync",
    "profile",
    "profile_sync",
    "references",
    "references_sync",
    "refine_by_objective",
    "refine_by_objective_sync",
    "refine_prompts",
    "refine_prompts_sync",
    "rescore",
    "review",
    "review_sync",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        room = "referee.api.blocking" if name.endswith("_sync") else "referee.api"
        return getattr(import_module(room), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
