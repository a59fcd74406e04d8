"""The public functions, with the command line's defaults."""

from referee.api.job import Plan
from referee.api.reviewing import review
from referee.papers import load_paper
from referee.venues import load_venue

__all__ = ["Plan", "load_paper", "load_venue", "review"]
