"""The public functions, with the command line's defaults."""

from referee.api.compiling import Compiled, compile_venue
from referee.api.eval_run import Evaluation
from referee.api.evaluating import evaluate
from referee.api.job import Plan
from referee.api.refining import refine_prompts
from referee.api.rescoring import Rescoring, rescore
from referee.api.reviewing import review
from referee.papers import load_paper
from referee.venues import load_venue

__all__ = [
    "Compiled",
    "Evaluation",
    "Plan",
    "Rescoring",
    "compile_venue",
    "evaluate",
    "load_paper",
    "load_venue",
    "refine_prompts",
    "rescore",
    "review",
]
