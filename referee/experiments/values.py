"""From results to one value a paper, arm and metric; what failed anywhere is failed everywhere, and says where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from referee.evals.planted.matching import Verdict
from referee.evals.planted.metrics import PlantedDetails
from referee.evals.quality.judged import stored_as
from referee.experiments.review_set import case_id
from referee.experiments.units import Unit
from referee.schemas.experiment import PaperValue, ValueStatus
from referee.schemas.metric import MetricResult

NOT_REACHED = "the run ended before it"
_OPEN: Verdict = "ambiguous"


@dataclass(frozen=True)
class UnitOutcome:
    """What became of a unit: ``finished``, ``failed`` (and why) or ``pending``."""

    status: str
    reason: str = ""


@dataclass(frozen=True)
class Measured:
    """What is known of one paper: its units in the order of seeds by arm, their outcomes, and the results by case.

    ``reason`` is why the measurement as a whole failed, where it did.
    """

    paper: str
    units: Mapping[str, Sequence[Unit]]
    outcomes: Mapping[Unit, UnitOutcome]
    results: Mapping[tuple[str, str], MetricResult]
    reason: str = ""


def values_of(measured: Measured, metrics: Sequence[str]) -> Iterator[PaperValue]:
    """A value for each arm and metric of the paper.

    A unit that failed takes the paper out of every arm; one that is pending keeps it pending in every arm; a metric
    that failed on one arm's review takes the paper out of every arm for that metric.
    """
    stop = _unit_trouble(measured)
    for metric in metrics:
        own = {arm: stop or _own_value(measured, arm, metric) for arm in measured.units}
        for arm, value in own.items():
            yield _shared(measured.paper, arm, metric, value, own)


@dataclass(frozen=True)
class _Value:
    status: ValueStatus
    value: float | None = None
    reason: str = ""
    by_seed: tuple[float | None, ...] = ()
    arm: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    undecided: Mapping[str, float] = field(default_factory=dict)


def _unit_trouble(measured: Measured) -> _Value | None:
    """What a unit's failure, or else its absence, makes of the whole paper."""
    for wanted in ("failed", "pending"):
        for arm, units in measured.units.items():
            for unit in units:
                outcome = measured.outcomes[unit]
                if outcome.status == wanted:
                    return _Value("failed" if wanted == "failed" else "pending", reason=outcome.reason, arm=arm)
    return None


def _own_value(measured: Measured, arm: str, metric: str) -> _Value:
    units = _spoken_of(measured, arm, metric)
    found = [measured.results.get((case_id(unit), metric)) for unit in units]
    by_seed = tuple(result.value if result is not None else None for result in found)
    if any(result is None for result in found):
        if measured.reason:
            return _Value("failed", reason=measured.reason, arm=arm)
        return _Value("pending", reason=NOT_REACHED, arm=arm)
    results = [result for result in found if result is not None]
    for status in ("failed", "not_applicable"):
        for result in results:
            if result.status == status:
                return _Value(result.status, reason=result.reason, by_seed=by_seed, arm=arm)
    value = fmean(result.value or 0.0 for result in results)
    return _Value(
        "scored",
        value,
        by_seed=by_seed,
        arm=arm,
        errors=_errors(metric, results),
        undecided=_errors(metric, results, _OPEN),
    )


def _errors(metric: str, results: Sequence[MetricResult], verdict: Verdict = "found") -> dict[str, float]:
    """By planted error the share of reviews that name it in print, or of those with this verdict; empty for another
    metric.
    """
    if metric != "planted_recall":
        return {}
    found = [
        {record.record_id: record.printed.verdict == verdict for record in stored_as(PlantedDetails, result).counted}
        for result in results
        if "records" in result.details
    ]
    return {name: fmean(one[name] for one in found) for name in found[0]} if found else {}


def _spoken_of(measured: Measured, arm: str, metric: str) -> Sequence[Unit]:
    """The arm's units without the copies of a planted paper that the metric does not speak of: recall is of the planted
    one, false alarms are of the clean one. A metric that speaks of both is their mean.
    """
    of: dict[str, list[Unit]] = {}
    for unit in measured.units[arm]:
        of.setdefault(unit.twin, []).append(unit)
    results = {twin: [measured.results.get((case_id(unit), metric)) for unit in own] for twin, own in of.items()}
    silent = {t for t, own in results.items() if all(one and one.status == "not_applicable" for one in own)}
    return [unit for twin, own in of.items() if twin not in silent or len(silent) == len(of) for unit in own]


def _shared(paper: str, arm: str, metric: str, value: _Value, all_arms: Mapping[str, _Value]) -> PaperValue:
    """The arm's value, unless another arm's failure takes the paper out."""
    failed = next((v for v in all_arms.values() if v.status == "failed"), None)
    pending = next((v for v in all_arms.values() if v.status == "pending"), None)
    taken_by = failed if value.status != "failed" and failed else pending if value.status == "scored" else None
    if taken_by is not None:
        reason = f"arm {taken_by.arm!r}: {taken_by.reason}"
        return PaperValue(
            paper=paper, arm=arm, metric=metric, status=taken_by.status, reason=reason, by_seed=value.by_seed
        )
    where = f"arm {value.arm!r}: " if value.arm and value.arm != arm else ""
    return PaperValue(
        paper=paper,
        arm=arm,
        metric=metric,
        status=value.status,
        value=value.value,
        reason=f"{where}{value.reason}" if value.reason else "",
        by_seed=value.by_seed,
        errors=dict(value.errors),
        undecided={name: share for name, share in value.undecided.items() if share},
    )
