"""The public functions, with the command line's defaults. Each is loaded with what it needs when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api.arena_calibrating import Calibration, arena_calibrate
    from referee.api.arena_running import ArenaRun, arena_run
    from referee.api.arena_scoring import ArenaScoring, arena_score
    from referee.api.compiling import Compiled, compile_venue
    from referee.api.evaluating import Evaluation, evaluate
    from referee.api.experimenting import Experiment, estimate_experiment, experiment
    from referee.api.options import RunOptions
    from referee.api.profiling import Profile, profile
    from referee.api.refining import refine_prompts
    from referee.api.rescoring import Rescoring, rescore
    from referee.api.reviewing import review
    from referee.papers import load_paper
    from referee.schemas.estimate import ExperimentEstimate, ReviewEstimate
    from referee.venues import load_venue

__all__ = [
    "ArenaRun",
    "ArenaScoring",
    "Calibration",
    "Compiled",
    "Evaluation",
    "Experiment",
    "ExperimentEstimate",
    "Profile",
    "Rescoring",
    "ReviewEstimate",
    "RunOptions",
    "arena_calibrate",
    "arena_run",
    "arena_score",
    "compile_venue",
    "estimate_experiment",
    "evaluate",
    "experiment",
    "load_paper",
    "load_venue",
    "profile",
    "refine_prompts",
    "rescore",
    "review",
]

_PLACES = {
    "ArenaRun": "referee.api.arena_running",
    "ArenaScoring": "referee.api.arena_scoring",
    "Calibration": "referee.api.arena_calibrating",
    "Compiled": "referee.api.compiling",
    "Evaluation": "referee.api.evaluating",
    "Experiment": "referee.api.experimenting",
    "ExperimentEstimate": "referee.schemas.estimate",
    "ReviewEstimate": "referee.schemas.estimate",
    "Profile": "referee.api.profiling",
    "Rescoring": "referee.api.rescoring",
    "RunOptions": "referee.api.options",
    "arena_calibrate": "referee.api.arena_calibrating",
    "arena_run": "referee.api.arena_running",
    "arena_score": "referee.api.arena_scoring",
    "compile_venue": "referee.api.compiling",
    "estimate_experiment": "referee.api.experimenting",
    "evaluate": "referee.api.evaluating",
    "experiment": "referee.api.experimenting",
    "load_paper": "referee.papers",
    "load_venue": "referee.venues",
    "profile": "referee.api.profiling",
    "refine_prompts": "referee.api.refining",
    "rescore": "referee.api.rescoring",
    "review": "referee.api.reviewing",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
