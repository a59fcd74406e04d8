"""Cosine of TF-IDF vectors of words and word pairs: an offline stand-in for model similarity, under its own name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from zlib import crc32

from referee.evals.behaviour.tokens import tokens

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
