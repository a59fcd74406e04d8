"""A search for better prompts, as it runs: propose, measure, decide, and keep what is seen to rise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from referee.api.experiments.estimate import estimate, expected_by_paper
from referee.api.experiments.job import ExperimentJob, experiment_inputs, notes_of
from referee.api.experiments.models import OpenModels
from referee.api.experiments.running import execution_of, note_look, planned_result
from referee.api.experiments.units import PreparedUnit, prepared_units
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.api.venues.objective import (
    refuse_same,
)
from referee.api.venues.refining import refinement_inputs
from referee.data.planted import KEYS
from referee.errors import BudgetExceeded, EvaluationError
from referee.evals.metric import Metric
from referee.experiments.halving import LEVEL, Ask, Values, few_papers, most_reviews, rounds_of, select, taken_in_order
from referee.experiments.journal import JOURNAL, Entry, Journal
from referee.experiments.results import experiment_result, made_of
from referee.experiments.schedule import execute
from referee.experiments.seal import Seals
from referee.experiments.units import UnitStore, folder_usage
from referee.graphs.job import Job
from referee.graphs.refinement.given import PINNED
from referee.graphs.refinement.run import (
    ROLES,
    Refinement,
    plan_refinement,
    refine_in_run,
)
from referee.graphs.strategies import STRATEGIES
from referee.prompts import prompt_digests
from referee.reports.html import PAGE
from referee.reports.search_page import render_search
from referee.runs import Budget, Event
from referee.schemas.estimate import PartEstimate, ReviewEstimate, SearchEstimate
from referee.schemas.experiment import ExperimentResult
from referee.schemas.paper_cut import PaperNotRead
from referee.schemas.refinement import BASE, Measured, Selection, VersionCost
from referee.schemas.usage import Usage
from referee.venues.refined import RefinedPrompts, digest_of, refined_json, steps_digest, store_refined

PROPOSALS = "proposals"


@dataclass(frozen=True)
class Search:
    """One search: what is refined, by whom it is measured, and on which papers (``development``, ``held_out``)."""

    run: Session
    refinement: Refinement
    metric: Metric
    development: ExperimentJob
    held_out: ExperimentJob
    store: UnitStore
    opened: OpenModels
    seals: Seals
    seed: int

    @property
    def strategy(self) -> str:
        """Who reviews."""
        return self.development.arms[0].strategy

    @property
    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
        return {
            **{key: text for key, text in experiment_inputs(self.development).items() if key != "split of the papers"},
            **refinement_inputs(self.refinement),
            "list of guidelines": ", ".join(self.refinement.only) or "all",
            "keys of the planted papers": self._keys(),
            "seed of the search": str(self.seed),
            "level of the test": str(LEVEL),
        }

    def _keys(self) -> str:
        planted = self.development.plan.measure.planted
        files = sorted((Path(planted) / KEYS).glob("*.json")) if planted else []
        return digest_of({file.name: file.read_text(encoding="utf-8") for file in files}) if files else "none"

    @property
    def digest(self) -> str:
        """Of all that decides it."""
        return digest_of(self.inputs)

    @property
    def full(self) -> Refinement:
        """The refinement under the key of this search."""
        return replace(self.refinement, measured=self.digest)

    async def require_usable(self) -> None:
        """See that every paper is there once and that both sides can be scored.

        Raises:
            DataError: Two files hold the same paper, or one side has too few that can be read.
            PaperNotRead: The model's window holds too little of most papers of a side.
        """
        sides = [
            {name: paper for name, (_, copies) in job.papers.items() for paper in copies.values()}
            for job in (self.development, self.held_out)
        ]
        refuse_same(*sides)
        for job in (self.development, self.held_out):
            for name, why in job.excluded.items():
                self.run.progress(Event("note", f"paper {name!r} is left out: {why}"))
            unread = [prepared for prepared in job.units if prepared.unit.unread is not None]
            if 2 * len(unread) > len(job.units):
                raise await self._refusal(unread[0])

    async def estimate(self) -> SearchEstimate:
        """What the search takes at most: all proposals made, and the last one shown to the held-out papers."""
        models = await self.opened.of(self.refinement.settings)
        counts = [len(job.papers) for job in (self.development, self.held_out)]
        reviews = sum(most_reviews(self.refinement.rounds, *counts))
        own = await estimate(self.development)
        plans = [prepared.plan or await self._plan(prepared) for prepared in self.development.units]
        reviewing = PartEstimate(name="reviewing", units=reviews).holding(plans)
        parts = [
            PartEstimate(name="proposing", units=0).holding([plan_refinement(self.refinement, models)]),
            reviewing.times(reviews / len(plans)),
        ]
        if own.judging is not None:
            judging = PartEstimate(name="measuring", units=reviews).holding([own.judging])
            parts.append(judging.times(reviews / len(plans)))
        notes = dict.fromkeys(filter(None, (few_papers(*counts), *notes_of(self.development), *own.notes)))
        return SearchEstimate(
            objective=self.metric.name,
            guidelines=len(self.refinement.guidelines),
            development=counts[0],
            held_out=counts[1],
            rounds=rounds_of(self.refinement.rounds, counts[0]),
            parts=tuple(parts),
            notes=tuple(notes),
        ).holding(parts)

    async def _plan(self, prepared: PreparedUnit) -> ReviewEstimate:
        models = await self.opened.of(prepared.settings)
        job = Job(prepared.paper, prepared.form, prepared.settings, models, self.run.progress)
        return await STRATEGIES[self.strategy].plan(job)

    async def _refusal(self, prepared: PreparedUnit) -> PaperNotRead:
        refusal = (await self._plan(prepared)).refusal
        assert refusal is not None, "the unit cannot be made for this reason"
        return refusal

    async def made(self) -> RefinedPrompts:
        """Propose, measure, decide; what is kept is stored. What is there after a stop is written and not decided."""
        journal = Journal(self.run.path / JOURNAL)
        for note in journal.notes:
            self.run.progress(Event("note", note))
        self.run.record(journal.paid)
        note_look(self.run, self.development, self.seals, self.digest)
        budget = self.run.budget(self.development.limits, journal.paid())
        proposed = await self._proposed(journal, budget)
        results: list[ExperimentResult] = []
        try:
            selection = await self._selected(proposed, journal, budget, results)
        except (BudgetExceeded, EvaluationError):
            self._write(proposed, Selection(verdicts=dict.fromkeys(_names(proposed), "open"), level=LEVEL), results)
            raise
        refined = self._write(proposed, selection, results)
        self.run.folder.write(PINNED, refined_json(refined))
        store_refined(refined)
        return refined

    async def _proposed(self, journal: Journal, budget: Budget) -> RefinedPrompts:
        """The proposals: the supervisor's rounds, in a run folder of their own; one version after each."""
        folder, settings = self.run.path / PROPOSALS, self.refinement.settings
        there = self.run.settings.calls.cache

        def inner(event: Event) -> None:
            if event.kind != "run":
                self.run.progress(event)

        began = Entry(event="began", kind="proposals", paper="", folder=str(folder), usage=folder_usage(folder))
        journal.append(began)
        options = RunOptions(settings=settings, progress=inner).within(folder)
        async with session("venue refine", options=options, settings=settings) as run:
            models = await self.opened.of(settings)
            run.check_inputs(refinement_inputs(self.refinement))
            prompts = prompt_digests(self.refinement.prompts)
            door = run.begin(models, roles=ROLES, prompts=prompts, budget=budget)
            made = await refine_in_run(
                self.refinement, run.folder, door, reuse=there, either=True, store=False, progress=inner
            )
        journal.append(began.model_copy(update={"event": "finished", "usage": folder_usage(folder)}))
        return made.model_copy(update={"reused": False})

    async def _selected(
        self, proposed: RefinedPrompts, journal: Journal, budget: Budget, results: list[ExperimentResult]
    ) -> Selection:
        """The procedure, sent what it asks for; ``results`` grows by what was measured."""
        names = _distinct(proposed)
        procedure = select(
            names,
            self._order(self.development),
            self._order(self.held_out),
            base=BASE,
            proposals=self.refinement.rounds,
            sign=1 if self.metric.better == "higher" else -1,
        )
        try:
            ask = next(procedure)
            while True:
                ask = procedure.send(await self._measured(ask, proposed, journal, budget, results))
        except StopIteration as done:
            found: Selection = done.value
        same = {name: "the same" for name in _names(proposed) if name not in names}
        return Selection.model_validate({**found.model_dump(), "verdicts": {**found.verdicts, **same}})

    def _order(self, job: ExperimentJob) -> list[str]:
        return taken_in_order({name: paper.digest for name, (paper, _) in job.papers.items()}, self.seed)

    async def _measured(
        self,
        ask: Ask,
        proposed: RefinedPrompts,
        journal: Journal,
        budget: Budget,
        results: list[ExperimentResult],
    ) -> Values:
        """What is asked for, by an experiment of these arms on these papers in a folder of its own."""
        job = await self._job(ask, proposed)
        if ask.held_out:
            self._unseal()
        name = "held-out" if ask.held_out else f"round-{len(results) + 1}"
        folder = self.run.path / name
        folder.mkdir(exist_ok=True)
        self.run.progress(Event("note", f"{name}: {', '.join(ask.versions)} on {len(ask.papers)} new papers"))
        expected = expected_by_paper(job, await estimate(job))
        execution = execution_of(
            self.run, job, expected, self.opened, self.store, journal, budget=budget, folder=folder
        )
        await execute(execution)
        result = experiment_result(made_of(execution), folder, planned_result(job), job.pairs, "finished")
        results.append(result)
        if ask.held_out:
            self.seals.close(result.model_copy(update={"plan_digest": self.digest}), self.run.path)
        return _values(result, ask, self.metric.name)

    async def _job(self, ask: Ask, proposed: RefinedPrompts) -> ExperimentJob:
        """The arms of a round on its papers."""
        whole = self.held_out if ask.held_out else self.development
        (base,) = whole.arms
        arms = (base, *(replace(base, name=one, refined=proposed.at(_round(one))) for one in ask.versions))
        form = whole.forms[BASE]
        units, _ = await prepared_units(
            [(arm, form) for arm in arms],
            {name: whole.papers[name][1] for name in ask.papers},
            whole.plan.seeds,
            settings=whole.settings,
            opened=self.opened,
            store=self.store,
            progress=self.run.progress,
        )
        return replace(
            whole,
            arms=arms,
            forms={arm.name: form for arm in arms},
            pairs=tuple((arm.name, BASE) for arm in arms[1:]),
            papers={name: whole.papers[name] for name in ask.papers},
            units=tuple(units),
        )

    def _unseal(self) -> None:
        papers = self.held_out.split_digests
        for look in self.seals.looked_at(papers, [self.metric.name], self.digest):
            self.run.progress(Event("note", f"the held-out papers: {look}"))
        note_look(self.run, self.held_out, self.seals, self.digest)

    def _write(
        self, proposed: RefinedPrompts, selection: Selection, results: Sequence[ExperimentResult]
    ) -> RefinedPrompts:
        """All versions with what is known of them, and their page."""
        refined = self._with_verdicts(proposed, selection, results)
        self.run.write(PAGE, render_search(refined, self.refinement.form))
        return refined

    def _with_verdicts(
        self, proposed: RefinedPrompts, selection: Selection, results: Sequence[ExperimentResult]
    ) -> RefinedPrompts:
        names = _names(proposed)
        measured = Measured(
            digest=self.digest,
            objective=self.metric.name,
            metric_version=self.metric.version,
            better="higher" if self.metric.better == "higher" else "lower",
            strategy=self.strategy,
            judges=self.development.judges,
            development={name: paper.digest for name, (paper, _) in self.development.papers.items()},
            held_out={name: paper.digest for name, (paper, _) in self.held_out.papers.items()},
            seed=self.seed,
            selection=selection,
            parents={name: f"v{_round(name) - 1}" for name in names},
            costs={name: _cost(name, results) for name in (BASE, *names)},
            notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
            cut_line=" ".join(dict.fromkeys(result.cut_line for result in results if result.cut_line)),
        )
        made = proposed.at(measured.kept_round or 0)
        return made.model_copy(
            update={
                "key": self.full.key,
                "measured": measured,
                "refined_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "run_id": self.run.folder.record.run_id,
                "usage": self.run.usage,
            }
        )


