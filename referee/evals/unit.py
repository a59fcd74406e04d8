"""One unit of a run: one metric on one review, with what it needs, or with the reason why that is missing."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.errors import BudgetExceeded, RefereeError
from referee.evals.forms import Forms
from referee.evals.judging import Panel
from referee.evals.metric import Context, Metric, failed, not_applicable
from referee.evals.paper_context import PaperContext
from referee.evals.shared import Shared
from referee.runs.billing import billed
from referee.runs.progress import Progress, silent
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

if TYPE_CHECKING:
    from referee.data.known_sets import KnownErrors
    from referee.evals.detection.services import DetectionServices
    from referee.evals.planted.services import PlantedPapers
    from referee.llm.embeddings import Embedder

logger = logging.getLogger(__name__)

# Errors of the run itself, not of a review: they end it.
FATAL = (BudgetExceeded, OSError, sqlite3.Error)


@dataclass(frozen=True)
class EvalServices:
    """What all units of a run share.

    Attributes:
        papers: What was given with ``--papers``; empty for nothing.
        detection: What detectors work with; None where none was asked for.
        known: The errors that papers are known to have; None where none were given.
        planted: The keys of planted papers; None where no folder was given.
    """

    panel: Panel | None = None
    embedder: Embedder | None = None
    forms: Forms = field(default_factory=Forms)
    papers: str = ""
    detection: DetectionServices | None = None
    known: KnownErrors | None = None
    planted: PlantedPapers | None = None
    shared: Shared = field(default_factory=Shared)
    progress: Progress = silent


@dataclass(frozen=True)
class Unit:
    """One metric on one review, in the room of its paper."""

    room: PaperContext
    case: ReviewCase
    metric: Metric

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.metric.name} of review {self.case.case_id!r}"

    async def measure(self, services: EvalServices) -> MetricResult:
        """The unit's result.

        Raises:
            BudgetExceeded: The next call could pass a limit.
            OSError: The run's own files cannot be written.
        """
        try:
            lacking = await self._lacking(services)
            if lacking:
                return not_applicable(self.metric, self.case, lacking)
            with billed() as paid:
                result = await self.metric.measure(self.case, await self._context(services))
            result = result.model_copy(update={"paid": tuple(paid)})
        except FATAL:
            raise
        except RefereeError as error:
            return failed(self.metric, self.case, error.message)
        return result

    def broken(self, error: BaseException) -> MetricResult:
        """The result of a unit whose metric broke down, which is the metric's fault and touches no other unit."""
        logger.error("%s broke down", self.name, exc_info=error)
        return failed(self.metric, self.case, f"the metric broke down: {type(error).__name__}: {error}")

    async def _lacking(self, services: EvalServices) -> str:
        """What the metric needs and the review does not come with, in the user's words; empty where it has all."""
        needs = self.metric.needs
        if "references" in needs and not self.room.references(self.case):
            other = "other " if self.case.kind == "human" else ""
            return f"the review set holds no {other}human review of paper {self.case.paper_id!r}"
        if "venue" in needs and services.forms.of(self.case) is None:
            return services.forms.why_none(self.case)
        if "paper" in needs and not services.papers:
            return "the paper's text is needed; give the papers with --papers"
        if "paper" in needs and await self.room.paper() is None:
            return (
                f"no paper in {services.papers!r} has the id {self.case.paper_id!r}; compare the ids, or see --papers"
            )
        if "judge" in needs and services.panel is None:
            return "a judge is needed; name one with --judge"
        if "known" in needs and services.known is None:
            return "known errors of the papers are needed; give what `referee data load` wrote with --known"
        if "embedder" in needs and services.embedder is None:
            return "an embedder is needed; name one with --embedder"
        return ""

    async def _context(self, services: EvalServices) -> Context:
        needs = self.metric.needs
        wants = needs | self.metric.uses
        return Context(
            references=self.room.references(self.case) if "references" in needs else (),
            paper=await self.room.paper() if services.papers and "paper" in wants else None,
            retriever=await self.room.retriever() if {"paper", "embedder"} <= needs else None,
            form=services.forms.of(self.case),
            boxes=self.room.boxes(self.case),
            panel=services.panel,
            embedder=services.embedder,
            detection=services.detection,
            known=services.known,
            planted=services.planted,
            shared=services.shared,
            progress=services.progress,
        )
