"""The plots of an evaluation of detectors: ROC down to the rate that the data resolve, and scores by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from referee.evals.detection.result import DetectionResult
from referee.evals.detection.roc import roc_curve
from referee.evals.detection.scores import LENGTH
from referee.reports.plots import Plot, cumulative, roc
from referee.stats.values import Floats

_MOST_CURVES = 5
_MOST_SPREADS = 4
_MOST_POINTS = 300


def detection_plots(result: DetectionResult) -> tuple[Plot, ...]:
    """The best detectors' curves beside that of length alone, and how their scores lie."""
    names = [report.detector for report in result.overall if report.auc is not None]
    best = [name for name in names if name != LENGTH]
    shown = [*best[:_MOST_CURVES], *(name for name in names if name == LENGTH)]
    curves = [_curves(result, shown)] if shown else []
    return (*curves, *_spreads(result, best[:_MOST_SPREADS] or shown))


def _curves(result: DetectionResult, names: Sequence[str]) -> Plot:
    fewest = max(result.humans, 2)
    return roc(
        "roc",
        "Detectors: true over false positives",
        {name: _points(result.scores[name]["human"], _ai(result, name)) for name in names},
        down_to=1 / fewest,
        caption=f"The axis begins at 1/{fewest:,}: of {fewest:,} human reviews no smaller rate can be seen. Dashes are "
        f"chance. At most {_MOST_POINTS} points of a curve are drawn; areas and thresholds are of all.",
    )


def _points(humans: Sequence[float], ai: Floats) -> list[tuple[float, float]]:
    """For each rate of false positives the largest rate of true ones, thinned evenly on a log scale."""
    curve = roc_curve(humans, ai)
    best: dict[float, float] = {}
    for fpr, tpr in zip(curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), strict=True):
        best[fpr] = max(tpr, best.get(fpr, 0.0))
    points = sorted(best.items())
    if len(points) <= _MOST_POINTS:
        return points
    kept = sorted({0, *np.geomspace(1, len(points) - 1, _MOST_POINTS - 1).round().astype(int).tolist()})
    return [points[at] for at in kept]


def _ai(result: DetectionResult, name: str) -> Floats:
    return np.concatenate([scores for kind, scores in result.scores[name].items() if kind != "human"])


def _spreads(result: DetectionResult, names: Sequence[str]) -> Iterator[Plot]:
    for name in names:
        classes = {kind: np.sort(scores) for kind, scores in result.scores[name].items() if len(scores)}
        ends = [float(end) for values in classes.values() for end in np.quantile(values, [0.01, 0.99])]
        low, high = min(ends), max(ends)
        yield cumulative(
            f"scores-{name.replace('_', '-')}",
            f"{name}: scores of people's and models' reviews",
            {kind: _steps(values.tolist()) for kind, values in classes.items()},
            across=f"{name}, higher is likelier AI",
            limits=(low, high) if low < high else (low - 0.5, high + 0.5),
            caption="The axis leaves out one review in a hundred at each end; no number does.",
        )


def _steps(values: Sequence[float]) -> list[tuple[float, float]]:
    """At most so many (value, share at or below it)."""
    at = sorted({round(place) for place in np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS))})
    return [(values[place], (place + 1) / len(values)) for place in at]
