"""Scores of a text against references: ROUGE, corpus BLEU, cosine of TF-IDF vectors, and BERTScore where installed."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from referee.errors import EvaluationError, MissingExtra
from referee.evals.behaviour.text import tokens
from referee.stats import Interval, bootstrap_interval
from referee.stats.intervals import statistic_intervals
from referee.stats.values import Floats

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


NAME = "hash_cosine"
_BUCKETS = 1 << 20


def hash_cosines(candidates: Sequence[str], references: Sequence[str]) -> list[float | None]:
    """The cosine of each candidate with its reference, in [0, 1]; None where one of the two has no words.

    Terms are lower-case words and pairs of neighbours, hashed into 2^20 buckets and weighted by
    tf * (ln((1 + N) / (1 + df)) + 1), with df counted over all texts given. It knows no synonyms and is no BERTScore.
    """
    pairs = [(_terms(a), _terms(b)) for a, b in zip(candidates, references, strict=True)]
    texts = [terms for pair in pairs for terms in pair if terms]
    seen = Counter(term for terms in texts for term in terms)
    weight = {term: math.log((1 + len(texts)) / (1 + count)) + 1 for term, count in seen.items()}
    return [_cosine(a, b, weight) for a, b in pairs]


def _terms(text: str) -> Counter[int]:
    words = tokens(text, "words")
    named = [*words, *(f"{first} {second}" for first, second in pairwise(words))]
    return Counter(crc32(term.encode("utf-8", "surrogatepass")) % _BUCKETS for term in named)


def _cosine(a: Mapping[int, int], b: Mapping[int, int], weight: Mapping[int, float]) -> float | None:
    if not a or not b:
        return None
    small, large = sorted((a, b), key=len)
    dot = math.fsum(count * large[term] * weight[term] ** 2 for term, count in small.items() if term in large)
    return min(1.0, dot / (_norm(a, weight) * _norm(b, weight)))


def _norm(terms: Mapping[int, int], weight: Mapping[int, float]) -> float:
    return math.sqrt(math.fsum((count * weight[term]) ** 2 for term, count in terms.items()))


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
