"""What an experiment is made of: the plan resolved to arms, papers, metrics and units, before anything is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.api.evaluations.job import eval_prompts
from referee.api.experiments.models import OpenModels, full_id
from referee.api.experiments.units import (
    PreparedUnit,
    prepared_units,
    prompts_of,
    settings_of,
    unused_prompts,
    used_prompts,
)
from referee.api.options import RunOptions
from referee.api.paper_read import read_and_tell
from referee.errors import DataError, PaperParseError, SettingsError
from referee.evals.metric import Metric
from referee.evals.registry import PRESETS, find_metrics
from referee.experiments.arms import Arm, arms_of, chosen_arms, pairs_of, strategy_of_prompts
from referee.experiments.papers import PlanPaper, Split, find_papers, halved, of_split, read_references
from referee.experiments.plan import Plan
from referee.experiments.plan_file import Given, load_plan
from referee.experiments.prompt_texts import prompt_changes
from referee.experiments.units import UnitStore
from referee.graphs.strategies import STRATEGIES
from referee.llm.models import check_models
from referee.prompts import load_prompt, own_versions
from referee.reports.estimates import several
from referee.runs import Event, Progress
from referee.schemas.case import ReviewCase
from referee.schemas.experiment import PromptChange
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm
from referee.settings import BudgetSettings, Settings
from referee.venues import load_venue, venue_digest


@dataclass(frozen=True)
class ExperimentJob:
    """A plan that can be run.

    Attributes:
        plan: As its file says, with what was said beside it.
        split: The papers it is run on.
        arms: In the order of the plan.
        forms: The venue's form by arm.
        pairs: Which arms are compared.
        all_papers: The papers of both splits.
        papers: Those of the split that could be read, by name; of a planted one both copies.
        excluded: Those that could not, and why.
        metrics: What is measured.
        judges: Ids of the judging models.
        references: The human reviews by paper.
        units: What is to be made, with all that is needed for it.
        settings: Of all arms, without limits.
        left_out: Arms of a grid that no strategy could run.
        limits: Of the whole experiment.
        halves: Whether the plan names no split and its papers were split in half.
        prompt_changes: How the prompts differ of arms that are compared.
        null_tests: Pairs of arms that are the same.
        looked_at: Of test papers, who is known to have looked at them before.
        reading: What of the human reviews was left out.
    """

    plan: Plan
    split: Split
    arms: tuple[Arm, ...]
    forms: Mapping[str, VenueForm]
    pairs: tuple[tuple[str, str], ...]
    all_papers: tuple[PlanPaper, ...]
    papers: Mapping[str, tuple[PlanPaper, Mapping[str, Paper]]]
    excluded: Mapping[str, str]
    metrics: tuple[Metric, ...]
    judges: tuple[str, ...]
    references: Mapping[str, tuple[ReviewCase, ...]]
    units: tuple[PreparedUnit, ...]
    settings: Settings
    left_out: tuple[str, ...]
    limits: BudgetSettings
    halves: bool = False
    prompt_changes: tuple[PromptChange, ...] = ()
    null_tests: tuple[tuple[str, str], ...] = ()
    looked_at: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()

    @property
    def metric_names(self) -> tuple[str, ...]:
        """What is measured, by name."""
        return tuple(metric.name for metric in self.metrics)

    @property
    def asks_judges(self) -> bool:
        """Whether judges are opened."""
        return _asks_judges(self.metrics, self.plan.measure.judges)

    @property
    def split_papers(self) -> list[PlanPaper]:
        """The papers of the split, those that cannot be read too."""
        return [paper for paper in self.all_papers if paper.split == self.split]

    @property
    def split_digests(self) -> dict[str, str]:
        """The digests of the split's papers, by name; of a planted one those of both copies."""
        own = [paper.digests for paper in self.split_papers]
        return {name: digest for digests in own for name, digest in digests.items()}

    @property
    def planted(self) -> Path | None:
        """The folder of planted papers, where these are reviewed."""
        return next((paper.path.parents[1] for paper in self.all_papers if paper.clean), None)

    @property
    def embedder(self) -> str:
        """The embedding model's name, where a metric needs one."""
        return self.settings.embedder if any("embedder" in metric.needs for metric in self.metrics) else ""

    @property
    def digest(self) -> str:
        """The plan without its limits and without the split that is looked at."""
        inputs = {key: value for key, value in experiment_inputs(self).items() if key != "split of the papers"}
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


