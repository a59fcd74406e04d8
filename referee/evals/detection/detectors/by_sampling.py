"""Detectors that change a review or write it again, and look what that does. Source: ``perturbation``, ``dna_gpt``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.errors import MissingExtra
from referee.evals.detection.costs import Cost, tokens_of_words
from referee.evals.detection.detectors.base import (
    ONE_MODEL,
    Detection,
    Detector,
    Work,
    model_record,
    passes_over,
)
from referee.evals.detection.dna_gpt import (
    MOST_WORDS,
    NEW_TOKENS,
    REGENERATED,
    TEMPERATURE,
    black_box,
    ending_log_p,
    halves,
    white_box,
    words_of,
)
from referee.evals.detection.perturbation import COPIES, SPAN, Perturbed, detect_gpt, npr, perturbed, spans_of
from referee.evals.detection.protocols import Statistic, identity_of, missing, parameters_of
from referee.evals.detection.services import DetectionServices, Part
from referee.evals.detection.token_statistics import TokenPass, mean_log_rank, statistic, token_pass
from referee.schemas.case import ReviewCase

COPIES_PASS, FILLS, CONTINUATIONS, ENDINGS = "passes over copies", "filling of copies", "continuations", "endings"
CONTINUE = "detect/continue"
_PROMPT_TOKENS = 220
# Two words of a gap and the sentinel before them.
_TOKENS_A_GAP = SPAN + 2


@dataclass(frozen=True)
class PerturbationDetector(Detector):
    """DetectGPT and NPR, which share the copies and the passes over them."""

    name: str
    about: str = field()
    copies: int = COPIES
    works_with: tuple[Part, ...] = ("filler", "provider")

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """K fillings, K passes over the copies, and the pass over the text that other statistics share."""
        provider, filler = services.provider, services.filler
        assert provider is not None, "lacking has looked"
        assert filler is not None, "lacking has looked"
        own, name = provider.model, identity_of(provider.model)
        filled = Cost(
            filler.identity.name,
            FILLS,
            self.copies,
            self.copies * tokens_of_words(words, filler.identity.max_tokens),
            parameters_of(filler),
            generated=self.copies * _TOKENS_A_GAP * spans_of(words),
        )
        return [
            filled,
            passes_over(own, name, COPIES_PASS, words, self.copies),
            passes_over(own, name, ONE_MODEL, words),
        ]

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
    prompts: tuple[str, ...] = (CONTINUE,)
    works_with: tuple[Part, ...] = ("generator",)

    def without(self, services: DetectionServices) -> str:
        """The models, and for the black box the package whose words are counted: nothing is asked without it."""
        why = super().without(services)
        if why or self.white:
            return why
        try:
            words_of("")
        except MissingExtra as error:
            return str(error)
        return ""

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """K calls of the model that writes, and for the white box K + 1 passes over beginning and ending."""
        assert services.generator is not None, "lacking has looked"
        shown = min(words, MOST_WORDS)
        asked = Cost(
            services.generator.identity.name,
            CONTINUATIONS,
            passes=self.regenerated,
            tokens=self.regenerated * (_PROMPT_TOKENS + tokens_of_words(shown // 2, shown)),
            generated=self.regenerated * NEW_TOKENS,
            calls=self.regenerated,
        )
        if not self.white or services.provider is None:
            return [asked]
        model = services.provider.model
        return [asked, passes_over(model, identity_of(model), ENDINGS, shown, self.regenerated + 1)]

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
    DnaGptDetector(
        "dna_gpt_white",
        "likelihood of the ending less that of the model's endings",
        white=True,
        works_with=("generator", "provider"),
    ),
)


def _compared(work: Work, prefix: str, ending: str, written: Sequence[str]) -> Statistic:
    provider = work.services.provider
    assert provider is not None, "lacking has looked"
    own = ending_log_p(provider, prefix, ending)
    others = [ending_log_p(provider, prefix, text if text[:1].isspace() else f" {text}") for text in written if text]
    return missing("too_short") if own is None else white_box(own, [other for other in others if other is not None])
