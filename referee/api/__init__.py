"""The public functions, with the command line's defaults."""

from referee.api.compiling import Compiled, compile_venue
from referee.api.eval_run import Evaluation
from referee.api.evaluating import evaluate
from referee.api.experiment_estimate import ExperimentEstimate
from referee.api.experimenting import Experiment, estimate_experiment, experiment
from referee.api.job import Plan
from referee.api.refining import refine_prompts
from referee.api.rescoring import Rescoring, rescore
from referee.api.reviewing import review
from referee.papers import load_paper
from referee.venues import load_venue

__all__ = [
    "Compiled",
    "Evaluation",
    "Experiment",
    "ExperimentEstimate",
    "Plan",
    "Rescoring",
    "compile_venue",
    "estimate_experiment",
    "evaluate",
    "experiment",
    "load_paper",
    "load_venue",
    "refine_prompts",
    "rescore",
    "review",
]
