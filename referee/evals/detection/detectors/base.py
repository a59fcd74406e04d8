"""What all detectors have in common: the text they read, what is recorded, and how no score is said."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.errors import MissingExtra
from referee.evals.detection.canonical import CANONICAL_RULE, Canonical, canonical_review
from referee.evals.detection.costs import Cost, tokens_of_words
from referee.evals.detection.protocols import ModelIdentity, Statistic, Status, missing, parameters_of
from referee.evals.detection.services import DetectionServices, Part
from referee.evals.detection.token_statistics import TokenPass, token_pass
from referee.evals.metric import Context, Known, Load, Quantity, not_applicable, scored
from referee.prompts import own_versions
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

ONE_MODEL = "token pass"
UNAVAILABLE = "unavailable"
"""The status of a detector whose model is absent; those of texts are ``protocols.Status``."""

_REASONS: Mapping[Status, str] = {
    "too_short": "the text is too short for this detector",
    "nonfinite": "the model gave something that is no finite number",
    "undefined": "the statistic is not defined for this text",
}


@dataclass(frozen=True)
class Work:
    """One review in the hands of a detector."""

    case: ReviewCase
    text: Canonical
    context: Context
    services: DetectionServices

    async def tokens(self) -> TokenPass:
        """The pass of the model over the text, made once for all detectors that read it."""
        import asyncio

        provider = self.services.provider
        assert provider is not None, "the detector has looked"
        key = (ONE_MODEL, id(provider), self.text.digest)
        return await self.context.shared.once(key, lambda: asyncio.to_thread(token_pass, provider, self.text.text))


@dataclass(frozen=True)
class Detection:
    """What a detector found.

    Attributes:
        statistic: The statistic and its score.
        parts: Further numbers.
        details: What led to it.
        why: Why there is no score, where the status alone does not say.
    """

    statistic: Statistic
    parts: Mapping[str, float | None] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


class Detector(Quantity, ABC):
    """A quantity of a review that is higher where a model is likelier to have written it.

    Its value is no probability and means nothing without a threshold that was taken from human reviews. Details hold
    the text's rule and digest, the models, and ``made_by``, by which scores that must not be compared are told apart.

    Attributes:
        works_with: What it cannot do without.
        unasked: Whether it is run where nobody named detectors and what it works with was given.
    """

    name: str
    unit = "score"
    works_with: tuple[Part, ...] = ()
    unasked: bool = True

    def without(self, services: DetectionServices) -> str:
        """What is absent for any review and how to get it; empty where all is there."""
        return next((why for part in self.works_with if (why := services.lacking(part))), "")

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """What is absent for this review and how to get it; empty where all is there."""
        return self.without(services)

    @abstractmethod
    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """What a review of so many words takes, one entry a model; asked where nothing is absent."""

    @abstractmethod
    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """Models and settings that make the score, by their parts."""

    @abstractmethod
    async def detect(self, work: Work) -> Detection:
        """Score a text that is not empty."""

    def load(self, case: ReviewCase, known: Known) -> Load:
        """No judge is asked."""
        return Load(once=0, judged=0, output_tokens=0)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Score one review; without its models ``not_applicable``."""
        services = context.detection or DetectionServices()
        if why := self.lacking(services, case):
            return not_applicable(self, case, why, details={"status": UNAVAILABLE})
        text = canonical_review(case, context.form)
        record = self._record(services, case, text)
        work = Work(case, text, context, services)
        try:
            found = await self.detect(work) if text.text else Detection(missing("too_short"))
        except MissingExtra as error:
            return not_applicable(self, case, str(error), details={**record, "status": UNAVAILABLE})
        return self._result(case, found, record)

    def _record(self, services: DetectionServices, case: ReviewCase, text: Canonical) -> dict[str, Any]:
        models = self.models(services, case)
        chosen = own_versions(self.prompts)
        made_of = {"version": self.version, "rule": CANONICAL_RULE, **models, **({"prompts": chosen} if chosen else {})}
        said = json.dumps(made_of, sort_keys=True, default=str)
        made_by = f"{self.name} {self.version} {CANONICAL_RULE} {hashlib.sha256(said.encode()).hexdigest()[:16]}"
        return {"made_by": made_by, "models": models, "canonical_rule": text.rule, "text_digest": text.digest}

    def _result(self, case: ReviewCase, found: Detection, record: Mapping[str, Any]) -> MetricResult:
        own = found.statistic
        details = {**record, **found.details, "status": own.status, "raw": list(own.raw)}
        if own.score is not None:
            return scored(self, case, own.score, parts=found.parts, details=details)
        why = found.why or _REASONS.get(own.status, "there is no score")
        return not_applicable(self, case, why, parts=found.parts, details=details)


def passes_over(model: object, identity: ModelIdentity, work: str, words: int, passes: int = 1) -> Cost:
    """The cost of passes of a model over a text of so many words."""
    tokens = passes * tokens_of_words(words, identity.max_tokens)
    return Cost(identity.name, work, passes, tokens, parameters_of(model))


def model_record(identity: ModelIdentity) -> dict[str, Any]:
    """A model as it stands in a result."""
    return identity.model_dump(mode="json")
