"""What an experiment will ask and cost: from the strategies' own plans, and from the metrics' for stand-in reviews."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from referee.api.evaluations.evaluating import evaluate
from referee.api.experiments.job import ExperimentJob, notes_of
from referee.api.experiments.models import planned_models
from referee.api.experiments.units import PreparedUnit
from referee.api.options import RunOptions
from referee.errors import RunError
from referee.experiments.papers import link_papers
from referee.experiments.review_set import case_id, set_paper_id
from referee.graphs.job import Shared
from referee.llm.models import Models
from referee.runs import Budget
from referee.runs.files import write_atomically
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import Estimate, ExperimentEstimate, PartEstimate, ReviewEstimate, SetEstimate
from referee.schemas.usage import Usage
from referee.settings import BudgetSettings

STAND_IN_WORDS = 600
_STAND_IN = "The submission does something that deserves a remark of this length in its review. "


async def estimate(job: ExperimentJob, measured: Sequence[str] = ()) -> ExperimentEstimate:
    """Calls, tokens and cost of what is left to do.

    Args:
        job: The plan.
        measured: Papers whose reviews have been measured.
    """
    judging = await _judging(job, [name for name in job.papers if name not in measured])
    arms = tuple(_arms(job))
    whole = ExperimentEstimate(
        split=job.split if job.halves or job.plan.splits.named else "all",
        papers=len(job.papers),
        excluded=len(job.excluded),
        arms=arms,
        judging=judging,
        notes=(*notes_of(job), *_model_notes(job)),
    )
    return whole.holding([*arms, *([judging] if judging else [])])


def expected_by_paper(job: ExperimentJob, whole: ExperimentEstimate) -> dict[str, Usage]:
    """What the reviews of each paper and their measurement will take; of the measurement each has an equal share."""
    judging = whole.judging
    share = Usage()
    if judging is not None:
        share = _usage(judging, 1 / len(job.papers))
    return {
        name: sum((_usage(one.plan) for one in job.units if one.plan and one.unit.paper == name), share)
        for name in job.papers
    }


def _usage(plan: Estimate, share: float = 1.0) -> Usage:
    return Usage(
        calls=round(plan.calls * share),
        input_tokens=round(plan.input_tokens * share),
        output_tokens=round(plan.output_tokens * share),
        cost_usd=None if plan.cost_usd is None else plan.cost_usd * share,
    )


def _arms(job: ExperimentJob) -> Iterator[PartEstimate]:
    """Prompts that an arm refines first are counted once, with the first review that uses them."""
    refined: set[str] = set()
    for arm in job.arms:
        own = [prepared for prepared in job.units if prepared.unit.arm == arm.name]
        plans = [plan for prepared in own if (plan := _own_plan(prepared, refined)) is not None]
        share = PartEstimate(
            name=arm.name,
            units=len(own),
            there=sum(prepared.is_there for prepared in own),
            impossible=sum(bool(prepared.unit.problem) for prepared in own),
        )
        yield share.holding(plans)


def _own_plan(prepared: PreparedUnit, refined: set[str]) -> ReviewEstimate | None:
    plan, key = prepared.plan, prepared.unit.identity.get("refinement of the prompts")
    if plan is None or key is None or plan.other is None:
        return plan
    if key in refined:
        return plan.other
    refined.add(key)
    return plan


async def _judging(job: ExperimentJob, papers: Sequence[str]) -> SetEstimate | None:
    """The metrics' estimate for as many reviews as the units, each of a typical length; no judge is opened."""
    if not papers:
        return None
    measure, caught = job.plan.measure, list[SetEstimate]()
    limited = job.settings.model_copy(update={"budget": BudgetSettings(max_cost=job.limits.max_cost)})
    judges = planned_models(limited, judges=measure.judges) if job.asks_judges else Models({})

    def refuse(plan: SetEstimate) -> bool:
        caught.append(plan)
        return False

    with tempfile.TemporaryDirectory(prefix="referee-") as aside:
        source, folder = Path(aside) / "set.jsonl", Path(aside) / "papers"
        folder.mkdir()
        link_papers(folder, [job.papers[name][0] for name in papers])
        cases = [*_stand_ins(job, papers), *(case for name in papers for case in job.references.get(name, ()))]
        write_atomically(source, "".join(f"{case.model_dump_json(exclude_defaults=True)}\n" for case in cases))
        try:
            await evaluate(
                source,
                papers=folder,
                planted=job.planted,
                venue=next(iter(job.forms.values())),
                metrics=job.metric_names,
                judges=measure.judges,
                repeats=measure.repeats,
                shared=Shared(judges, Budget()),
                options=RunOptions(out=Path(aside) / "run", settings=job.settings, confirm=refuse),
            )
        except RunError:
            if not caught:
                raise
    return caught[0]


def _stand_ins(job: ExperimentJob, papers: Sequence[str]) -> Iterator[ReviewCase]:
    text = _STAND_IN * (STAND_IN_WORDS // len(_STAND_IN.split()))
    for prepared in job.units:
        unit = prepared.unit
        if unit.paper in papers and not unit.problem:
            yield ReviewCase(
                case_id=case_id(unit),
                paper_id=set_paper_id(unit, prepared.paper.paper_id),
                venue=prepared.form.id,
                source=unit.arm,
                kind="ai",
                text=text,
            )


def _model_notes(job: ExperimentJob) -> Iterator[str]:
    yield from dict.fromkeys(note for prepared in job.units if prepared.plan for note in prepared.plan.notes)
