"""``arena_run``: papers in, each filled into its own venue's form by one model, and a line a paper out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from referee.api.arena.job import REVIEWS, STRATEGY, ArenaJob, arena_inputs, arena_plan, folder_name
from referee.api.arena.reviews import ArenaExecution
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.data.predictions import PREDICTIONS, Prediction, counts, write_predictions
from referee.data.submissions import read_submissions
from referee.errors import DataError, EvaluationError
from referee.experiments.units import finished_review, folder_usage
from referee.llm.models import check_models
from referee.runs import Budget
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
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
    options: RunOptions = RunOptions(),
) -> ArenaRun:
    """Let a model fill each paper's own venue-year form, with strategy ``single``.

    Each review is an ordinary run of ``referee review`` in the folder ``reviews``; ``predictions.jsonl`` holds a line
    a paper. The reviews that the papers' rows hold are never read.

    Args:
        papers: Rows with full texts (ReviewArena's or our own, JSONL or Parquet), a folder of papers named by id, or a
            paper.
        model: The model, as ``review`` takes it.
        venue: The form of papers that name no venue, or one whose form is unknown.
        options: How it runs; limits are those of the whole run. Of a resumed run of the same papers what is answered
            is kept and the rest tried again.

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
    settings = options.settled({"review.strategy": STRATEGY}, model=model)
    default = load_venue(venue) if isinstance(venue, str | Path) else venue
    check_models(settings)
    async with session("arena run", "arena", Path(papers).stem, options=options, settings=settings) as run:
        submissions = read_submissions(Path(papers), default)
        if all(one.problem for one in submissions):
            raise DataError(
                f"none of the {len(submissions)} papers in {str(papers)!r} can be reviewed; the first: "
                f"{submissions[0].problem}.",
                hint="Rows name conference and year, and hold markdown or sections; --venue is the form of all others; "
                "`referee venue compile` makes one that is unknown.",
            )
        models = await run.open_models()
        job = ArenaJob(submissions, settings, models, run.progress)
        run.check_inputs(arena_inputs(job))
        if run.is_asked:
            run.confirm(await arena_plan(job, _finished(run.place.path, job)))
        run.open_folder(models, roles=("writer",))
        (run.path / REVIEWS).mkdir(exist_ok=True)
        run.record(partial(_paid, run.path / REVIEWS))
        return await _reviewed(run, job)


def _finished(folder: Path, job: ArenaJob) -> list[str]:
    return [o.paper_id for o in job.usable if finished_review(folder / REVIEWS / folder_name(o.paper_id)) is not None]


async def _reviewed(run: Session, job: ArenaJob) -> ArenaRun:
    limits = job.settings.budget
    execution = ArenaExecution(run.path, job, Budget(limits.max_cost, limits.max_tokens, spent=run.usage))
    try:
        await execution.run()
    finally:
        write_predictions(run.path / PREDICTIONS, execution.predictions())
    found = execution.predictions()
    _require_answer(found, run.path)
    missing = len(found) - counts(found)["answered"] - counts(found)["skipped"]
    if missing:
        run.remark = f"{missing} paper(s) have no answer; --resume tries them again"
    return ArenaRun(run.path, job.model, tuple(found), run.usage)


def _paid(reviews: Path) -> Usage:
    """What the reviews have cost: the arena makes no call itself."""
    return sum((folder_usage(folder) for folder in sorted(reviews.iterdir()) if folder.is_dir()), Usage())


def _require_answer(found: list[Prediction], run: Path) -> None:
    """A run in which everything went wrong must not look like one that went well."""
    asked = [one for one in found if one.status != "skipped"]
    if any(one.status == "answered" for one in asked):
        return
    reason, _ = Counter(one.reason for one in asked).most_common(1)[0]
    raise EvaluationError(
        f"none of the {len(asked)} papers got a valid answer; the most frequent reason: {reason}",
        hint=f"See {PREDICTIONS}; --resume {run} tries them again.",
    )
