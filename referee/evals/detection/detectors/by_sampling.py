"""Detectors that change a review or write it again, and look what that does. Source: ``perturbation``, ``dna_gpt``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.evals.detection.detectors.base import Detection, Detector, Work, model_record
from referee.evals.detection.detectors.by_logits import NO_PROVIDER
from referee.evals.detection.dna_gpt import (
    NEW_TOKENS,
    REGENERATED,
    TEMPERATURE,
    black_box,
    ending_log_p,
    halves,
    white_box,
    words_of,
)
from referee.evals.detection.perturbation import COPIES, Perturbed, detect_gpt, npr, perturbed
from referee.evals.detection.protocols import Statistic, identity_of, missing
from referee.evals.detection.services import DetectionServices
from referee.evals.detection.token_statistics import TokenPass, mean_log_rank, statistic, token_pass
from referee.schemas.case import ReviewCase

NO_FILLER = "a model that fills gaps, as T5, is needed; it takes torch and transformers, and has to be given"
NO_GENERATOR = "a model that writes on is needed; install one with `pip install 'referee[local]'`"


@dataclass(frozen=True)
class PerturbationDetector(Detector):
    """DetectGPT and NPR, which share the copies and the passes over them."""

    name: str
    about: str = field()
    copies: int = COPIES

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The model of logits and the one that fills gaps."""
        if services.filler is None:
            return NO_FILLER
        return "" if services.provider is not None else NO_PROVIDER

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """Both models and the number of copies."""
        assert services.provider is not None, "lacking has looked"
        assert services.filler is not None, "lacking has looked"
        provider, filler = identity_of(services.provider.model), services.filler.identity
        return {"provider": model_record(provider), "filler": model_record(filler), "copies": self.copies}

    async def detect(self, work: Work) -> Detection:
        """Perturb, and measure the text and its copies."""
        key = ("perturbed", id(work.services.filler), self.copies, work.text.digest)
        made, passes = await work.context.shared.once(key, lambda: self._passes(work))
        found = self._of(await work.tokens(), passes) if passes else missing("too_short")
        why = "" if passes or not made.dropped else "the model left gaps in every copy"
        return Detection(found, {"copies": len(made.copies), "dropped": made.dropped}, why=why)

    def _of(self, own: TokenPass, copies: Sequence[TokenPass]) -> Statistic:
        likelihoods = [statistic("loglik", seen) for seen in (own, *copies)]
        if any(one.status != "scored" for one in likelihoods):
            return missing(next(one.status for one in likelihoods if one.status != "scored"))
        if self.name == "detect_gpt":
            return detect_gpt(likelihoods[0].raw[0], [one.raw[0] for one in likelihoods[1:]])
        return npr(mean_log_rank(own), [mean_log_rank(seen) for seen in copies])

    async def _passes(self, work: Work) -> tuple[Perturbed, list[TokenPass]]:
        filler, provider = work.services.filler, work.services.provider
        assert filler is not None, "lacking has looked"
        assert provider is not None, "lacking has looked"
        made = await perturbed(work.text.text, work.text.digest, filler, self.copies)
        return made, [await asyncio.to_thread(token_pass, provider, copy) for copy in made.copies]


@dataclass(frozen=True)
class DnaGptDetector(Detector):
    """DNA-GPT by words (black box) or by likelihoods (white box), on the same continuations."""

    name: str
    about: str = field()
    white: bool = False
    regenerated: int = REGENERATED

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The model that writes, and for the white box that of logits."""
        if services.generator is None:
            return NO_GENERATOR
        return NO_PROVIDER if self.white and services.provider is None else ""

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The models and how continuations are drawn."""
        assert services.generator is not None, "lacking has looked"
        drawn = {"continuations": self.regenerated, "temperature": TEMPERATURE, "max_tokens": NEW_TOKENS}
        record = {"generator": model_record(services.generator.identity), **drawn}
        if self.white and services.provider is not None:
            record["provider"] = model_record(identity_of(services.provider.model))
        return record

    async def detect(self, work: Work) -> Detection:
        """Cut, write again, compare."""
        cut = halves(work.text.text)
        if cut is None:
            return Detection(missing("too_short"))
        prefix, ending = cut
        key = ("continuations", id(work.services.generator), self.regenerated, work.text.digest)
        written: Sequence[str] = await work.context.shared.once(key, lambda: self._continuations(work, prefix))
        parts = {"continuations": float(len(written))}
        if self.white:
            return Detection(await asyncio.to_thread(_compared, work, prefix, ending, written), parts)
        own, others = await asyncio.to_thread(lambda: (words_of(ending), [words_of(text) for text in written]))
        return Detection(black_box(own, others), parts)

    async def _continuations(self, work: Work, prefix: str) -> Sequence[str]:
        generator = work.services.generator
        assert generator is not None, "lacking has looked"
        return await generator.continuations(
            prefix,
            self.regenerated,
            seed=int(work.text.digest[:8], 16),
            temperature=TEMPERATURE,
            max_tokens=NEW_TOKENS,
        )


METRICS: tuple[Detector, ...] = (
    PerturbationDetector("detect_gpt", "how much less likely the review is with other words, in deviations"),
    PerturbationDetector("npr", "log rank with other words over log rank"),
    DnaGptDetector("dna_gpt", "share of word runs that the model writes again"),
    DnaGptDetector("dna_gpt_white", "likelihood of the ending less that of the model's endings", white=True),
)


def _compared(work: Work, prefix: str, ending: str, written: Sequence[str]) -> Statistic:
    provider = work.services.provider
    assert provider is not None, "lacking has looked"
    own = ending_log_p(provider, prefix, ending)
    others = [ending_log_p(provider, prefix, text if text[:1].isspace() else f" {text}") for text in written if text]
    return missing("too_short") if own is None else white_box(own, [other for other in others if other is not None])
