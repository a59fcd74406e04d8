"""BERTScore-F1 where its package is installed; nothing else goes under this name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import EvaluationError, MissingExtra

MODEL = "roberta-large"
LAYER = 17
MOST_TOKENS = 512
ABSENT = "the package 'bert-score' is not installed"


@dataclass(frozen=True, slots=True)
class BertScore:
    """``f1`` is the mean over texts, without baseline rescaling; ``truncated`` the share of texts that were cut.

    A text is cut where it or its reference has more than 512 tokens of the model.
    """

    f1: float
    truncated: float
    model: str = f"{MODEL}, layer {LAYER}, no idf, not rescaled"


def bert_score_installed() -> bool:
    """Whether the package can be imported."""
    return importlib.util.find_spec("bert_score") is not None


def bert_score(candidates: Sequence[str], references: Sequence[str]) -> BertScore | None:
    """The mean F1 of candidates against one reference each; the model may be downloaded first.

    Returns:
        None without candidates.

    Raises:
        EvaluationError: The lists differ in length.
        MissingExtra: The package is not installed.

    Source: Zhang et al., "BERTScore: Evaluating Text Generation with BERT", 2020.
    """
    if len(candidates) != len(references):
        raise EvaluationError(
            f"{len(candidates)} texts do not go with {len(references)} references.", hint="Give one reference each."
        )
    try:
        package = importlib.import_module("bert_score")
    except ImportError as error:
        raise MissingExtra(f"BERTScore cannot be computed: {ABSENT}.", hint="Run `pip install bert-score`.") from error
    if not candidates:
        return None
    scorer = package.BERTScorer(model_type=MODEL, num_layers=LAYER, idf=False, rescale_with_baseline=False)
    _, _, f1 = scorer.score(list(candidates), list(references))
    cut = [
        max(len(scorer._tokenizer.encode(text)) for text in pair) > MOST_TOKENS
        for pair in zip(candidates, references, strict=True)
    ]
    return BertScore(float(f1.mean()), sum(cut) / len(cut))
