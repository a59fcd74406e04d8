"""Whether a model's edits of reviews go further with each level: the mean cosine with the originals must fall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from referee.agents.text_writers import LEVELS
from referee.data.generated import Pair
from referee.evals.detection.anchor import anchor_cosines, embedded
from referee.schemas.base import Frozen

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

PUBLISHED = {"minimum": 0.984, "moderate": 0.926, "extensive": 0.862, "maximum": 0.680}
"""Of GPT-4o's edits, in the paper."""


class LevelSimilarity(Frozen):
    """The mean cosine of one level's reviews with their originals, in [-1, 1], over ``n`` of them."""

    level: str
    cosine: float
    n: int


class EditSimilarity(Frozen):
    """By level, least edited first. ``falls``: strictly with each level; None where there is one level only."""

    embedder: str
    levels: tuple[LevelSimilarity, ...]
    falls: bool | None

    def lines(self) -> Iterator[str]:
        """The numbers and what they say, for a terminal."""
        yield f"Mean cosine with the original, by level ({self.embedder}):"
        for one in self.levels:
            yield f"  {one.level}: {one.cosine:.3f} over {one.n:,} (published for GPT-4o: {PUBLISHED[one.level]:.3f})"
        if self.falls is False:
            yield "It does not fall with every level: these edits are not those that the levels stand for."


async def edit_similarity(pairs: Sequence[Pair], embedder: Embedder) -> EditSimilarity:
    """Embed originals and edits, and average their cosines by level; texts without a direction are left out.

    Raises:
        ModelError: The embedder failed.

    Source: "Is Your Paper Being Reviewed by an LLM?", levels of AI editing.
    """
    originals = list({pair.source.case_id: pair.source.text for pair in pairs}.items())
    directions = dict(
        zip((name for name, _ in originals), await embedded([text for _, text in originals], embedder), strict=True)
    )
    by_level: dict[str, list[float]] = defaultdict(list)
    edits = await embedded([pair.made.text for pair in pairs], embedder)
    for pair, edit in zip(pairs, edits, strict=True):
        if edit is not None:
            by_level[pair.made.extra["level"]] += anchor_cosines(
                edit, {"original": directions[pair.source.case_id]}
            ).values()
    levels = tuple(
        LevelSimilarity(level=level, cosine=float(np.mean(by_level[level])), n=len(by_level[level]))
        for level in LEVELS
        if by_level[level]
    )
    falls = all(after.cosine < before.cosine for before, after in pairwise(levels)) if len(levels) > 1 else None
    return EditSimilarity(embedder=embedder.id, levels=levels, falls=falls)