async def open_job(
    source: str | Path | Mapping[str, Any],
    given: Given,
    *,
    split: Split | None,
    options: RunOptions,
    store: UnitStore,
    opened: OpenModels,
) -> ExperimentJob:
    """Resolve a plan; no model is asked. Limits given go over the plan's own, and ``opened`` opens the arms' models.

    A plan without ``[splits]`` is run on all papers, for development; where ``split`` is given, on that half of them.

    Raises:
        SettingsError: The plan, a strategy, metric, model or setting is not usable, a metric fits no paper, or a cost
            limit stands and a model's price is unknown.
        DataError: Papers or references cannot be found, or no paper can be read.
        VenueError: A venue is unknown.
        ModelUnavailable: A server that should say how long its context is cannot be reached.
    """
    loaded = load_plan(source, given)
    plan, progress = loaded.plan, options.progress
    settled = options.settled()
    limits = _limits(plan, options, settled)
    opened.max_cost = limits.max_cost
    settings = _settings(plan, settled)
    arms, left_out, pairs = _compared(plan, given, settings)
    changes = tuple(_prompt_changes(arms, pairs))
    forms = _forms(arms, loaded.folder)
    metrics = find_metrics(plan.measure.metrics or None)
    judges = _judges(metrics, settings, plan.measure.judges)
    all_papers = find_papers(loaded)
    halves = split is not None and not plan.splits.named
    if halves:
        all_papers = halved(all_papers)
    split = split or "development"
    chosen = of_split(all_papers, split)
    references, reading = read_references(
        loaded.path(plan.measure.references) if plan.measure.references else None, all_papers
    )
    _require_references(metrics, chosen, references, plan)
    _require_planted(metrics, plan)
    _check_seeds(plan)
    read, excluded = await _read(chosen, settings, progress)
    units, unusable = await prepared_units(
        [(arm, forms[arm.name]) for arm in arms],
        {name: copies for name, (_, copies) in read.items()},
        plan.seeds,
        settings=settings,
        opened=opened,
        store=store,
        progress=progress,
    )
    excluded |= unusable
    papers = {name: pair for name, pair in read.items() if name not in excluded}
    _require_some(papers, excluded)
    return ExperimentJob(
        plan=plan,
        split=split,
        arms=arms,
        forms=forms,
        pairs=pairs,
        all_papers=all_papers,
        papers=papers,
        excluded=excluded,
        metrics=metrics,
        judges=judges,
        references=references,
        units=tuple(unit for unit in units if unit.unit.paper in papers),
        settings=settings,
        left_out=left_out,
        reading=reading,
        limits=limits,
        halves=halves,
        prompt_changes=changes,
        null_tests=_null_tests(arms, units),
    )


