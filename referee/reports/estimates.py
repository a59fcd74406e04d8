"""Estimates in lines for a terminal, shown before the first call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from referee.reports.plain import one_line
from referee.schemas.estimate import (
    ArenaEstimate,
    Estimate,
    ExperimentEstimate,
    PlantEstimate,
    ReviewEstimate,
    SearchEstimate,
    SetEstimate,
    WritingEstimate,
)
from referee.schemas.paper_cut import cut_line


def review_estimate_lines(plan: ReviewEstimate, *, words: str = "Estimate: ") -> Iterator[str]:
    """What of the paper will not be read, the estimate after some words, the one that was not chosen, and the notes."""
    if plan.cut:
        yield one_line(cut_line(plan.cut, will=True))
    yield f"{words}{estimate_line(plan)}."
    if plan.other:
        yield f"With --preset {plan.other.preset}: {estimate_line(plan.other)}."
    yield from _notes(plan)


def estimate_line(plan: ReviewEstimate) -> str:
    """Calls, tokens, cost and models of a plan in one phrase."""
    calls = f"{plan.calls} call{'' if plan.calls == 1 else 's'}"
    tokens = f"about {plan.input_tokens:,} tokens in and {plan.output_tokens:,} out"
    return f"{calls}, {tokens}, {cost(plan.cost_usd)} ({_by_model(plan.models)})"


def set_estimate_lines(plan: SetEstimate) -> Iterator[str]:
    """The estimate by metric, where there are any, and what is worth knowing before it is confirmed."""
    judges = ", ".join(plan.judges) or "none"
    repeats = f", each asked {plan.repeats} times" if plan.repeats > 1 and plan.judges else ""
    yield f"{several(plan.reviews, 'review')} of {several(plan.papers, 'paper')}; judges: {judges}{repeats}."
    for one in plan.metrics:
        runs = f"; {one_line(one.runs)}" if one.runs else ""
        yield f"  {one.name}: {several(one.units, 'review')}, {amount(one, most_calls=one.most_calls)}{runs}"
    yield f"Estimate: {amount(plan, most_calls=plan.most_calls)}."
    yield from _notes(plan)


def experiment_estimate_lines(estimate: ExperimentEstimate) -> Iterator[str]:
    """The estimate by arm, then of judging, then the whole, and what is worth knowing."""
    split = "" if estimate.split == "all" else f" ({estimate.split} split)"
    yield (
        f"{several(estimate.units, 'review')} of {several(estimate.papers, 'paper')}{split} by "
        f"{several(len(estimate.arms), 'arm')}; {several(estimate.excluded, 'paper')} excluded."
    )
    for arm in estimate.arms:
        there = f", {arm.there} there already" if arm.there else ""
        impossible = f", {arm.impossible} impossible" if arm.impossible else ""
        yield f"  {arm.name}: {several(arm.units, 'review')}{there}{impossible}, {amount(arm)}"
    if estimate.judging is not None:
        judges = ", ".join(estimate.judging.judges) or "none"
        yield f"  measuring (judges: {judges}): {amount(estimate.judging)}"
    yield f"Estimate: {amount(estimate)}."
    yield from _notes(estimate)


def search_estimate_lines(plan: SearchEstimate) -> Iterator[str]:
    """What is searched on which papers, the estimate by part, the whole, and what is worth knowing."""
    versions = plan.rounds[0][0]
    yield (
        f"{several(versions, 'proposal')} for {several(plan.guidelines, 'guideline')}, measured by {plan.objective} on "
        f"{several(plan.development, 'paper')}; {plan.held_out} more are held out."
    )
    halving = ", then ".join(f"{count} on {several(papers, 'paper')}" for count, papers in plan.rounds)
    yield f"Halving: {halving}; each beside reviews without refined prompts."
    for part in plan.parts:
        units = f"{several(part.units, 'review')}, " if part.name == "reviewing" else ""
        yield f"  {part.name}: {units}{amount(part)}"
    yield f"Estimate: at most {amount(plan)}."
    yield from _notes(plan)


def arena_estimate_lines(plan: ArenaEstimate) -> Iterator[str]:
    """Papers by form, what is skipped, the estimate, and what is worth knowing."""
    forms = ", ".join(f"{form} ({count:,})" for form, count in sorted(plan.forms.items()))
    there = f"; {plan.there:,} are answered already" if plan.there else ""
    yield f"{several(sum(plan.forms.values()), 'paper')} on their own forms: {forms}{there}."
    for reason, count in sorted(plan.skipped.items()):
        yield f"  skipped, {count:,}: {one_line(reason)}"
    model = f" ({plan.model})" if plan.calls else ""
    yield f"Estimate: {amount(plan)}{model}."
    yield from _notes(plan)


def writing_estimate_lines(plan: WritingEstimate) -> Iterator[str]:
    """What is written by whom, what is skipped, the estimate, and what is worth knowing."""
    yield f"{several(plan.reviews, 'review')} ({plan.what}) by {', '.join(plan.models)}."
    for reason, count in sorted(plan.skipped.items()):
        yield f"  skipped, {count:,}: {one_line(reason)}"
    yield f"Estimate: {amount(plan, most_calls=plan.most_calls)}."
    yield from _notes(plan)


def plant_estimate_lines(plan: PlantEstimate) -> Iterator[str]:
    """What is worded and read by whom, and the estimate."""
    models = ", ".join(plan.models)
    yield f"At most {several(plan.plants, 'error')} in {several(plan.papers, 'paper')}; models: {models}."
    yield f"Estimate: {amount(plan, most_calls=plan.most_calls)}."
    yield from _notes(plan)


def amount(of: Estimate, *, most_calls: int = 0) -> str:
    """An estimate in one phrase; ``most_calls`` is named where it is above the typical number."""
    if not of.calls:
        return "no call"
    most = f" (at most {most_calls:,})" if most_calls > of.calls else ""
    calls = f"about {several(of.calls, 'call')}{most}"
    return f"{calls}, {of.input_tokens:,} tokens in and {of.output_tokens:,} out, {cost(of.cost_usd)}"


def several(number: int, word: str) -> str:
    """A number of things: ``1 review``, ``2,000 reviews``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def cost(usd: float | None) -> str:
    """An expected cost; an unknown price is said."""
    return "cost unknown (no price for this model)" if usd is None else f"about ${usd:.4f}"


def _notes(plan: Estimate) -> Iterator[str]:
    yield from (f"Note: {one_line(note)}." for note in plan.notes)


def _by_model(models: Mapping[str, str]) -> str:
    """Which model plays which roles: its name alone where it plays all."""
    if len(set(models.values())) == 1:
        return next(iter(models.values()))
    return "; ".join(
        f"{model}: {', '.join(r for r in models if models[r] == model)}" for model in sorted(set(models.values()))
    )