def _round(version: str) -> int:
    return int(version.removeprefix("v"))


def _names(proposed: RefinedPrompts) -> list[str]:
    return [f"v{number}" for number in range(1, proposed.rounds + 1)]


def _distinct(proposed: RefinedPrompts) -> list[str]:
    """The versions whose steps no earlier one has, version 0 included."""
    digests = {name: _digest(proposed, _round(name)) for name in ("v0", *_names(proposed))}
    first = {digest: name for name, digest in reversed(digests.items())}
    return [name for name, digest in digests.items() if first[digest] == name and name != "v0"]


def _digest(proposed: RefinedPrompts, number: int) -> str:
    return digest_of([steps_digest(one.after_round(number).steps) for one in proposed.guidelines])


def _values(result: ExperimentResult, ask: Ask, metric: str) -> dict[str, dict[str, float]]:
    """The values by arm and paper.

    Raises:
        EvaluationError: Most papers have none: what failed is tried again when the run is resumed.
    """
    found: dict[str, dict[str, float]] = {arm.name: {} for arm in result.arms}
    for value in result.values:
        if value.value is not None:
            found[value.arm][value.paper] = value.value
    scored = set.intersection(*(set(values) for values in found.values()))
    if 2 * len(scored) < len(ask.papers):
        why = next((f"{v.paper!r}, {v.arm}: {v.reason}" for v in result.values if v.value is None), "no review")
        raise EvaluationError(
            f"{metric} has a value on {len(scored)} of {len(ask.papers)} papers of a round, too few for a verdict; "
            f"the first without: {why}.",
            hint="Mend the cause and go on with --resume: what failed is tried again, what is there is not paid twice.",
        )
    return found


def _cost(name: str, results: Sequence[ExperimentResult]) -> VersionCost:
    own = [arm for result in results for arm in result.arms if arm.name == name]
    return VersionCost(
        reviews=sum(arm.units.get("finished", 0) for arm in own),
        reviewing=sum((arm.usage for arm in own), Usage()),
        judging=sum((arm.judging for arm in own), Usage()),
    )
