"""Results of experiments for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from referee.schemas.experiment import (
    ArmCell,
    ArmComparison,
    ArmRecord,
    ExperimentResult,
    PaperRecord,
    PaperValue,
)
from referee.schemas.usage import Usage

Values = Mapping[str, Sequence[float | None]]
"""A value a paper, by arm; None failed."""


def arm(name: str, *, reviews: int = 3, cost: float | None = 0.3, **about: Any) -> ArmRecord:
    """An arm whose reviews took 4 calls and 1,100 tokens each."""
    made = Usage(calls=4 * reviews, input_tokens=1000 * reviews, output_tokens=100 * reviews, cost_usd=cost)
    known = {"strategy": "sections", "venue": "iclr-2020", "rounds": 0, "models": {"writer": "m"}, "usage": made}
    return ArmRecord.model_validate({"name": name, "units": {"finished": reviews}, **known, **about})


def result(arms: Sequence[ArmRecord], metrics: Mapping[str, Values], **about: Any) -> ExperimentResult:
    """A result with these values; its means are theirs, its intervals stand 0.1 around them."""
    papers = [f"p{n}" for n in range(max(len(values) for by_arm in metrics.values() for values in by_arm.values()))]
    return ExperimentResult(
        name="try",
        split="development",
        plan_digest="0" * 64,
        package_version="1",
        status="finished",
        seeds=(0,),
        metrics=tuple(metrics),
        arms=tuple(arms),
        papers=tuple(PaperRecord(name=paper, paper_id=paper) for paper in papers),
        values=tuple(
            _value(paper, own.name, metric, by_arm[own.name][n])
            for n, paper in enumerate(papers)
            for metric, by_arm in metrics.items()
            for own in arms
        ),
        cells=tuple(_cell(own.name, metric, by_arm[own.name]) for metric, by_arm in metrics.items() for own in arms),
        comparisons=tuple(
            _comparison(arms[later].name, arms[earlier].name, metric, by_arm)
            for metric, by_arm in metrics.items()
            for later in range(len(arms))
            for earlier in range(later)
        ),
        **about,
    )


def _value(paper: str, name: str, metric: str, value: float | None) -> PaperValue:
    status, reason = ("failed", "the model was mute") if value is None else ("scored", "")
    return PaperValue.model_validate(
        {"paper": paper, "arm": name, "metric": metric, "status": status, "value": value, "reason": reason}
    )


def _cell(name: str, metric: str, values: Sequence[float | None]) -> ArmCell:
    there = [value for value in values if value is not None]
    counts = {"n_scored": len(there), "n_failed": len(values) - len(there)}
    if not there:
        return ArmCell(arm=name, metric=metric, **counts)
    mean = fmean(there)
    return ArmCell(arm=name, metric=metric, mean=mean, low=mean - 0.1, high=mean + 0.1, **counts)


def _comparison(first: str, second: str, metric: str, by_arm: Values) -> ArmComparison:
    pairs = [(a, b) for a, b in zip(by_arm[first], by_arm[second], strict=True) if a is not None and b is not None]
    mean = fmean(a - b for a, b in pairs) if pairs else None
    bounds = {} if mean is None else {"mean_difference": mean, "low": mean - 0.1, "high": mean + 0.1, "p": 0.04}
    failed = len(by_arm[first]) - len(pairs)
    return ArmComparison(
        first=first,
        second=second,
        metric=metric,
        n_pairs=len(pairs),
        n_failed=failed,
        n_not_applicable=0,
        n_pending=0,
        p_holm=0.08 if pairs else None,
        **bounds,
    )
