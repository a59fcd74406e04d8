"""Detectors that compare a review with AI reviews of the same paper: Anchor, and claims. Source: these modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from referee.errors import ModelError
from referee.evals.detection.anchor import IS_ANCHOR, POOLING, anchor_score, embedded
from referee.evals.detection.canonical import of_text
from referee.evals.detection.claims import claim_match, claims_of, shortened
from referee.evals.detection.costs import Cost, tokens_of_words
from referee.evals.detection.detectors.base import Detection, Detector, Work
from referee.evals.detection.protocols import missing
from referee.evals.detection.services import DetectionServices, Part
from referee.evals.metric import Range
from referee.llm.urgency import Urgency
from referee.schemas.case import ReviewCase
from referee.stats.values import Floats

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder


class AnchorDetector(Detector):
    """The largest cosine with an AI review of the same paper."""

    name = "anchor"
    about = "largest cosine with an AI review of the same paper"
    unit = "cosine"
    range: Range = (-1.0, 1.0)
    works_with: tuple[Part, ...] = ("anchors", "embedder")

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The embedder, and AI reviews of this paper."""
        if why := self.without(services):
            return why
        if not services.anchors.get(case.paper_id):
            return (
                f"there is no AI review of paper {case.paper_id!r} to compare with; write anchors from its text first"
            )
        return ""

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """One embedding of the review; those of its paper's AI reviews, once a paper, come on top."""
        tokens = tokens_of_words(words, words * 2)
        return [Cost(_embedder(services).id, self.name, 1, tokens)]

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The embedder, the anchors, and how many are there: the largest of two cosines is no score of three."""
        return {
            "embedder": _embedder(services).id,
            "pooling": POOLING,
            "anchors": sorted({*services.anchor_models, *services.anchors[case.paper_id]}),
            "present": len(services.anchors[case.paper_id]),
            "anchor_prompt": services.anchor_prompt,
        }

    async def detect(self, work: Work) -> Detection:
        """Embed the review; its paper's anchors are embedded once."""
        anchors = _anchors(work)
        if _is_one(work, anchors):
            return Detection(missing("undefined"), why=IS_ANCHOR)
        embedder = _embedder(work.services)

        async def directions() -> Mapping[str, Floats | None]:
            found = await embedded(list(anchors.values()), embedder)
            return dict(zip(anchors, found, strict=True))

        key = ("anchors", embedder.id, work.case.paper_id, work.services.anchor_prompt)
        (own,) = await embedded([work.text.text], embedder)
        found = anchor_score(own, await work.context.shared.once(key, directions), work.services.anchor_models)
        parts: dict[str, float | None] = {"anchors": len(found.cosines)}
        return Detection(found.statistic, parts, {"cosines": dict(found.cosines), "absent": list(found.absent)})


class ClaimDetector(AnchorDetector):
    """How much of what the review claims, AI reviews of the same paper claim too. Ours; see ``claims``."""

    name = "claim_match"
    about = "mean best cosine of its claims with those of AI reviews of the paper (ours)"

    async def detect(self, work: Work) -> Detection:
        """Embed claims; those of the paper's AI reviews once."""
        anchors = _anchors(work)
        if _is_one(work, anchors):
            return Detection(missing("undefined"), why=IS_ANCHOR)
        embedder = _embedder(work.services)
        others = [claim for text in anchors.values() for claim in claims_of(text)]
        own = claims_of(work.text.text)
        key = ("anchor claims", embedder.id, work.case.paper_id, work.services.anchor_prompt)
        rows = await work.context.shared.once(key, lambda: _rows(others, embedder))
        match = claim_match(await _rows(own, embedder), rows)
        parts: dict[str, float | None] = {"claims": len(own), "ai_claims": len(others), "anchors": len(anchors)}
        return Detection(match.statistic, parts, {"nearest": shortened(match, own, others)})


METRICS: tuple[Detector, ...] = (AnchorDetector(), ClaimDetector())


def _embedder(services: DetectionServices) -> Embedder:
    assert services.embedder is not None, "lacking has looked"
    return services.embedder


def _is_one(work: Work, anchors: Mapping[str, str]) -> bool:
    """Whether the review is one of the anchors: in the form's order of boxes, or as its text stands in the data."""
    return not {work.text.text, of_text(work.case.text).text}.isdisjoint(anchors.values())


def _anchors(work: Work) -> dict[str, str]:
    """The paper's AI reviews by model, in canonical form as the review is."""
    return {name: of_text(text).text for name, text in sorted(work.services.anchors[work.case.paper_id].items())}


async def _rows(claims: list[str], embedder: Embedder) -> Floats:
    """Embeddings of claims, one by one where one of them has no direction, which then counts as unlike all."""
    if not claims:
        return np.zeros((0, 1))
    try:
        return np.asarray(await embedder.embed(claims, urgency=Urgency.COMPARISON), dtype=np.float64)
    except ModelError as error:
        if error.ids.get("vector") != "zero":
            raise
    found = await embedded(claims, embedder)
    size = next((len(row) for row in found if row is not None), 1)
    return np.array([np.zeros(size) if row is None else row for row in found])
