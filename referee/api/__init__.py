"""The public functions, with the command line's defaults. Each is loaded with what it needs when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api.arena.calibrating import Calibration, arena_calibrate
    from referee.api.arena.running import ArenaRun, arena_run
    from referee.api.arena.scoring import ArenaScoring, arena_score
    from referee.api.batches import run_batches
    from referee.api.checked_references import ReferenceCheck, references
    from referee.api.collecting import Collection, collect_openreview
    from referee.api.detection.anchors import Anchors, detect_anchors
    from referee.api.detection.calibrating import DetectCalibration, detect_calibrate
    from referee.api.detection.checking import DetectCheck, detect_check
    from referee.api.detection.evaluating import DetectEvaluation, detect_evaluate
    from referee.api.detection.generating import Generated, detect_generate, generation_prompts
    from referee.api.detection.generation import Generation
    from referee.api.detection.scoring import DetectScoring, detect_score, estimate_detect_score
    from referee.api.evaluations.evaluating import Evaluation, evaluate
    from referee.api.evaluations.rescoring import Rescoring, rescore
    from referee.api.experiments.running import Experiment, estimate_experiment, experiment
    from referee.api.merging import Merged, check_merge, merge
    from referee.api.opening import report_of
    from referee.api.options import RunOptions
    from referee.api.planting import Planted, plant
    from referee.api.profiles.profiling import Profile, profile
    from referee.api.reviewing import review
    from referee.api.venues.compiling import Compiled, compile_venue
    from referee.api.venues.measuring import refine_by_objective
    from referee.api.venues.refining import refine_prompts
    from referee.api.verifying import Verification, verify
    from referee.llm.batches.looking import SeenBatch
    from referee.papers import load_paper
    from referee.schemas.estimate import ExperimentEstimate, ReviewEstimate
    from referee.venues import load_venue

__all__ = [
    "Anchors",
    "ArenaRun",
    "ArenaScoring",
    "Calibration",
    "Collection",
    "Compiled",
    "DetectCalibration",
    "DetectCheck",
    "DetectEvaluation",
    "DetectScoring",
    "Evaluation",
    "Experiment",
    "ExperimentEstimate",
    "Generated",
    "Generation",
    "Merged",
    "Planted",
    "Profile",
    "ReferenceCheck",
    "Rescoring",
    "ReviewEstimate",
    "RunOptions",
    "SeenBatch",
    "Verification",
    "arena_calibrate",
    "arena_run",
    "arena_score",
    "check_merge",
    "collect_openreview",
    "compile_venue",
    "detect_anchors",
    "detect_calibrate",
    "detect_check",
    "detect_evaluate",
    "detect_generate",
    "detect_score",
    "estimate_detect_score",
    "estimate_experiment",
    "evaluate",
    "experiment",
    "generation_prompts",
    "load_paper",
    "load_venue",
    "merge",
    "plant",
    "profile",
    "references",
    "refine_by_objective",
    "refine_prompts",
    "report_of",
    "rescore",
    "review",
    "run_batches",
    "verify",
]

_PLACES = {
    "Merged": "referee.api.merging",
    "check_merge": "referee.api.merging",
    "merge": "referee.api.merging",
    "report_of": "referee.api.opening",
    "Anchors": "referee.api.detection.anchors",
    "Generated": "referee.api.detection.generating",
    "Generation": "referee.api.detection.generation",
    "detect_anchors": "referee.api.detection.anchors",
    "detect_generate": "referee.api.detection.generating",
    "generation_prompts": "referee.api.detection.generating",
    "ArenaRun": "referee.api.arena.running",
    "ArenaScoring": "referee.api.arena.scoring",
    "Calibration": "referee.api.arena.calibrating",
    "Collection": "referee.api.collecting",
    "Compiled": "referee.api.venues.compiling",
    "DetectCalibration": "referee.api.detection.calibrating",
    "DetectCheck": "referee.api.detection.checking",
    "DetectEvaluation": "referee.api.detection.evaluating",
    "DetectScoring": "referee.api.detection.scoring",
    "Evaluation": "referee.api.evaluations.evaluating",
    "Experiment": "referee.api.experiments.running",
    "ExperimentEstimate": "referee.schemas.estimate",
    "ReviewEstimate": "referee.schemas.estimate",
    "Profile": "referee.api.profiles.profiling",
    "ReferenceCheck": "referee.api.checked_references",
    "references": "referee.api.checked_references",
    "Rescoring": "referee.api.evaluations.rescoring",
    "RunOptions": "referee.api.options",
    "SeenBatch": "referee.llm.batches.looking",
    "arena_calibrate": "referee.api.arena.calibrating",
    "arena_run": "referee.api.arena.running",
    "arena_score": "referee.api.arena.scoring",
    "collect_openreview": "referee.api.collecting",
    "compile_venue": "referee.api.venues.compiling",
    "detect_calibrate": "referee.api.detection.calibrating",
    "detect_check": "referee.api.detection.checking",
    "detect_evaluate": "referee.api.detection.evaluating",
    "detect_score": "referee.api.detection.scoring",
    "estimate_detect_score": "referee.api.detection.scoring",
    "estimate_experiment": "referee.api.experiments.running",
    "evaluate": "referee.api.evaluations.evaluating",
    "experiment": "referee.api.experiments.running",
    "load_paper": "referee.papers",
    "load_venue": "referee.venues",
    "Planted": "referee.api.planting",
    "plant": "referee.api.planting",
    "profile": "referee.api.profiles.profiling",
    "refine_by_objective": "referee.api.venues.measuring",
    "refine_prompts": "referee.api.venues.refining",
    "rescore": "referee.api.evaluations.rescoring",
    "review": "referee.api.reviewing",
    "run_batches": "referee.api.batches",
    "Verification": "referee.api.verifying",
    "verify": "referee.api.verifying",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