def _compared(
    plan: Plan, given: Given, settings: Settings
) -> tuple[tuple[Arm, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The arms that are run, those left out of a grid, and the pairs that are compared."""
    all_arms, left_out = _that_refine(arms_of(plan), plan)
    arms = chosen_arms(all_arms, given.arms)
    pairs = pairs_of(plan.compare, all_arms, arms)
    for arm in arms:
        settings_of(arm, settings)
    return arms, left_out, pairs


def _limits(plan: Plan, given: RunOptions, settings: Settings) -> BudgetSettings:
    """What was given goes over the plan's own, and that over the settings'."""
    over = {"max_cost": given.max_cost, "max_tokens": given.max_tokens}
    return BudgetSettings.model_validate(
        settings.budget.model_dump(exclude_none=True)
        | plan.budget.model_dump(exclude_none=True)
        | {name: limit for name, limit in over.items() if limit is not None}
    )


def _settings(plan: Plan, settings: Settings) -> Settings:
    """Settings of all arms: limits are the experiment's, and the embedder the plan's where it names one."""
    update: dict[str, Any] = {"budget": BudgetSettings()}
    if plan.measure.embedder:
        update["embedder"] = plan.measure.embedder
    return settings.model_copy(update=update)


def _check_seeds(plan: Plan) -> None:
    if len(set(plan.seeds)) != len(plan.seeds) or not plan.seeds:
        raise SettingsError("the plan's seeds are none, or one stands there twice.", hint="Give each seed once.")


def experiment_inputs(job: ExperimentJob) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    measure = job.plan.measure
    references = [case.model_dump_json() for name in sorted(job.references) for case in job.references[name]]
    return {
        **{f"arm {arm.name!r}": _arm_digest(job, arm) for arm in job.arms},
        **{
            f"paper {name!r}": f"{digest} ({paper.split})"
            for paper in job.all_papers
            for name, digest in paper.digests.items()
        },
        "list of seeds": ", ".join(map(str, job.plan.seeds)),
        "list of comparisons": "; ".join(f"{first} less {second}" for first, second in job.pairs),
        "list of metrics": ", ".join(f"{metric.name}@{metric.version}" for metric in job.metrics),
        **_judges_prompts(job.metrics),
        "panel of judges": ", ".join(job.judges),
        "number of repeats": str(measure.repeats),
        "embedder": job.embedder,
        "set of human reviews": hashlib.sha256("\n".join(references).encode()).hexdigest() if references else "none",
        "split of the papers": job.split,
    }


def all_prompts(job: ExperimentJob) -> dict[str, str]:
    """The prompts that its reviews and metrics may use: digest by prompt and version."""
    return {**prompts_of(job.units), **eval_prompts(job.metrics)}


def _judges_prompts(metrics: Sequence[Metric]) -> dict[str, str]:
    """Prompts of judges that were chosen; the newest that ship are left out, as in what was planned before."""
    chosen = own_versions(name for metric in metrics for name in metric.prompts)
    return {f"version of prompt {name}@{version}": load_prompt(name).digest for name, version in chosen.items()}


def notes_of(job: ExperimentJob) -> Iterator[str]:
    """What a reader of the numbers should know beforehand."""
    writers = {model for prepared in job.units for model in prepared.unit.models}
    for judge in job.judges:
        if full_id(judge) in writers:
            yield f"judge {judge!r} also writes reviews: models prefer their own"
    local = [arm.name for arm in job.arms if check_models(settings_of(arm, job.settings))["writer"].is_local]
    if local:
        yield f"reviews by the embedded model state no rating, which some metrics need: {', '.join(local)}"
    hot = [arm for arm in job.arms if settings_of(arm, job.settings).models.temperature > 0]
    if len(job.plan.seeds) > 1 and len(hot) < len(job.arms):
        yield "at temperature 0 the seeds of an arm hardly differ (models.temperature)"
    if not job.references and any("references" in metric.needs for metric in job.metrics):
        yield "there are no human reviews: metrics that need them do not apply"
    missing = [name for name in job.papers if not job.references.get(name)]
    if job.references and missing and any("references" in metric.needs for metric in job.metrics):
        yield f"{len(missing)} of {len(job.papers)} papers have no human review, the first: {missing[0]!r}"
    yield from job.reading
    if job.halves:
        half = "development (--on dev)" if job.split == "development" else "the test (--on test)"
        yield (
            f"the plan names no splits: {len(job.split_papers)} of its {several(len(job.all_papers), 'paper')}, by the "
            f"digests of their files, {'is' if len(job.split_papers) == 1 else 'are'} for {half}"
        )
    if (strategy := strategy_of_prompts(job.plan)) is not None:
        yield f"the plan names no strategy: its prompts are those of {strategy!r}"
    for one, other in job.null_tests:
        yield f"arms {one!r} and {other!r} have the same prompt: a null test, in which every difference is chance"
    yield from _unused_notes(job)
    if len(job.arms) == 1:
        yield "there is one arm: nothing is compared; a second prompt, strategy or model makes a second arm"
    yield from job.looked_at
    if job.planted is not None:
        count = f"2 x {len(job.papers)} papers x {len(job.arms)} arms"
        yield f"each arm reviews the planted and the clean copy of each paper: {count}" + (
            f" x {len(job.plan.seeds)} seeds" if len(job.plan.seeds) > 1 else ""
        )
    if job.left_out:
        yield f"these have no prompts to refine and are left out of the grid: {'; '.join(job.left_out)}"
    for name, reason in job.excluded.items():
        yield f"paper {name!r} is excluded from every arm: {reason}"
    problems = [prepared.unit for prepared in job.units if prepared.unit.problem]
    if problems:
        first = problems[0]
        yield f"{len(problems)} reviews cannot be made, the first ({first.label}): {first.problem}"


def _unused_notes(job: ExperimentJob) -> Iterator[str]:
    """Prompts that an arm names, and that its reviews do not use."""
    for arm in job.arms:
        identity = next((one.unit.identity for one in job.units if one.unit.arm == arm.name), None)
        for name in sorted(unused_prompts(arm, identity)) if identity is not None else ():
            used = ", ".join(used_prompts(identity or {}))
            yield f"arm {arm.name!r} names prompt {name!r}, which its reviews do not use; they use {used}"


def _prompt_changes(arms: Sequence[Arm], pairs: Sequence[tuple[str, str]]) -> Iterator[PromptChange]:
    by_name = {arm.name: arm for arm in arms}
    for first, second in pairs:
        yield from prompt_changes(by_name[first], by_name[second])


def _null_tests(arms: Sequence[Arm], units: Sequence[PreparedUnit]) -> tuple[tuple[str, str], ...]:
    """The arms that are the same as an earlier one, each with it."""
    found: dict[str, str] = {}
    for arm in arms:
        own = next((dict(one.unit.identity) for one in units if one.unit.arm == arm.name), {"arm": arm.name})
        own.pop("seed", None)
        found[arm.name] = json.dumps(own, sort_keys=True)
    first = {made_of: name for name, made_of in reversed(found.items())}
    return tuple((first[made_of], name) for name, made_of in found.items() if first[made_of] != name)


def _that_refine(arms: tuple[Arm, ...], plan: Plan) -> tuple[tuple[Arm, ...], tuple[str, ...]]:
    """A grid without its combinations of rounds with strategies that refine nothing; listed arms stay as they are."""
    if plan.grid is None:
        return arms, ()
    refining = {name for name, strategy in STRATEGIES.items() if strategy.refines}
    kept = tuple(arm for arm in arms if not arm.rounds or arm.strategy in refining)
    return kept or arms, tuple(arm.name for arm in arms if arm not in kept) if kept else ()


def _forms(arms: Sequence[Arm], folder: Path) -> dict[str, VenueForm]:
    """The form of each arm; a file stands beside the plan.

    Raises:
        SettingsError: Two venues are files that no id finds: a metric could not tell which is whose.
    """
    forms = {arm.name: load_venue(folder / arm.venue if (folder / arm.venue).is_file() else arm.venue) for arm in arms}
    files = {form.id for arm, form in zip(arms, forms.values(), strict=True) if (folder / arm.venue).is_file()}
    if len(files) > 1:
        raise SettingsError(
            f"the venues {', '.join(map(repr, sorted(files)))} are files of the plan, and one at most can be.",
            hint="Install them (`referee venue compile` or the folder of your venues), and name them by their ids.",
        )
    return forms


def _asks_judges(metrics: Sequence[Metric], panel: Sequence[str]) -> bool:
    """Whether judges are opened: for a metric that needs one, and where one is named for a metric that uses it."""
    return any("judge" in metric.needs or (panel and "judge" in metric.uses) for metric in metrics)


def _judges(metrics: Sequence[Metric], settings: Settings, panel: Sequence[str]) -> tuple[str, ...]:
    if not _asks_judges(metrics, panel):
        return ()
    return tuple(spec.id for spec in check_models(settings, judges=list(panel)).values())


def _require_references(
    metrics: Sequence[Metric],
    papers: Sequence[PlanPaper],
    references: Mapping[str, Sequence[ReviewCase]],
    plan: Plan,
) -> None:
    """A metric that no paper can satisfy is refused before anything is paid."""
    needing = [metric.name for metric in metrics if "references" in metric.needs]
    if not needing or any(references.get(paper.name) for paper in papers):
        return
    given = plan.measure.references
    cause = f"{given!r} holds no human review of these papers" if given else "the plan names no human reviews"
    raise SettingsError(
        f"metric {needing[0]!r} compares with human reviews, and can be measured on no paper: {cause}.",
        hint="Name them under [measure] references (papers by file name or digest), or leave the metric away.",
    )


def _require_planted(metrics: Sequence[Metric], plan: Plan) -> None:
    """A metric of planted errors without planted papers is refused before anything is paid."""
    needing = [metric.name for metric in metrics if metric.name in PRESETS["planted"]]
    if needing and not (plan.papers.planted or plan.measure.planted):
        raise SettingsError(
            f"metric {needing[0]!r} is of planted errors, and the plan names no folder of planted papers.",
            hint="Name it under [papers] planted, or give --planted; referee plant PAPER --out FOLDER makes one.",
        )


async def _read(
    papers: Sequence[PlanPaper], settings: Settings, progress: Progress
) -> tuple[dict[str, tuple[PlanPaper, Mapping[str, Paper]]], dict[str, str]]:
    """The papers that can be read, and why the others cannot."""
    read: dict[str, tuple[PlanPaper, Mapping[str, Paper]]] = {}
    excluded: dict[str, str] = {}
    for number, paper in enumerate(papers, 1):
        progress(Event("stage", f"reading paper {number} of {len(papers)}: {paper.path.name}"))
        try:
            copies = {twin: await read_and_tell(path, settings.paper, progress) for twin, path in paper.copies.items()}
            read[paper.name] = (paper, copies)
        except PaperParseError as error:
            excluded[paper.name] = error.message
    _require_some(read, excluded)
    return read, excluded


def _require_some(papers: Mapping[str, object], excluded: Mapping[str, str]) -> None:
    if not papers:
        name, reason = next(iter(excluded.items()))
        raise DataError(
            f"no paper of the plan can be reviewed; the first, {name!r}: {reason}", hint="Mend or replace the papers."
        )


def _arm_digest(job: ExperimentJob, arm: Arm) -> str:
    """All that makes the arm, the venue's form and the prompts' texts included."""
    own = next((p.unit.identity for p in job.units if p.unit.arm == arm.name), {})
    made_of = {key: value for key, value in own.items() if key not in ("paper", "seed")}
    parts = {"arm": repr(replace(arm, name="")), "form": venue_digest(job.forms[arm.name]), **made_of}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
