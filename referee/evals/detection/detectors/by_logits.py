"""Detectors that read how likely one model, or two, found each token of a review. Source: ``token_statistics``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from referee.evals.detection.detectors.base import Detection, Detector, Work, model_record
from referee.evals.detection.protocols import Statistic, identity_of, oriented
from referee.evals.detection.services import DetectionServices
from referee.evals.detection.token_statistics import (
    FEATURE_NAMES,
    FEATURES,
    PairPass,
    binoculars,
    fast_detect_gpt,
    pair_pass,
    statistic,
)
from referee.schemas.case import ReviewCase

NO_PROVIDER = (
    "a model whose logits can be read is needed; install it with `pip install 'referee[local]'` and fetch it with "
    "`referee models fetch`"
)
NO_PAIR = f"two models with one tokenizer are needed: {NO_PROVIDER}"
NO_WEIGHTS = "its weights are not fitted; calibrate it on human and AI reviews"


@dataclass(frozen=True)
class TokenDetector(Detector):
    """A statistic of one model's pass; those of several numbers need weights that were fitted on both classes."""

    name: str
    about: str = field()
    unit: str = "nats a token"

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The model."""
        return "" if services.provider is not None else NO_PROVIDER

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The model."""
        assert services.provider is not None, "lacking has looked"
        return {"provider": model_record(identity_of(services.provider.model))}

    async def detect(self, work: Work) -> Detection:
        """One pass, shared by all of its kind."""
        seen = await work.tokens()
        found = statistic(self.name, seen)
        parts: dict[str, float | None] = {"tokens": len(seen) + 1 if len(seen) else None}
        if self.name not in FEATURES or found.status != "scored":
            return Detection(found, parts)
        parts |= zip(FEATURE_NAMES[self.name], found.raw, strict=True)
        fitted = work.services.features.get(self.name)
        details = {"features": list(found.raw)}
        if fitted is None:
            return Detection(found, parts, details, NO_WEIGHTS)
        score = oriented(fitted.score(found.raw), 1)
        return Detection(Statistic(found.raw, score.score, score.status), parts, details)


@dataclass(frozen=True)
class PairDetector(Detector):
    """A statistic of what two models say of one text."""

    name: str
    about: str = field()
    of: Callable[[PairPass], Statistic] = field()
    variant_of: str = ""

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The two models."""
        return "" if services.pair is not None else NO_PAIR

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The two models, in their roles."""
        assert services.pair is not None, "lacking has looked"
        observer, performer = (model_record(identity_of(one.model)) for one in services.pair)
        return {"observer": observer, "performer": performer}

    async def detect(self, work: Work) -> Detection:
        """One pass of both models, shared by all of its kind."""
        pair = work.services.pair
        assert pair is not None, "lacking has looked"
        key = ("pair pass", *map(id, pair), work.text.digest)
        seen = await work.context.shared.once(key, lambda: asyncio.to_thread(pair_pass, *pair, work.text.text))
        return Detection(self.of(seen), {"tokens": seen.positions})


METRICS: tuple[Detector, ...] = (
    TokenDetector("loglik", "mean log likelihood of the tokens"),
    TokenDetector("rank", "mean rank of the tokens, negative", "ranks"),
    TokenDetector("logrank", "mean log rank of the tokens, negative"),
    TokenDetector("entropy", "mean entropy of the predictions, negative"),
    TokenDetector("llmdev", "mean squared log rank of the tokens, negative", "squared nats"),
    TokenDetector("llr", "log likelihood over log rank", "ratio"),
    TokenDetector("gltr", "log-odds by the shares of tokens in four bins of rank", "log-odds"),
    TokenDetector("mfd", "log-odds by log rank, likelihood, entropy and squared log rank", "log-odds"),
    TokenDetector("s5", "log-odds by likelihood, entropy, rank, log rank and squared log rank", "log-odds"),
    PairDetector("fast_detect_gpt", "how far the likelihood lies above what the model expects", fast_detect_gpt),
    PairDetector("binoculars", "log perplexity over log cross-perplexity, negative", binoculars),
    PairDetector(
        "binoculars_paper",
        "the same as its paper writes it",
        partial(binoculars, variant="paper"),
        variant_of="binoculars",
    ),
)
