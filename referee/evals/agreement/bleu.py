"""Corpus BLEU by the package sacrebleu, with its interval and the signature that says how it was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from referee.errors import EvaluationError, MissingExtra
from referee.stats import Interval
from referee.stats.intervals import statistic_intervals
from referee.stats.values import Floats

Counts = tuple[int, ...]
"""Of one text: its length, its reference's, matching n-grams of 1 to 4 words, all n-grams of 1 to 4 words."""


@dataclass(frozen=True, slots=True)
class Bleu:
    """``score`` is from 0 to 100, with a 95% interval by text; the brevity penalty is 1 unless texts are too short.

    ``counts`` are of each text, in the order given.
    """

    score: Interval
    brevity_penalty: float
    signature: str
    counts: tuple[Counts, ...]


def corpus_bleu(candidates: Sequence[str], references: Sequence[str], *, seed: int = 0) -> Bleu | None:
    """BLEU of all candidates together, one reference each: n-grams are summed over the corpus, not averaged.

    Returns:
        None without candidates.

    Raises:
        EvaluationError: The lists differ in length.
        MissingExtra: The package is not installed.

    Source: Post, "A Call for Clarity in Reporting BLEU Scores", 2018.
    """
    if len(candidates) != len(references):
        raise EvaluationError(
            f"{len(candidates)} texts do not go with {len(references)} references.", hint="Give one reference each."
        )
    if not candidates:
        return None
    metric = _metric()
    counts = tuple(_counts(metric, *texts) for texts in zip(candidates, references, strict=True))
    score = mean_bleu([{str(number): one for number, one in enumerate(counts)}], seed=seed)
    penalty = float(_score(metric, np.sum(counts, axis=0)).bp)
    return Bleu(score, penalty, str(metric.get_signature()), counts)


def mean_bleu(corpora: Sequence[Mapping[str, Counts]], *, seed: int) -> Interval:
    """The unweighted mean of the BLEU of several corpora (fields), each by paper, with papers drawn whole.

    Raises:
        MissingExtra: The package is not installed.
    """
    metric = _metric()
    papers = sorted({key for corpus in corpora for key in corpus})
    absent = (0,) * 11
    tables = [np.array([(1, *corpus[key]) if key in corpus else absent for key in papers], float) for corpus in corpora]

    def of_draws(drawn: Floats) -> Floats:
        """Each paper has a text in some field, so that each draw has a mean."""
        found = np.stack([_scores(metric, drawn @ table) for table in tables], axis=1)
        means: Floats = np.nanmean(found, axis=1, keepdims=True)
        return means

    if not papers:
        return Interval(None, None, None, 0, 0)
    return statistic_intervals([1] * len(papers), of_draws, seed=seed)[0]


def _scores(metric: Any, sums: Floats) -> Floats:
    """The score of each row, texts drawn and their summed counts; nan where no text was drawn."""
    return np.array([float(_score(metric, row[1:]).score) if row[0] else np.nan for row in sums])


def _score(metric: Any, sums: Floats) -> Any:
    whole = [int(value) for value in sums]
    return metric.compute_bleu(whole[2:6], whole[6:], whole[0], whole[1], metric.smooth_method, effective_order=False)


def _counts(metric: Any, candidate: str, reference: str) -> Counts:
    found = metric.corpus_score([candidate], [[reference]])
    return (int(found.sys_len), int(found.ref_len), *map(int, found.counts), *map(int, found.totals))


def _metric() -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtra(
            "BLEU needs the package 'sacrebleu', which is not installed.",
            hint="Run `pip install 'referee[arena]'`.",
        ) from error
    # The defaults, spelled out: the signature is nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp. Without ``force`` the
    # package would warn of texts that are tokenised already.
    return BLEU(lowercase=False, force=True, tokenize="13a", smooth_method="exp", effective_order=False)
