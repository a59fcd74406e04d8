"""The reviews of an arena run: paper by paper, several at once, as far as a budget reaches."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from referee.agents.form_reply import BY_RULE
from referee.agents.single_reviewer import ROLE
from referee.api.arena.job import REVIEWS, ArenaJob, folder_name, map_name, paper_of, skipped
from referee.api.options import RunOptions
from referee.api.reviewing import review
from referee.data import canonical_text
from referee.data.predictions import Prediction, Status
from referee.data.submissions import Submission
from referee.errors import (
    DataError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    PromptError,
    RefereeError,
    ReplyInvalid,
    RunStopped,
)
from referee.evals.agreement import MapName
from referee.experiments.units import finished_review, folder_usage
from referee.graphs.job import Shared
from referee.runs import Budget, Event
from referee.runs.folder import RECORD
from referee.schemas.paper_cut import PaperNotRead
from referee.schemas.review import Review
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

SILENT_AFTER = 3
"""Papers in a row without an answer from the model before the others are left for a resumed run."""

_OF_THE_PAPER = (DataError, ModelError, PromptError)


@dataclass
class ArenaExecution:
    """One start of a run. ``done`` holds what became of each paper so far, by id."""

    folder: Path
    job: ArenaJob
    budget: Budget
    done: dict[str, Prediction] = field(default_factory=dict)
    _fatal: RefereeError | None = None
    _silent: int = 0
    _taking: int = 0

    async def run(self) -> None:
        """Review what is not reviewed yet; once one paper ends the run, those under way are still finished.

        Raises:
            BudgetExceeded: The next call could pass a limit.
            ModelError: The model left three papers in a row unanswered.
            RefereeError: A folder or setting is not usable.
        """
        if self.job.models[ROLE].spec.is_local:
            trial = "the ratings are those of the embedded model's trial, which its reviews withhold"
            self.job.progress(Event("note", trial))
        for one in self.job.submissions:
            if one.problem:
                self.done[one.paper_id] = skipped(one, self.job.model)
        waiting = deque(self.job.usable)
        self._taking = min(self.job.concurrency, len(waiting))
        await asyncio.gather(*(self._take(waiting) for _ in range(self._taking)))
        if self._fatal is not None:
            raise self._fatal

    def predictions(self) -> list[Prediction]:
        """What there is, in the order of the papers."""
        return [self.done[one.paper_id] for one in self.job.submissions if one.paper_id in self.done]

    def _ended(self) -> int:
        return sum(one.status != "skipped" for one in self.done.values())

    async def _take(self, waiting: deque[Submission]) -> None:
        """Take papers until none is left; where the budget is short, leave its rest to those who are under way.

        What calls under way have set aside is more than they will use, so a limit is reached only when nobody else is.
        """
        total = len(self.job.usable)
        while waiting and self._fatal is None:
            one = waiting.popleft()
            try:
                await self._one(one)
            except RunStopped as error:
                self._taking -= 1
                if not self._taking:
                    self._fatal = self._fatal or error
                waiting.appendleft(one)
                return
            self.job.progress(Event("stage", f"{self._ended()} of {total} papers", done=self._ended(), total=total))
        self._taking -= 1  # who has left takes nothing that another one puts back

    async def _one(self, one: Submission) -> None:
        """Review one paper and note what became of it; raises ``BudgetExceeded``."""
        try:
            self.done[one.paper_id] = await self._predicted(one)
            self._silent = 0
        except _OF_THE_PAPER as error:
            self.done[one.paper_id] = self._failed(one, error)
            self.job.progress(Event("note", f"paper {one.paper_id!r}: {error.message}"))
            unanswered = isinstance(error, ModelUnavailable | ModelRefused) and not isinstance(error, ReplyInvalid)
            self._silent = self._silent + 1 if unanswered else 0
            if self._silent >= SILENT_AFTER:
                self._fatal = self._fatal or error
        except RunStopped:
            raise
        except RefereeError as error:
            self._fatal = self._fatal or error

    async def _predicted(self, one: Submission) -> Prediction:
        assert one.form is not None, "usable papers have a form"
        folder = self._folder(one)
        paper = await paper_of(one, self.job.settings)
        name = map_name(paper, one.form, self.job)
        found = finished_review(folder)
        if found is None:
            found = await review(
                paper,
                venue=one.form,
                shared=Shared(self.job.models, self.budget),
                options=RunOptions(settings=self.job.settings, progress=self._inner).within(folder),
            )
        return prediction_of(found, one, name, usage=folder_usage(folder))

    def _failed(self, one: Submission, error: RefereeError) -> Prediction:
        status: Status = "invalid" if isinstance(error, ReplyInvalid) else "failed"
        folder = self._folder(one)
        return skipped(one, self.job.model).model_copy(
            update={
                "status": status,
                "reason": error.message,
                "run": f"{REVIEWS}/{folder.name}" if (folder / RECORD).is_file() else "",
                "usage": folder_usage(folder) if (folder / RECORD).is_file() else Usage(),
                "cut": error.cut if isinstance(error, PaperNotRead) else None,
            }
        )

    def _folder(self, one: Submission) -> Path:
        return self.folder / REVIEWS / folder_name(one.paper_id)

    def _inner(self, event: Event) -> None:
        if event.kind not in ("run", "stage"):
            self.job.progress(event)


def prediction_of(review: Review, one: Submission, name: MapName, *, usage: Usage) -> Prediction:
    """What the model chose on the form, and the texts the review stands behind."""
    assert one.form is not None, "usable papers have a form"
    form: VenueForm = one.form
    # Of the embedded model the arena measures the trial too: that is what it is asked to do here, as `run` says.
    trial = {one.field: one.value for one in review.trial or () if form.field(one.field).aspect not in BY_RULE}
    stated = {record.field: record.stated for record in review.scores} | {
        name: value for name, value in trial.items() if isinstance(value, int | float)
    }
    confidence = next((f.name for f in form.fields if f.aspect == "confidence" and f.kind == "score"), None)
    rating = stated.get(form.overall) if form.overall else None
    texts = {f.name: review.fields.get(f.name) for f in form.reviewer_fields if f.kind != "score"}
    return Prediction(
        paper_id=one.paper_id,
        paper_title=review.paper_title or one.title,
        venue=form.id,
        year=form.year,
        source=review.source,
        status="answered",
        reason="" if rating is not None or form.overall is None else "the model chose no rating",
        rating=rating,
        kept_rating=review.rating,
        confidence=stated.get(confidence) if confidence else None,
        scores={name: None if value is None else float(value) for name, value in stated.items()},
        fields={name: value for name, value in texts.items() if value is not None},
        text=canonical_text(review.fields, form),
        prompt=name.prompt_version,
        prompt_digest=name.prompt_digest,
        run=f"{REVIEWS}/{folder_name(one.paper_id)}",
        usage=usage,
        cut=review.provenance.cut if review.provenance is not None else None,
    )
