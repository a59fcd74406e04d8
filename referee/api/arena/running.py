"""``arena_run``: papers in, each filled into its own venue's form by one model, and a line a paper out."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from referee.api.arena.job import PROMPTS, REVIEWS, STRATEGY, ArenaJob, arena_inputs, arena_plan, folder_name
from referee.api.arena.reviews import ArenaExecution
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.data.predictions import PREDICTIONS, Prediction, counts, write_predictions
from referee.data.submissions import read_submissions
from referee.errors import DataError, EvaluationError
from referee.experiments.units import finished_review, folder_usage
from referee.llm.models import check_models
from referee.prompts import load_prompt, prompt_digests
from referee.runs import RunFolder
from referee.runs.joining import PART, SealedPart, file_digests, join_lines, read_part
from referee.runs.lines import lines_of
from referee.schemas.paper_cut import cuts_told
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
    def cut_line(self) -> str:
        """What of the papers was not read; empty where all of each was."""
        return cuts_told((one.cut for one in self.predictions), (one.status == "answered" for one in self.predictions))

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
        job = ArenaJob(submissions, run.settings, models, run.progress)
        run.check_inputs(arena_inputs(job))
        order = ArenaPart(papers=tuple(one.paper_id for one in submissions), model=job.model)
        job = replace(job, submissions=tuple(one for one in submissions if run.holds(one.paper_id)))
        if run.is_asked:
            run.confirm(await arena_plan(job, _finished(run.place.path, job)))
        run.open_folder(models, roles=("writer",), prompts=prompt_digests(map(load_prompt, PROMPTS)))
        (run.path / REVIEWS).mkdir(exist_ok=True)
        run.record(partial(_paid, run.path / REVIEWS))
        done = await _reviewed(run, job)
        if run.shard is not None:
            sealed = order.model_copy(update={"files": file_digests(run.path, PREDICTIONS)})
            run.write(PART, sealed.model_dump_json() + "\n")
        return done


def _finished(folder: Path, job: ArenaJob) -> list[str]:
    return [o.paper_id for o in job.usable if finished_review(folder / REVIEWS / folder_name(o.paper_id)) is not None]


async def _reviewed(run: Session, job: ArenaJob) -> ArenaRun:
    execution = ArenaExecution(run.path, job, run.budget(job.settings.budget, run.usage))
    try:
        await execution.run()
    finally:
        write_predictions(run.path / PREDICTIONS, execution.predictions())
    found = execution.predictions()
    if run.shard is None:
        require_answer(run.path)
    run.cuts = {one.paper_id: one.cut for one in found if one.cut is not None}
    run.remark = _remark(counts(found))
    return ArenaRun(run.path, job.model, tuple(found), run.usage)


def _paid(reviews: Path) -> Usage:
    """What the reviews have cost: the arena makes no call itself."""
    return sum((folder_usage(folder) for folder in sorted(reviews.iterdir()) if folder.is_dir()), Usage())


def _remark(ended: Counter[str]) -> str:
    missing = ended.total() - ended["answered"] - ended["skipped"]
    return f"{missing} paper(s) have no answer; --resume tries them again" if missing else ""


class ArenaPart(SealedPart):
    """What a shard of an arena run says of the whole: the ids of all papers in their order, and the model."""

    papers: tuple[str, ...]
    model: str


def join_arena_runs(parts: Sequence[Path], folder: RunFolder) -> str:
    """Join the shards of an arena run: predictions in the order of the papers, and the reviews' runs.

    Args:
        parts: The shards' folders, in the order of their numbers.
        folder: The whole run's.

    Returns:
        The remark of the run.

    Raises:
        EvaluationError: No paper got an answer, over all parts.
        RunError: A shard's predictions are not those that it wrote; the shard is named.
    """
    part, *_ = [read_part(one, ArenaPart, PREDICTIONS) for one in parts]
    place = {paper_id: number for number, paper_id in enumerate(part.papers)}
    predictions = folder.path / PREDICTIONS
    join_lines([one / PREDICTIONS for one in parts], predictions, key=lambda row: place[row["paper_id"]])
    for one in parts:
        shutil.copytree(one / REVIEWS, folder.path / REVIEWS, dirs_exist_ok=True)
    return _remark(require_answer(folder.path))


def require_answer(run: Path) -> Counter[str]:
    """How many predictions ended how: a run in which everything went wrong must not look like one that went well.

    Raises:
        EvaluationError: No paper got an answer.
    """
    ended, reasons = Counter[str](), Counter[str]()
    for line in lines_of(run / PREDICTIONS):
        one = Prediction.model_validate_json(line.text)
        ended[one.status] += 1
        if one.status != "skipped":
            reasons[one.reason] += 1
    if ended["answered"]:
        return ended
    raise EvaluationError(
        f"none of the {reasons.total()} papers got a valid answer; the most frequent reason: "
        f"{reasons.most_common(1)[0][0]}",
        hint=f"See {PREDICTIONS}; --resume {run} tries them again.",
    )
