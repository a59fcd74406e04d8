"""``refine_by_objective``: a venue's prompts proposed by the supervisor, kept only where a metric of reviews rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from referee.api.experiments.job import all_prompts, open_job
from referee.api.experiments.models import OpenModels
from referee.api.experiments.running import STORE
from referee.api.options import RunOptions
from referee.api.session import session
from referee.api.venues.objective import (
    guidelines_of,
    objective_of,
    require_keys,
    split_papers,
    strategy_of,
)
from referee.api.venues.refining import refinable_form
from referee.api.venues.search import Search
from referee.data.planted import PLANTED
from referee.errors import SettingsError
from referee.experiments.papers import SPLITS
from referee.experiments.plan_file import Given
from referee.experiments.seal import SEALS, Seals
from referee.experiments.units import UNITS, UnitStore
from referee.graphs.refinement.run import (
    Refinement,
    stored_refinement,
)
from referee.prompts import prompt_digests
from referee.schemas.refinement import BASE
from referee.venues import load_venue
from referee.venues.refined import RefinedPrompts

MOST_PROPOSALS = 10


async def refine_by_objective(
    venue: str | Path,
    *,
    objective: str,
    papers: Sequence[str | Path] = (),
    held_out: str | Path | None = None,
    planted: str | Path | None = None,
    references: str | Path | None = None,
    proposals: int = 3,
    guidelines: Sequence[str] = (),
    strategy: str | None = None,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    judges: Sequence[str] = (),
    seed: int = 0,
    store: str | Path = STORE,
    options: RunOptions = RunOptions(),
) -> RefinedPrompts:
    """Search for steps with which reviews do better, and keep them only where that is seen on papers.

    The supervisor criticises and the steps are revised, round by round; the steps after each round are a proposal. Each
    proposal is an arm of an experiment beside reviews without refined prompts, on the same papers. Proposals are halved
    on ever more development papers, the last one is tested, and what passes is looked at once on the held-out papers
    (``referee.experiments.halving.select``). What is kept is stored, for reviews to go by. A second search of the same
    inputs makes no call: the stored one is returned, with ``reused`` set.

    Args:
        venue: A venue's id, or a venue file.
        objective: A metric of the registry, or ``coverage`` for ``topic_coverage``.
        papers: Files, folders or patterns of papers; by default the planted ones.
        held_out: A folder or pattern of papers that only the last version is looked at on, or a share of ``papers``,
            by default a quarter.
        planted: A folder with ``planted/`` and ``keys/``, for metrics that need keys.
        references: Human reviews of the papers, for metrics that compare with them.
        proposals: How many are made, 1 to 10.
        guidelines: Those that are refined; all by default.
        strategy: Who reviews: ``sections`` or ``single``; by default what a review with the model would take.
        model: The model for all roles.
        model_for: Other models for single roles, ``writer`` and ``supervisor`` among them.
        judges: Who measures, for metrics that are judged.
        seed: Decides which papers are held out by a share, and the order in which papers are taken.
        store: Where reviews and the seals of held-out papers lie.
        options: How it runs; limits are those of the whole search.

    Returns:
        All versions with their costs and verdicts, under ``measured``.

    Raises:
        SettingsError: The metric, strategy, number of proposals, a model or a key is not usable, or nothing that the
            metric needs is given.
        DataError: Papers cannot be found or read, are too few, have no key, or hold the same text.
        VenueError: The venue or a guideline is unknown, or there is nothing to refine.
        EvaluationError: A round has no value for most of its papers, so that nothing can be said.
        RunError: The run folder is in use or of another search, or the held-out papers were opened before.
        ModelError: The model could not be reached, or refused.
        BudgetExceeded: The next call could pass a limit. No verdict is given on a round that was not finished; resume.
    """
    settings = options.settled(model=model, model_for=model_for)
    form = refinable_form(load_venue(venue))
    metric = objective_of(objective, references=references is not None, planted=planted is not None)
    if not 1 <= proposals <= MOST_PROPOSALS:
        raise SettingsError(f"{proposals!r} proposals are not possible.", hint=f"Take 1 to {MOST_PROPOSALS}.")
    refinement = Refinement(form, settings, proposals, only=guidelines_of(form, guidelines))
    reviewer, given = strategy_of(strategy, settings), papers or ([Path(planted) / PLANTED] if planted else [])
    if not given:
        raise SettingsError("no papers are given to measure on.", hint="Give a folder of papers with --papers.")
    development, last = split_papers(given, held_out, seed)
    if planted is not None:
        require_keys(Path(planted), development, last)
    plan = {
        "name": f"refine {form.id}",
        "arms": [{"name": BASE, "strategy": reviewer, "venue": str(venue)}],
        "papers": {"files": [str(paper.path) for paper in (*development.values(), *last.values())]},
        "splits": {"development": list(development), "test": list(last)},
        "measure": {
            "metrics": [metric.name],
            "judges": list(judges),
            "references": str(references) if references is not None else None,
            "planted": str(planted) if planted is not None else None,
        },
    }
    async with (
        aclosing(OpenModels(options.progress)) as opened,
        session("venue refine", "refine", form.id, options=options, settings=settings) as run,
    ):
        opened.batches = run.open_batches()
        settings = run.settings
        refinement = replace(refinement, settings=settings)
        units, inner = UnitStore(Path(store) / UNITS), replace(options, settings=settings, prompts=None)
        jobs = [
            await open_job(plan, Given(), split=split, options=inner, store=units, opened=opened) for split in SPLITS
        ]
        search = Search(
            run=run,
            refinement=refinement,
            metric=metric,
            development=jobs[0],
            held_out=jobs[1],
            store=units,
            opened=opened,
            seals=Seals(Path(store) / SEALS),
            seed=seed,
        )
        await search.require_usable()
        if options.resume is None and settings.calls.cache and (found := stored_refinement(search.full, either=False)):
            return found
        search.seals.require_unopened(search.digest, run.place.path)
        run.check_inputs(search.inputs)
        run.confirm(await search.estimate())
        run.open_folder(settings=settings, prompts={**all_prompts(jobs[0]), **prompt_digests(refinement.prompts)})
        return await search.made()
