"""``evaluate``: a review set in, every metric of every review out, with a table and a run folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from referee.api.call_settings import settings_of_call
from referee.api.coverage import beside_limits
from referee.api.eval_input import read_set
from referee.api.eval_job import EvalJob, eval_inputs, eval_plan, eval_prompts, needs
from referee.api.eval_output import Asked
from referee.api.eval_run import Evaluation, SharedMeans, opened_means, run_evaluation
from referee.api.runs import RunPlace, require_confirmed
from referee.data import read_papers
from referee.errors import SettingsError
from referee.evals.registry import find_metrics
from referee.llm.embeddings import Embedder
from referee.llm.models import Models, check_models
from referee.runs import Event, Progress, silent
from referee.schemas.estimate import SetEstimate
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import load_venue


async def evaluate(
    reviews: str | Path,
    *,
    papers: str | Path | None = None,
    venue: str | Path | VenueForm | None = None,
    metrics: Sequence[str] | None = None,
    judges: Sequence[str] = (),
    repeats: int = 1,
    embedder: str | None = None,
    base_url: str | None = None,
    group_by: str = "source",
    compare: tuple[str, str] | None = None,
    paper_table: bool = False,
    mapping: str | Path | None = None,
    layout: str | None = None,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    cache: bool | None = None,
    settings: Settings | None = None,
    shared: SharedMeans | None = None,
    progress: Progress = silent,
    confirm: Callable[[SetEstimate], bool] | None = None,
) -> Evaluation:
    """Measure every review of a set, AI or human.

    Args:
        reviews: A file or a folder in one of the layouts of ``referee.data``.
        papers: A folder of papers named by their ids, rows with full texts (JSONL, Parquet), or the one paper of all
            reviews.
        venue: The form of reviews that name no known venue themselves.
        metrics: Names of metrics; all that ship by default.
        judges: Models that judge, each named once; by default ``models.roles.judge``, else ``models.default``.
        repeats: How often each judge is asked the same.
        embedder: The embedding model.
        base_url: An OpenAI-compatible server.
        group_by: The table's rows: ``source``, ``kind``, and within which other keys of ``Grouping``: ``venue,year``.
        compare: Labels of two rows that are compared, paired by paper.
        paper_table: Whether the published table stands beside ours.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        out: The run folder; by default a new one under ``referee-runs``.
        resume: The folder of an earlier run with the same inputs: finished units are kept, failed ones tried again.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out together, that no call may pass.
        cache: Whether replies of earlier runs are used; True by default.
        settings: A ready settings tree; the arguments above then only override what they name.
        shared: Judges, embedder and budget of a command that makes several evaluations, in place of this one's own.
        progress: Called with each event.
        confirm: Shown the estimate before the first call; the run ends without a call where it returns False.

    Returns:
        The table and where everything lies. Units without a value are counted, with their reasons.

    Raises:
        DataError: The reviews, the mapping or the papers cannot be read, or there is no usable review.
        SettingsError: A metric, judge, setting or key is not usable, or a judge is named twice.
        VenueError: The venue is unknown.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        EvaluationError: Units failed and none was scored.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    settings = settings_of_call(
        settings, {"embedder": embedder}, base_url=base_url, max_cost=max_cost, max_tokens=max_tokens, cache=cache
    )
    chosen = find_metrics(metrics)
    panel = list(judges) if needs(chosen, "judge") else None
    if repeats < 1:
        raise SettingsError(f"a judge cannot be asked {repeats} times.", hint="Give --repeats 1 or more.")
    if panel is not None:
        check_models(settings, judges=panel)
    form = load_venue(venue) if isinstance(venue, str | Path) else venue
    place = RunPlace("eval", Path(reviews).stem, out=out, resume=resume)
    shelf = read_papers(Path(papers)) if papers is not None else None
    progress(Event("stage", f"reading {reviews}"))
    given = Path(mapping) if mapping is not None else None
    with read_set(
        Path(reviews), near=place.path, group_by=group_by, mapping=given, layout=layout, progress=progress
    ) as read:
        for label in compare or ():
            read.rows.find(label)
        means = _given(shared) if shared else opened_means(chosen, panel, settings, progress)
        async with means as (models, opened):
            job = EvalJob(
                reviews=read,
                metrics=chosen,
                settings=settings,
                models=models,
                repeats=repeats,
                embedder=opened,
                papers=Path(papers) if papers is not None else None,
                shelf=shelf,
                venue=form,
                progress=progress,
            )
            place.check_inputs(eval_inputs(job))
            require_confirmed(confirm is None or confirm(beside_limits(eval_plan(job), settings.budget)))
            with place.open(
                "eval",
                inputs=eval_inputs(job),
                settings=settings,
                models=models,
                roles=models.by_role,
                prompts=eval_prompts(chosen),
            ) as run:
                return await run_evaluation(run, job, Asked(compare, paper_table), shared.budget if shared else None)


@asynccontextmanager
async def _given(shared: SharedMeans) -> AsyncIterator[tuple[Models, Embedder | None]]:
    """What somebody else opened, and closes."""
    yield shared.models, shared.embedder
