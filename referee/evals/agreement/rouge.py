"""ROUGE-1, ROUGE-2 and ROUGE-L by the package rouge-score, with Porter stemming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from referee.errors import MissingExtra
from referee.stats import Interval, bootstrap_interval

_KINDS = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, slots=True)
class Rouge:
    """F1 of unigrams, bigrams and the longest common subsequence over the whole string; each in [0, 1]."""

    rouge1: float
    rouge2: float
    rouge_l: float


@dataclass(frozen=True, slots=True)
class RougeMeans:
    """Means of the three scores over papers, with 95% intervals by paper."""

    rouge1: Interval
    rouge2: Interval
    rouge_l: Interval


def rouge(candidate: str, reference: str) -> Rouge:
    """The scores of a text against another; 0 where one of them has no word.

    Raises:
        MissingExtra: The package is not installed.

    Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004.
    """
    scores = _scorer().score(reference, candidate)
    return Rouge(*(float(scores[kind].fmeasure) for kind in _KINDS))


def mean_rouge(scores: Sequence[Rouge]) -> Rouge | None:
    """The mean of each score; None without any."""
    n = len(scores)
    if not n:
        return None
    return Rouge(
        sum(s.rouge1 for s in scores) / n, sum(s.rouge2 for s in scores) / n, sum(s.rouge_l for s in scores) / n
    )


def rouge_means(by_paper: Mapping[str, Rouge], *, seed: int) -> RougeMeans | None:
    """The mean of each score with its interval; None without papers."""
    if not by_paper:
        return None
    columns = ("rouge1", "rouge2", "rouge_l")
    return RougeMeans(
        *(
            bootstrap_interval({key: [getattr(one, column)] for key, one in by_paper.items()}, seed=seed)
            for column in columns
        )
    )


def best_rouge(scores: Sequence[Rouge]) -> Rouge | None:
    """The highest of each score, whichever text it belongs to; None without any."""
    if not scores:
        return None
    return Rouge(max(s.rouge1 for s in scores), max(s.rouge2 for s in scores), max(s.rouge_l for s in scores))


@cache
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtra(
            "ROUGE needs the package 'rouge-score', which is not installed.",
            hint="Run `pip install 'referee[arena]'`.",
        ) from error
    return RougeScorer(list(_KINDS), use_stemmer=True)
