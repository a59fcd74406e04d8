"""Which sentences moved a review's score: a person who is accused has to see what by.

Where the score is a mean over tokens, it is the sum over sentences of their share of the tokens times their own mean:
a sentence's push is that share times its mean less the threshold, and all pushes add up to the score less the
threshold. Of other detectors sentences have no such parts; what is shown then is an indication and is called one.

Tokens are dealt to sentences by cutting the text into tokens up to each sentence's end, which may be one token off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from referee.evals.detection.anchor import anchor_cosines, embedded
from referee.evals.detection.protocols import LogitsProvider
from referee.evals.detection.token_statistics import TokenPass
from referee.evidence import split_sentences
from referee.stats.values import Floats

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

_BY_TOKEN: Mapping[str, Callable[[TokenPass], Floats]] = {
    "loglik": lambda seen: seen.log_p,
    "rank": lambda seen: -seen.ranks.astype(np.float64),
    "logrank": lambda seen: -np.log(seen.ranks),
    "entropy": lambda seen: -seen.entropies,
    "llmdev": lambda seen: -(np.log(seen.ranks) ** 2),
}
"""The score's part of each token, higher is likelier AI, of detectors whose score is the mean over tokens."""

EXACT = "share of the tokens times (mean of the sentence less the threshold); they add up to score less threshold"
BY_LIKELIHOOD = "mean log p of the sentence's tokens less that of the review; an indication, the score is no sum"
BY_ANCHOR = "cosine of the sentence with the nearest AI review of the paper; an indication, the score is no sum"


@dataclass(frozen=True)
class Pushes:
    """What sentences have to do with a score.

    Attributes:
        how: What the numbers are.
        sentences: Each with its number, the largest first; those that the model did not read are left out.
        unread: How many it did not read.
    """

    how: str
    sentences: tuple[tuple[str, float], ...]
    unread: int = 0


def token_pushes(detector: str, text: str, provider: LogitsProvider, seen: TokenPass, theta: float | None) -> Pushes:
    """The pushes of sentences by the tokens of one model.

    Args:
        detector: Its name; one whose score is no mean over tokens gets likelihoods.
        text: The canonical text.
        provider: The model.
        seen: Its pass over the text.
        theta: The threshold; without one sentences are compared with the review's own mean.
    """
    exact = detector in _BY_TOKEN and theta is not None
    values = _BY_TOKEN[detector](seen) if detector in _BY_TOKEN else seen.log_p
    middle = theta if exact and theta is not None else float(values.mean()) if len(values) else 0.0
    found: list[tuple[str, float]] = []
    sentences, unread = sentences_of(text), 0
    for sentence, start, end in _dealt(text, sentences, provider):
        own = values[max(start - 1, 0) : max(end - 1, 0)]
        if not len(own):
            unread += 1
        elif exact:
            found.append((sentence, float((own - middle).sum() / len(values))))
        else:
            found.append((sentence, float(own.mean() - middle)))
    return Pushes(EXACT if exact else BY_LIKELIHOOD, tuple(sorted(found, key=lambda one: -one[1])), unread)


async def anchor_pushes(text: str, anchors: Mapping[str, str], embedder: Embedder) -> Pushes:
    """The cosine of each sentence with the nearest of the AI reviews.

    Args:
        text: The canonical text.
        anchors: The AI reviews of the paper, canonical.
        embedder: What the score was made with.
    """
    sentences = sentences_of(text)
    rows = await embedded([*anchors.values(), *sentences], embedder)
    directions = dict(zip(anchors, rows[: len(anchors)], strict=True))
    found = []
    for sentence, row in zip(sentences, rows[len(anchors) :], strict=True):
        if row is not None and (cosines := anchor_cosines(row, directions)):
            found.append((sentence, max(cosines.values())))
    return Pushes(BY_ANCHOR, tuple(sorted(found, key=lambda one: -one[1])), len(sentences) - len(found))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text in order, paragraph by paragraph."""
    return [sentence for line in text.splitlines() for sentence in split_sentences(line) if sentence.strip()]


def _dealt(text: str, sentences: Sequence[str], provider: LogitsProvider) -> list[tuple[str, int, int]]:
    """Each sentence with the places of its first token and of the one after its last."""
    dealt, at, before = [], 0, 0
    for sentence in sentences:
        found = text.find(sentence, at)
        at = (found if found >= 0 else at) + len(sentence)
        through = len(provider.tokens(text[:at]))
        dealt.append((sentence, before, through))
        before = through
    return dealt
