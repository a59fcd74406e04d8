"""How far predicted ratings are from what people gave, on the form's own scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.evals.agreement.scales import Scale
from referee.stats import Interval, bootstrap_interval

FEWEST_REVIEWS = 2
OUT_OF_RANGE = "outside the form's range"
NO_PREDICTION = "no prediction"
Impute = Literal["none", "midpoint"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A paper with its target, the mean human rating, and a usable prediction."""

    paper: RatedPaper
    target: float
    predicted: float
    imputed: bool = False


@dataclass(frozen=True, slots=True)
class Targets:
    """The papers of one form that can be scored, and how many cannot, with the reasons.

    ``invalid`` counts predictions that are missing or out of range, by reason; imputed ones are counted there too.
    ``few_reviews`` are papers with fewer human ratings than were asked for.
    """

    scale: Scale
    scored: tuple[Scored, ...]
    few_reviews: int
    invalid: Mapping[str, int]

    @property
    def targets(self) -> list[float]:
        """Mean human ratings, one a paper."""
        return [row.target for row in self.scored]

    @property
    def predictions(self) -> list[float]:
        """What was predicted, in the same order."""
        return [row.predicted for row in self.scored]


@dataclass(frozen=True, slots=True)
class RatingError:
    """Mean absolute error and bias with intervals by paper, in points of the scale; ``nmae`` in shares of its span.

    All None without papers. ``reason`` says why.
    """

    mae: Interval
    bias: Interval
    nmae: float | None
    reason: str = ""


def with_targets(
    papers: Sequence[RatedPaper], scale: Scale, *, impute: Impute = "none", fewest: int = FEWEST_REVIEWS
) -> Targets:
    """The papers whose human mean and prediction can be compared.

    A prediction is valid within the form's lowest and highest value, whether or not the form offers it: one off the
    grid is off scale, not invalid.

    Args:
        papers: All on this form.
        scale: The form's overall rating.
        impute: ``midpoint`` takes the middle of the scale for an invalid prediction, and still counts it.
        fewest: Human ratings a paper needs; ReviewArena asks for two.

    Raises:
        EvaluationError: A prediction is on another scale than the human ratings.
    """
    scored, few, invalid = [], 0, Counter[str]()
    for paper in map(same_scale, papers):
        if len(paper.human) < max(1, fewest):
            few += 1
            continue
        target = sum(paper.human) / len(paper.human)
        reason = _invalid(paper, scale)
        if reason:
            invalid[reason] += 1
        if not reason and paper.predicted is not None:
            scored.append(Scored(paper, target, paper.predicted))
        elif impute == "midpoint":
            scored.append(Scored(paper, target, scale.midpoint, imputed=True))
    return Targets(scale, tuple(scored), few, dict(sorted(invalid.items())))


def rating_error(targets: Targets, *, seed: int = 0) -> RatingError:
    """MAE = mean |prediction - target| and bias = mean (prediction - target); nMAE = MAE / (highest - lowest).

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review"; nMAE is ours.
    """
    errors = {row.paper.paper_id: [row.predicted - row.target] for row in targets.scored}
    mae = bootstrap_interval({key: [abs(e) for e in value] for key, value in errors.items()}, seed=seed)
    nmae = mae.mean / targets.scale.span if mae.mean is not None and targets.scale.span else None
    return RatingError(mae, bootstrap_interval(errors, seed=seed), nmae, "" if errors else "no paper can be scored")


def pooled(values: Sequence[float | None]) -> float | None:
    """The unweighted mean of the venues that have a value; None where none has."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _invalid(paper: RatedPaper, scale: Scale) -> str:
    if paper.predicted is None:
        return paper.reason or NO_PREDICTION
    return "" if scale.spans(paper.predicted) else OUT_OF_RANGE
