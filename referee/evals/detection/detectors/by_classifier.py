"""Detectors that are trained classifiers, one for each entry of the table. Source: ``classifiers``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.evals.detection.classifiers import CLASSIFIERS, classify
from referee.evals.detection.costs import Cost
from referee.evals.detection.detectors.base import Detection, Detector, Work, model_record, passes_over
from referee.evals.detection.services import DetectionServices, Part
from referee.schemas.case import ReviewCase


@dataclass(frozen=True)
class ClassifierDetector(Detector):
    """The margin of a classifier's AI label."""

    name: str
    about: str = field()
    unit: str = "logits"
    works_with: tuple[Part, ...] = ("classifier",)

    def without(self, services: DetectionServices) -> str:
        """The classifier."""
        if self.name in services.classifiers:
            return ""
        entry = CLASSIFIERS[self.name]
        why = services.absent.get(self.name, "`pip install 'referee[detect]'` lets it be loaded.")
        return (
            f"the classifier {entry.model!r} (licence: {entry.licence}) is needed: {why} A folder that holds it is "
            f"given as --classifier {self.name}=FOLDER"
        )

    def cost(self, services: DetectionServices, words: int) -> Sequence[Cost]:
        """One pass."""
        classifier = services.classifiers[self.name]
        return [passes_over(classifier, classifier.identity, "pass", words)]

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The classifier, the index of its AI label, and the rule that cleans texts for it, where it has one."""
        entry, identity = CLASSIFIERS[self.name], services.classifiers[self.name].identity
        cleaning = {"cleaning": entry.cleaning} if entry.cleaning else {}
        return {"classifier": model_record(identity), "ai_index": entry.ai_index, **cleaning}

    async def detect(self, work: Work) -> Detection:
        """One pass."""
        entry, classifier = CLASSIFIERS[self.name], work.services.classifiers[self.name]
        found = await asyncio.to_thread(classify, entry, classifier, work.text.text)
        rule = {"published_rule": entry.published_rule} if entry.published_rule else {}
        return Detection(found, details=rule)


METRICS: tuple[Detector, ...] = tuple(
    ClassifierDetector(entry.name, f"margin of {entry.model}: {entry.about}") for entry in CLASSIFIERS.values()
)
