"""Anchor: how near a review lies to reviews of the same paper that models are known to have written.

s_a = cos(EM(AR_a), EM(review)) for each anchor model a; the score is the largest, since "any anchor is nearer than
theta" and "the largest cosine is above theta" are one rule. Its threshold is taken from the largest cosines of human
reviews, which holds the false-positive rate of the whole rule; thresholds of each anchor at the same rate would add up.

Source: "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in Peer Review", Eq. 1 to 5; the
specification's section 7. Over-long texts: mean over windows, weighted by length, as of ``semantic_similarity``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from referee.errors import ModelError
from referee.evals.detection.protocols import Statistic, missing, oriented
from referee.evals.quality.semantic_similarity import POOLING, embed_review
from referee.stats.values import Floats

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

__all__ = ["IS_ANCHOR", "POOLING", "AnchorScore", "anchor_cosines", "anchor_score", "embedded"]

IS_ANCHOR = "the review is itself one of the AI reviews that it would be compared with"


@dataclass(frozen=True, slots=True)
class AnchorScore:
    """The cosines of one review with the anchors of its paper.

    Attributes:
        cosines: By anchor model, those that are there.
        absent: Anchor models that were expected and are not.
    """

    cosines: Mapping[str, float]
    absent: tuple[str, ...] = ()

    @property
    def statistic(self) -> Statistic:
        """The largest cosine; ``undefined`` without any. A cosine that is no number spoils the score."""
        if not self.cosines:
            return missing("undefined")
        return oriented(float(np.max(list(self.cosines.values()))), 1)


async def embedded(texts: Sequence[str], embedder: Embedder) -> list[Floats | None]:
    """The embedding of each text, of length one; None for a blank text and for the zero vector.

    Raises:
        ModelError: The embedder failed.
    """
    return list(await asyncio.gather(*(_embedded(text, embedder) for text in texts)))


def anchor_cosines(review: Floats, anchors: Mapping[str, Floats | None]) -> dict[str, float]:
    """The cosine of a review's embedding with each anchor's, by anchor; anchors without a direction are left out."""
    found = {name: _cosine(review, anchor) for name, anchor in anchors.items() if anchor is not None}
    return {name: cosine for name, cosine in found.items() if cosine is not None}


def anchor_score(
    review: Floats | None, anchors: Mapping[str, Floats | None], expected: Sequence[str] = ()
) -> AnchorScore:
    """The score of a review by the anchors that are there.

    Args:
        review: Its embedding; without one there is no score.
        anchors: The anchors' embeddings by model.
        expected: All anchor models of the method. Where some are absent the largest cosine is over fewer, and holds
            only for thresholds of as few.
    """
    cosines = anchor_cosines(review, anchors) if review is not None else {}
    return AnchorScore(cosines, tuple(sorted({*expected, *anchors} - cosines.keys())))


async def _embedded(text: str, embedder: Embedder) -> Floats | None:
    if not text.strip():
        return None
    try:
        return (await embed_review(text, embedder)).vector
    except ModelError as error:
        if error.ids.get("vector") == "zero":
            return None
        raise


def _cosine(one: Floats, other: Floats) -> float | None:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(one @ other / lengths, -1.0, 1.0)) if lengths > 0 else None
