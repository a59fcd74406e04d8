"""What a run will ask and cost, before the first call: from a sample of the reviews and what each metric foresees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from referee.data.known_sets import KnownErrors
from referee.evals.case_store import CaseStore
from referee.evals.forms import Forms
from referee.evals.metric import Foreseeing, Known, Load, Metric
from referee.llm.models import Model
from referee.prompts import load_prompt
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import PartEstimate

SAMPLED = 200

# A reply schema and the fences around material come on top of a prompt's own text.
_SCHEMA_TOKENS = 250


@dataclass(frozen=True)
class Given:
    """What the reviews come with, as far as it is known before the first unit."""

    papers: bool
    forms: Forms
    known: KnownErrors | None = None


def plan_metrics(
    metrics: Sequence[Metric], store: CaseStore, given: Given, judges: Sequence[Model], repeats: int
) -> tuple[PartEstimate, ...]:
    """The estimate by metric. Reviews that a metric cannot be asked of are not counted.

    Args:
        metrics: What is measured.
        store: The reviews; at most ``SAMPLED`` of them are looked at, and the rest is taken to be like them.
        given: Papers, forms and known errors.
        judges: The panel's models.
        repeats: How often each judge is asked.
    """
    sample = store.sample(SAMPLED)
    return tuple(_planned(metric, sample, store, given, judges, repeats) for metric in metrics)


def _planned(
    metric: Metric,
    sample: Sequence[ReviewCase],
    store: CaseStore,
    given: Given,
    judges: Sequence[Model],
    repeats: int,
) -> PartEstimate:
    scale = len(store) / len(sample) if sample else 0.0
    asked = [case for case in sample if _askable(metric, case, store, given)]
    units = round(len(asked) * scale)
    if "judge" not in metric.needs | metric.uses or not judges:
        return PartEstimate(name=metric.name, units=units)
    load_of = _loads(metric, judges[0].count)
    loads = [load_of(case, _known(case, store, given, judges[0])) for case in asked]
    most = [_at_most(load) for load in loads]
    calls, most_calls, tokens_in, tokens_out = 0, 0, 0, 0
    cost: float | None = 0.0
    for number, judge in enumerate(judges):
        own_calls, own_in, own_out = _share(loads, scale, once=number == 0, repeats=repeats)
        most_calls += _share(most, scale, once=number == 0, repeats=repeats)[0]
        calls, tokens_in, tokens_out = calls + own_calls, tokens_in + own_in, tokens_out + own_out
        price = judge.cost(own_in, own_out)
        cost = None if cost is None or price is None else cost + price
    return PartEstimate(
        name=metric.name,
        units=units,
        calls=calls,
        most_calls=most_calls,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=cost,
    )


def _known(case: ReviewCase, store: CaseStore, given: Given, judge: Model) -> Known:
    held = (given.known.of(case.paper_id) if given.known else None) or ()
    errors = sum(case.case_id not in error.reported_by for error in held)
    return Known(_references(case, store), given.forms.of(case), store.boxes.common(case.venue), judge, errors)


def _references(case: ReviewCase, store: CaseStore) -> int:
    return store.human_count(case.paper_id) - (case.kind == "human")


def _at_most(load: Load) -> Load:
    once = load.once if load.most_once is None else load.most_once
    judged = load.judged if load.most_judged is None else load.most_judged
    return replace(load, once=once, judged=judged)


def _share(loads: Sequence[Load], scale: float, *, once: bool, repeats: int) -> tuple[int, int, int]:
    """One judge's calls, tokens in and tokens out; the first also makes the calls that are made once."""
    calls = tokens_in = tokens_out = 0.0
    for load in loads:
        asked = load.judged * repeats + (load.once if once else 0)
        calls += asked
        tokens_in += asked * load.input_tokens
        tokens_out += asked * load.output_tokens
    return round(calls * scale), round(tokens_in * scale), round(tokens_out * scale)


def _askable(metric: Metric, case: ReviewCase, store: CaseStore, given: Given) -> bool:
    return not (
        not case.text.strip()
        or ("references" in metric.needs and _references(case, store) < 1)
        or ("paper" in metric.needs and not given.papers)
        or ("venue" in metric.needs and given.forms.of(case) is None)
        or ("known" in metric.needs and (given.known is None or given.known.of(case.paper_id) is None))
    )


def _loads(metric: Metric, count: Callable[[str], int]) -> Callable[[ReviewCase, Known], Load]:
    """What the metric foresees, or one judged call per prompt over the review's text."""
    if isinstance(metric, Foreseeing):
        return metric.load
    prompts = [load_prompt(name) for name in metric.prompts]
    own = sum(count(prompt.system) + count(prompt.user) + _SCHEMA_TOKENS for prompt in prompts)
    calls = max(len(prompts), 1)

    def usual(case: ReviewCase, known: Known) -> Load:
        return Load(judged=calls, input_tokens=own // calls + count(case.text))

    return usual
