"""Detectors that read how likely one model, or two, found each token of a review. Source: ``token_statistics``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from referee.evals.detection.costs import Cost
from referee.evals.detection.detectors.base import (
    ONE_MODEL,
    Detection,
    Detector,
    Work,
    model_record,
    passes_over,
)
from referee.evals.detection.protocols import LogitsProvider, Statistic, identity_of, oriented
from referee.evals.detection.services import DetectionServices, Part
from referee.evals.detection.token_statistics import (
    FEATURE_NAMES,
    FEATURES,
    SAMPLES,
    PairPass,
    binoculars,
    fast_detect_gpt,
    pair_pass,
    published_probability,
    sampled_fast_detect_gpt,
    statistic,
)
from referee.schemas.case import ReviewCase

TWO_MODELS, SAMPLING = "pair pass", "sampled pass"
NO_WEIGHTS = "its weights are not fitted; calibrate it on human and AI reviews"


@dataclass(frozen=True)
class TokenDetector(Detector):
    """A statistic of one model's pass; those of several numbers need weights that were fitted on both classes."""

    name: str
    about: str = field()
    unit: str = "nats a token"
    works_with: tuple[Part, ...] = ("provider",)

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """One pass, shared by all of its kind."""
        assert services.provider is not None, "lacking has looked"
        model = services.provider.model
        return [passes_over(model, identity_of(model), ONE_MODEL, words)]

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
    has_probability: bool = False
    variant_of: str = ""
    works_with: tuple[Part, ...] = ("pair",)

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """A pass of each model, shared by all of its kind; of one model where both are the same."""
        return [passes_over(one.model, identity_of(one.model), TWO_MODELS, words) for one in _distinct(services)]

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The two models, in their roles."""
        observer, performer = (model_record(identity_of(one.model)) for one in _pair(services))
        return {"observer": observer, "performer": performer}

    async def detect(self, work: Work) -> Detection:
        """One pass of both models, shared by all of its kind."""
        pair = _pair(work.services)
        key = (TWO_MODELS, *map(id, pair), work.text.digest)
        seen = await work.context.shared.once(key, lambda: asyncio.to_thread(pair_pass, *pair, work.text.text))
        found = self.of(seen)
        shown = published_probability(found.score, *(one.model.name for one in pair)) if self.has_probability else None
        details = {} if shown is None else {"published_probability": shown}
        return Detection(found, {"tokens": seen.positions}, details)


class SampledPairDetector(Detector):
    """FastDetectGPT as IMGTB runs it, by sampling; its scores and those of the analytic form are never compared."""

    name = "fast_detect_gpt_sampled"
    about = "the same by 10,000 samples a token, as IMGTB does"
    variant_of = "fast_detect_gpt"
    works_with: tuple[Part, ...] = ("pair",)
    unasked = False

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """A pass of each model of its own; drawing the samples comes on top."""
        return [passes_over(one.model, identity_of(one.model), SAMPLING, words) for one in _distinct(services)]

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The two models, in their roles, and the number of samples."""
        observer, performer = (model_record(identity_of(one.model)) for one in _pair(services))
        return {"observer": observer, "performer": performer, "samples": SAMPLES, "seed": "text digest"}

    async def detect(self, work: Work) -> Detection:
        """One pass of both models; the text's digest is the seed, so that a review always gets the same score."""
        seed = int(work.text.digest[:16], 16)
        found = await asyncio.to_thread(sampled_fast_detect_gpt, *_pair(work.services), work.text.text, seed=seed)
        return Detection(found)


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
    PairDetector("fast_detect_gpt", "how far the likelihood lies above what the model expects", fast_detect_gpt, True),
    PairDetector("binoculars", "log perplexity over log cross-perplexity, negative", binoculars),
    PairDetector(
        "binoculars_paper",
        "the same as its paper writes it",
        partial(binoculars, variant="paper"),
        variant_of="binoculars",
    ),
    SampledPairDetector(),
)


def _pair(services: DetectionServices) -> tuple[LogitsProvider, LogitsProvider]:
    assert services.pair is not None, "lacking has looked"
    return services.pair


def _distinct(services: DetectionServices) -> tuple[LogitsProvider, ...]:
    first, second = _pair(services)
    return (first,) if second is first else (first, second)
