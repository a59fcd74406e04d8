"""Claims: how much of what a review says, AI reviews of the same paper say too.

The review and the AI reviews are cut into claims, sentence by sentence; each claim of the review is compared with all
AI claims by the cosine of their embeddings, and the score is the mean over the review's claims of the best cosine, from
-1 to 1. A review whose points are all points that models raise about the paper scores high, whatever its wording as a
whole.

This detector is ours. The idea, claims in place of whole texts, is that of "Sem-Detect", whose code is not public; it
has further features and a trained classifier, so its published numbers say nothing about this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.evals.behaviour.atomic_rules import SHORTEST, units
from referee.evals.detection.protocols import Statistic, missing, oriented
from referee.evidence import split_sentences
from referee.stats.values import Floats

FEWEST_CLAIMS = 3
"""The mean over fewer claims of the review says too little of a person to be shown."""


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """What the score was made of.

    Attributes:
        best: For each claim of the review the best cosine.
        nearest: The index of the AI claim that it is with.
        statistic: The mean of ``best``.
    """

    best: tuple[float, ...]
    nearest: tuple[int, ...]
    statistic: Statistic


def claims_of(text: str) -> list[str]:
    """The claims of a text in order: the sentences of its paragraphs and list items, of 50 characters or more.

    One rule for both classes: the boxes of a form, which only some reviews have, do not count.
    """
    found = [sentence for unit in units(text) for sentence in split_sentences(unit.text)]
    return [claim for claim in found if len(claim) >= SHORTEST]


def claim_match(review: Floats, others: Floats) -> ClaimMatch:
    """Compare claims by their embeddings.

    Args:
        review: Claims of the review x dim, rows of length one.
        others: Claims of the AI reviews x dim, rows of length one.
    """
    if len(review) < FEWEST_CLAIMS:
        return ClaimMatch((), (), missing("too_short"))
    if not len(others):
        return ClaimMatch((), (), missing("undefined"))
    cosines = np.clip(np.asarray(review, dtype=np.float64) @ np.asarray(others, dtype=np.float64).T, -1.0, 1.0)
    nearest = cosines.argmax(axis=1)
    best = cosines[np.arange(len(cosines)), nearest]
    return ClaimMatch(tuple(best.tolist()), tuple(nearest.tolist()), oriented(float(best.mean()), 1))


def shortened(
    match: ClaimMatch, claims: Sequence[str], others: Sequence[str], most: int = 5
) -> list[dict[str, object]]:
    """The pairs of claims that lie nearest, for a person to look at."""
    order = sorted(range(len(match.best)), key=lambda at: -match.best[at])[:most]
    return [{"claim": claims[at], "nearest": others[match.nearest[at]], "cosine": match.best[at]} for at in order]
