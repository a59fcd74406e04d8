"""How far predicted ratings are from people's, on the form's own scale: overall, by axis, and without any model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from referee.evals.agreement.nested_means import Errors, nested_interval
from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.evals.agreement.scales import Scale, scale_of
from referee.schemas.venue import VenueForm
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


@dataclass(frozen=True, slots=True)
class Floors:
    """Mean absolute errors and biases without any model, over ``n`` papers, in points of the scale; None without them.

    ``constant_value`` is the mean of the papers' mean human ratings: it knows the answers, and so has no bias.
    ``random_mae`` and ``random_bias`` are what a uniform draw among the form's values comes to in the long run.
    ``human_mae`` is one review against the mean of the paper's others, averaged within each paper first,
    over the papers with two reviews or more.
    """

    n: int
    constant_value: float | None
    constant_mae: float | None
    random_mae: float | None
    random_bias: float | None
    human_mae: Interval


def floors(papers: Sequence[RatedPaper], scale: Scale, *, seed: int = 0) -> Floors:
    """The floors of one form over papers with human ratings, whatever was predicted for them."""
    several = {paper.paper_id: [leave_one_out(paper.human)] for paper in papers if len(paper.human) > 1}
    human = bootstrap_interval(several, seed=seed)
    if not papers:
        return Floors(0, None, None, None, None, human)
    targets = [sum(paper.human) / len(paper.human) for paper in papers]
    constant = sum(targets) / len(targets)
    draws = [(value, target) for target in targets for value in scale.allowed]
    return Floors(
        n=len(papers),
        constant_value=constant,
        constant_mae=sum(abs(constant - target) for target in targets) / len(targets),
        random_mae=sum(abs(value - target) for value, target in draws) / len(draws),
        random_bias=sum(value - target for value, target in draws) / len(draws),
        human_mae=human,
    )


def leave_one_out(ratings: Sequence[float]) -> float:
    """The mean over a paper's ratings (two at least) of |rating - mean of the others|."""
    total, others = sum(ratings), len(ratings) - 1
    return sum(abs(value - (total - value) / others) for value in ratings) / len(ratings)


@dataclass(frozen=True, slots=True)
class Axis:
    """One score field: ``mae`` and ``bias`` over the ``n`` papers where both sides filled it, with intervals by paper.

    ``human`` and ``predicted`` count the papers where each did: the coverage. ``invalid`` counts predictions outside
    the field's values, as a placeholder 0; they are left out. ``errors`` holds |prediction - mean| by paper.
    """

    name: str
    mae: Interval
    bias: Interval
    human: int
    predicted: int
    invalid: int = 0
    errors: dict[str, float] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Papers where both sides filled it."""
        return self.mae.n


@dataclass(frozen=True, slots=True)
class SubScores:
    """The axes of one form, confidence apart; ``mae`` is the unweighted mean over axes with a value.

    Its interval draws papers whole; ``errors`` is what it is of, by paper and axis.
    """

    axes: tuple[Axis, ...]
    confidence: Axis | None
    mae: Interval
    errors: Errors = field(default_factory=dict)
    reason: str = ""


def sub_scores(
    papers: Sequence[RatedPaper], form: VenueForm, *, include_confidence: bool = False, seed: int = 0
) -> SubScores:
    """Per axis |prediction - mean human value|, averaged over papers where both exist, then over axes.

    One human value suffices. Confidence is reported by itself; ReviewArena includes it in one sentence, which
    ``include_confidence`` repeats. A form without sub-scores has None and takes no part in a mean over venues.

    Raises:
        EvaluationError: A prediction is on another scale than the human ratings.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review".
    """
    rows = [same_scale(paper) for paper in papers]
    scored = [field for field in form.fields if field.kind == "score" and field.name != form.overall]
    axes = tuple(_axis(rows, form, field.name, seed) for field in scored if field.aspect != "confidence")
    confidence = next((_axis(rows, form, field.name, seed) for field in scored if field.aspect == "confidence"), None)
    counted = [*axes, confidence] if include_confidence and confidence is not None else axes
    by_paper: dict[str, dict[str, float]] = {}
    for axis in counted:
        for paper_id, error in axis.errors.items():
            by_paper.setdefault(paper_id, {})[axis.name] = error
    reason = "" if by_paper else "no paper has both sides" if counted else "the form has no sub-scores"
    return SubScores(axes, confidence, nested_interval([[by_paper]], seed=seed), by_paper, reason)


def _axis(papers: Sequence[RatedPaper], form: VenueForm, name: str, seed: int) -> Axis:
    scale = scale_of(form, name)
    assert scale is not None, "a named field has a scale"
    given = {row.paper_id: row.predicted_scores[name] for row in papers if name in row.predicted_scores}
    valid = {key: value for key, value in given.items() if scale.low <= value <= scale.high}
    human = {row.paper_id: row.scores[name] for row in papers if row.scores.get(name)}
    errors = {key: valid[key] - sum(values) / len(values) for key, values in human.items() if key in valid}
    far = {key: abs(error) for key, error in errors.items()}
    return Axis(
        name,
        bootstrap_interval({key: [error] for key, error in far.items()}, seed=seed),
        bootstrap_interval({key: [error] for key, error in errors.items()}, seed=seed),
        human=len(human),
        predicted=len(valid),
        invalid=len(given) - len(valid),
        errors=far,
    )
