"""Corpus BLEU by the package sacrebleu, with the signature that says how it was computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import EvaluationError, MissingExtra


@dataclass(frozen=True, slots=True)
class Bleu:
    """``score`` is from 0 to 100; ``brevity_penalty`` is 1 unless the candidates are shorter than the references."""

    score: float
    brevity_penalty: float
    signature: str


def corpus_bleu(candidates: Sequence[str], references: Sequence[str]) -> Bleu | None:
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
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtra(
            "BLEU needs the package 'sacrebleu', which is not installed.",
            hint="Run `pip install 'referee[arena]'`.",
        ) from error
    # The defaults, spelled out: the signature is nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp. Without ``force`` the
    # package would warn of texts that are tokenised already.
    metric = BLEU(lowercase=False, force=True, tokenize="13a", smooth_method="exp", effective_order=False)
    score = metric.corpus_score(list(candidates), [list(references)])
    return Bleu(float(score.score), float(score.bp), str(metric.get_signature()))
