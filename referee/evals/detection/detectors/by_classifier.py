"""Detectors that are trained classifiers, one for each entry of the table. Source: ``classifiers``."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from referee.evals.detection.classifiers import CLASSIFIERS, classify
from referee.evals.detection.detectors.base import Detection, Detector, Work, model_record
from referee.evals.detection.services import DetectionServices
from referee.schemas.case import ReviewCase


@dataclass(frozen=True)
class ClassifierDetector(Detector):
    """The margin of a classifier's AI label."""

    name: str
    about: str = field()
    unit: str = "logits"

    def lacking(self, services: DetectionServices, case: ReviewCase) -> str:
        """The classifier, which nobody but the user downloads."""
        entry = CLASSIFIERS[self.name]
        if self.name in services.classifiers:
            return ""
        return (
            f"the classifier {entry.model!r} (licence: {entry.licence}) is needed; it takes torch and transformers, "
            "has to be downloaded by you, and given"
        )

    def models(self, services: DetectionServices, case: ReviewCase) -> dict[str, Any]:
        """The classifier and the index of its AI label."""
        identity = services.classifiers[self.name].identity
        return {"classifier": model_record(identity), "ai_index": CLASSIFIERS[self.name].ai_index}

    async def detect(self, work: Work) -> Detection:
        """One pass."""
        classifier = work.services.classifiers[self.name]
        found = await asyncio.to_thread(classify, CLASSIFIERS[self.name], classifier, work.text.text)
        return Detection(found)


METRICS: tuple[Detector, ...] = tuple(
    ClassifierDetector(entry.name, f"margin of {entry.model}: {entry.about}") for entry in CLASSIFIERS.values()
)
