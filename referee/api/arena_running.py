"""``arena_run``: papers in, each filled into its own venue's form by one model, and a line a paper out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from referee.api.arena_course import ArenaCourse, finished_review
from referee.api.arena_job import REVIEWS, STRATEGY, ArenaJob, arena_inputs, arena_plan, folder_name
from referee.api.call_settings import settings_of_call
from referee.api.coverage import beside_limits
from referee.api.recording import recorded
from referee.api.runs import RunPlace, require_confirmed
from referee.data.predictions import PREDICTIONS, Prediction, counts, write_predictions
from referee.data.submissions import read_submissions
from referee.errors import DataError, EvaluationError
from referee.experiments.units import folder_usage
from referee.llm.models import check_models, open_models
from referee.runs import Budget, Event, Ledger, Progress, RunFolder, silent
from referee.schemas.estimate import ArenaEstimate
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import load_venue


@dataclass(frozen=True)
class ArenaRun:
    """A finished run: its folder, what became of each paper, and what it cost over all its starts."""

    run: Path
    model: str
    predictions: tuple[Prediction, ...]
    usage: Usage

    @property
    def counts(self) -> Counter[str]:
        """Papers by status."""
        return counts(self.predictions)


async def arena_run(
    papers: str | Path,
    *,
    model: str | None = None,
    venue: str | Path | VenueForm | None = None,
    base_url: str | None = None,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    cache: bool | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    confirm: Callable[[ArenaEstimate], bool] | None = None,
) -> ArenaRun:
    """Let a model fill each paper's own venue-year form, with strategy ``single``.

    Each review is an ordinary run of ``referee review`` in the folder ``reviews``; ``predictions.jsonl`` holds a line
    a paper. The reviews that the papers' rows hold are never read.

    Args:
        papers: Rows with full texts (ReviewArena's or our own, JSONL or Parquet), a folder of papers named by id, or a
            paper.
        model: The model, as ``review`` takes it.
        venue: The form of papers that name no venue, or one whose form is unknown.
        base_url: An OpenAI-compatible server.
        out: The run folder; by default a new one under ``referee-runs``.
        resume: The folder of an earlier run of the same papers: what is answered is kept, the rest tried again.
        max_cost: US dollars that no call may pass, over the whole run.
        max_tokens: Tokens, in and out together, that no call may pass, over the whole run.
        cache: Whether replies of earlier runs are used; True by default.
        settings: A ready settings tree; the arguments above then only override what they name.
        progress: Called with each event.
        confirm: Shown the estimate before the first call; the run ends without a call where it returns False.

    Returns:
        What became of each paper. Papers without a known form or a full text are skipped, with the reason.

    Raises:
        DataError: The papers cannot be found, or none can be reviewed.
        SettingsError: A setting, model name or key is not usable.
        VenueError: The venue is unknown.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model leaves papers unanswered, one after another.
        EvaluationError: No paper got an answer.
        BudgetExceeded: The next call could pass a limit; what is there is written, resume with a higher limit.
    """
    settings = settings_of_call(
        settings,
        {"review.strategy": STRATEGY},
        model=model,
        base_url=base_url,
        max_cost=max_cost,
        max_tokens=max_tokens,
        cache=cache,
    )
    default = load_venue(venue) if isinstance(venue, str | Path) else venue
    check_models(settings)
    place = RunPlace("arena", Path(papers).stem, out=out, resume=resume)
    submissions = read_submissions(Path(papers), default)
    if all(one.problem for one in submissions):
        raise DataError(
            f"none of the {len(submissions)} papers in {str(papers)!r} can be reviewed; the first: "
            f"{submissions[0].problem}.",
            hint="Rows name conference and year, and hold markdown or sections; --venue is the form of all others; "
            "`referee venue compile` makes one that is unknown.",
        )
    models = await open_models(settings, progress)
    try:
        job = ArenaJob(submissions, settings, models, progress)
        inputs = arena_inputs(job)
        place.check_inputs(inputs)
        if confirm is not None:
            plan = await arena_plan(job, _finished(place.path, job))
            require_confirmed(confirm(beside_limits(plan, settings.budget)))
        with place.open(
            "arena run", inputs=inputs, settings=settings, models=models, roles=("writer",), prompts={}
        ) as run:
            return await _run(run, job)
    finally:
        await models.aclose()


def _finished(folder: Path, job: ArenaJob) -> list[str]:
    return [o.paper_id for o in job.usable if finished_review(folder / REVIEWS / folder_name(o.paper_id)) is not None]


async def _run(run: RunFolder, job: ArenaJob) -> ArenaRun:
    job.progress(Event("run", os.fspath(run.path)))
    (run.path / REVIEWS).mkdir(exist_ok=True)
    ledger = _Paid(run.path / REVIEWS)
    limits = job.settings.budget
    course = ArenaCourse(run.path, job, Budget(limits.max_cost, limits.max_tokens, spent=ledger.usage()))
    with recorded(run, ledger):
        try:
            await course.run()
        finally:
            write_predictions(run.path / PREDICTIONS, course.predictions())
        found = course.predictions()
        run.set_usage(ledger.usage(), {})
        _require_answer(found, run)
        missing = len(found) - counts(found)["answered"] - counts(found)["skipped"]
        run.set_status(
            "finished", error=f"{missing} paper(s) have no answer; --resume tries them again" if missing else ""
        )
    return ArenaRun(run.path, job.model, tuple(found), ledger.usage())


def _require_answer(found: list[Prediction], run: RunFolder) -> None:
    """A run in which everything went wrong must not look like one that went well."""
    asked = [one for one in found if one.status != "skipped"]
    if any(one.status == "answered" for one in asked):
        return
    reason, _ = Counter(one.reason for one in asked).most_common(1)[0]
    raise EvaluationError(
        f"none of the {len(asked)} papers got a valid answer; the most frequent reason: {reason}",
        hint=f"See {PREDICTIONS}; --resume {run.path} tries them again.",
    )


class _Paid(Ledger):
    """The arena makes no call itself: what it cost is what its reviews did."""

    def __init__(self, reviews: Path) -> None:
        super().__init__()
        self._reviews = reviews

    def usage(self) -> Usage:
        return sum((folder_usage(folder) for folder in sorted(self._reviews.iterdir()) if folder.is_dir()), Usage())

    def usage_by_role(self) -> dict[str, Usage]:
        return {}
