"""What an experiment will ask and cost: from the strategies' own plans, and from the metrics' for stand-in reviews."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.eval_job import needs
from referee.api.eval_run import SharedMeans
from referee.api.evaluating import evaluate
from referee.api.experiment_job import ExperimentJob, notes_of
from referee.api.experiment_models import planned_models
from referee.api.experiment_units import PreparedUnit
from referee.api.job import Plan
from referee.errors import RunError
from referee.evals.estimate import EvalPlan
from referee.experiments.review_set import case_id
from referee.llm.models import Models
from referee.runs import Budget
from referee.runs.files import write_atomically
from referee.schemas.case import ReviewCase
from referee.schemas.usage import Usage
from referee.settings import BudgetSettings

STAND_IN_WORDS = 600
_STAND_IN = "The submission does something that deserves a remark of this length in its review. "


@dataclass(frozen=True)
class ArmEstimate:
    """One arm: its units, those that are there already, those that cannot be made, and what the rest will take."""

    arm: str
    units: int
    there: int
    impossible: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class ExperimentEstimate:
    """The whole, before the first call. ``judging`` is None where nothing is left to judge.

    Attributes:
        split: The papers it is for.
        papers: How many papers are reviewed.
        excluded: How many could not be read.
        arms: The reviews.
        judging: Measuring them, taken as reviews of ``STAND_IN_WORDS`` words.
        notes: What is worth knowing.
    """

    split: str
    papers: int
    excluded: int
    arms: tuple[ArmEstimate, ...]
    judging: EvalPlan | None
    notes: tuple[str, ...]

    @property
    def units(self) -> int:
        """All reviews the plan asks for."""
        return sum(arm.units for arm in self.arms)

    @property
    def calls(self) -> int:
        """Calls of reviews and judges."""
        return sum(arm.calls for arm in self.arms) + (self.judging.calls if self.judging else 0)

    @property
    def input_tokens(self) -> int:
        """Tokens in."""
        return sum(arm.input_tokens for arm in self.arms) + (self.judging.input_tokens if self.judging else 0)

    @property
    def output_tokens(self) -> int:
        """Tokens out."""
        return sum(arm.output_tokens for arm in self.arms) + (self.judging.output_tokens if self.judging else 0)

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None where a price is unknown."""
        costs = [arm.cost_usd for arm in self.arms] + ([self.judging.cost_usd] if self.judging else [])
        return None if None in costs else sum(cost for cost in costs if cost is not None)


async def estimate(job: ExperimentJob, measured: Sequence[str] = ()) -> ExperimentEstimate:
    """Calls, tokens and cost of what is left to do.

    Args:
        job: The plan.
        measured: Papers whose reviews have been measured.
    """
    judging = await _judging(job, [name for name in job.papers if name not in measured])
    return ExperimentEstimate(
        split=job.split,
        papers=len(job.papers),
        excluded=len(job.excluded),
        arms=tuple(_arms(job)),
        judging=judging,
        notes=(*notes_of(job), *_model_notes(job)),
    )


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


def _usage(plan: Plan | EvalPlan, share: float = 1.0) -> Usage:
    return Usage(
        calls=round(plan.calls * share),
        input_tokens=round(plan.input_tokens * share),
        output_tokens=round(plan.output_tokens * share),
        cost_usd=None if plan.cost_usd is None else plan.cost_usd * share,
    )


def _arms(job: ExperimentJob) -> Iterator[ArmEstimate]:
    """Prompts that an arm refines first are counted once, with the first review that uses them."""
    refined: set[str] = set()
    for arm in job.arms:
        own = [prepared for prepared in job.units if prepared.unit.arm == arm.name]
        plans = [plan for prepared in own if (plan := _own_plan(prepared, refined)) is not None]
        costs = [plan.cost_usd for plan in plans]
        yield ArmEstimate(
            arm=arm.name,
            units=len(own),
            there=sum(prepared.is_there for prepared in own),
            impossible=sum(bool(prepared.unit.problem) for prepared in own),
            calls=sum(plan.calls for plan in plans),
            input_tokens=sum(plan.input_tokens for plan in plans),
            output_tokens=sum(plan.output_tokens for plan in plans),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        )


def _own_plan(prepared: PreparedUnit, refined: set[str]) -> Plan | None:
    plan, key = prepared.plan, prepared.unit.identity.get("refinement of the prompts")
    if plan is None or key is None or plan.other is None:
        return plan
    if key in refined:
        return plan.other
    refined.add(key)
    return plan


async def _judging(job: ExperimentJob, papers: Sequence[str]) -> EvalPlan | None:
    """The metrics' estimate for as many reviews as the units, each of a typical length; no judge is opened."""
    if not papers:
        return None
    measure, caught = job.plan.measure, list[EvalPlan]()
    limited = job.settings.model_copy(update={"budget": BudgetSettings(max_cost=job.limits.max_cost)})
    judges = planned_models(limited, judges=measure.judges) if needs(job.metrics, "judge") else Models({})

    def refuse(plan: EvalPlan) -> bool:
        caught.append(plan)
        return False

    with tempfile.TemporaryDirectory(prefix="referee-") as aside:
        source, shelf = Path(aside) / "set.jsonl", Path(aside) / "papers"
        shelf.mkdir()
        for name in papers:
            path = job.papers[name][0].path.absolute()
            (shelf / f"{name}{''.join(path.suffixes[-2:])}").symlink_to(path)
        cases = [*_stand_ins(job, papers), *(case for name in papers for case in job.references.get(name, ()))]
        write_atomically(source, "".join(f"{case.model_dump_json(exclude_defaults=True)}\n" for case in cases))
        try:
            await evaluate(
                source,
                papers=shelf,
                venue=next(iter(job.forms.values())),
                metrics=[metric.name for metric in job.metrics],
                judges=measure.judges,
                repeats=measure.repeats,
                out=Path(aside) / "run",
                settings=job.settings,
                shared=SharedMeans(judges, None, Budget()),
                confirm=refuse,
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
                paper_id=unit.paper,
                venue=prepared.form.id,
                source=unit.arm,
                kind="ai",
                text=text,
            )


def _model_notes(job: ExperimentJob) -> Iterator[str]:
    yield from dict.fromkeys(note for prepared in job.units if prepared.plan for note in prepared.plan.notes)
