"""DNA-GPT: cut a text in half, let a model write the second half again, and compare.

A model that wrote the text repeats itself: its own continuations share longer runs of words with what stands there.
Black box compares words (n-grams), white box how likely the model finds the two endings.

Source: "DNA-GPT: Divergent N-Gram Analysis for Training-Free Detection of GPT-Generated Text"; the specification's
section 4.5. Ours throughout: the cut is between words, a continuation holds no prefix and is sampled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from referee.errors import MissingExtra
from referee.evals.detection.protocols import LogitsProvider, Statistic, missing, oriented
from referee.evals.detection.token_statistics import token_pass
from referee.evidence.stems import STOPWORDS

REGENERATED = 10
"""K; 30 in the demo."""
TEMPERATURE = 0.7
NEW_TOKENS = 300
MOST_WORDS = 350
SHORTEST_GRAM, LONGEST_GRAM = 4, 25

Variant = Literal["paper", "released"]


def halves(text: str) -> tuple[str, str] | None:
    """The text's first 350 words cut between two words in the middle; None where a half would be empty.

    The second half begins with the blank between the two, as a continuation does.
    """
    words = text.split()[:MOST_WORDS]
    middle = len(words) // 2
    return (" ".join(words[:middle]), " " + " ".join(words[middle:])) if middle else None


def words_of(text: str) -> list[str]:
    """Small letters and digits, without stop words, longer words stemmed.

    Raises:
        MissingExtra: The package whose tokens these are is not installed.

    Source: Porter, "An Algorithm for Suffix Stripping"; the list of stop words is this package's own.
    """
    kept = " ".join(word for word in _tokenizer(False).tokenize(text) if word not in STOPWORDS)
    return [str(word) for word in _tokenizer(True).tokenize(kept)]


def black_box(own: Sequence[str], regenerated: Sequence[Sequence[str]], variant: Variant = "paper") -> Statistic:
    """The weighted share of n-grams of the second half that continuations repeat; higher is AI.

    ``paper``: the mean over continuations R of the sum over n = 4..25 of n ln(n) |grams(S2) and grams(R)| / (|R|
    |grams(S2)|), in which n-grams count as often as they occur; n for which S2 has none are left out. ``released`` is
    what the published demo computes, by which its published cut was set: weights (3n - 2) ln(3n - 2) for n = 2..24,
    divided by the sum of 3n - 2 over those n that share anything.

    Args:
        own: Tokens of the second half, S2.
        regenerated: Tokens of each continuation; those without any count for nothing.
        variant: Which of the two.
    """
    valid = [words for words in regenerated if words]
    lengths = range(SHORTEST_GRAM, LONGEST_GRAM + 1) if variant == "paper" else range(2, LONGEST_GRAM)
    if not valid or len(own) < lengths[0]:
        return missing("too_short")
    of = _paper_overlap if variant == "paper" else _released_overlap
    return oriented(float(np.mean([of(_shares(own, words, lengths)) for words in valid])), 1)


def white_box(own: float, regenerated: Sequence[float]) -> Statistic:
    """Mean log p of the original second half less the mean of those of its continuations; higher is AI."""
    return oriented(own - float(np.mean(regenerated)), 1) if regenerated else missing("too_short")


def ending_log_p(provider: LogitsProvider, prefix: str, ending: str) -> float | None:
    """The mean log p of the tokens of an ending, given its prefix; None where none of them is within the window."""
    before, whole = provider.tokens(prefix), provider.tokens(prefix + ending)
    # A tokenizer may join the ending's first letters to the prefix's last token, which is then the ending's.
    common = next((at for at, pair in enumerate(zip(before, whole, strict=False)) if pair[0] != pair[1]), len(before))
    log_p = token_pass(provider, prefix + ending).log_p[max(common - 1, 0) :]
    return float(log_p.mean()) if log_p.size else None


def _shares(own: Sequence[str], other: Sequence[str], lengths: Sequence[int]) -> dict[int, float]:
    """By n: the n-grams of the first that the second has too, over their number and the second's length."""
    found = {}
    for n in lengths:
        grams = _grams(own, n)
        if grams:
            found[n] = (grams & _grams(other, n)).total() / (len(other) * grams.total())
    return found


def _paper_overlap(shares: dict[int, float]) -> float:
    return math.fsum(n * math.log(n) * share for n, share in shares.items())


def _released_overlap(shares: dict[int, float]) -> float:
    total = math.fsum((3 * n - 2) * math.log(3 * n - 2) * share for n, share in shares.items())
    over = sum(3 * n - 2 for n, share in shares.items() if share)
    return total / over if over else 0.0


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))


@cache
def _tokenizer(stemmed: bool) -> Any:
    try:
        from rouge_score.tokenizers import DefaultTokenizer
    except ImportError as error:
        raise MissingExtra(
            "DNA-GPT needs the package 'rouge-score' for its words, which is not installed.",
            hint="Run `pip install 'referee[arena]'`.",
        ) from error
    return DefaultTokenizer(use_stemmer=stemmed)
