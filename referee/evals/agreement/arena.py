"""One model's predictions against people, form by form and over all venues, beside the floors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.evals.agreement.calibration_curve import Curve, RangeUse, calibration_curve, range_use
from referee.evals.agreement.decisions import Decisions, decisions
from referee.evals.agreement.nested_means import Errors, nested_interval
from referee.evals.agreement.rated import RatedPaper
from referee.evals.agreement.rating_error import (
    FEWEST_REVIEWS,
    Floors,
    Impute,
    RatingError,
    SubScores,
    Targets,
    floors,
    pooled,
    rating_error,
    sub_scores,
    with_targets,
)
from referee.evals.agreement.scales import MOST_OUTSIDE, Scale, check_scale, free_scale, scale_of
from referee.schemas.venue import VenueForm
from referee.stats import Interval
from referee.stats.ranks import RankCorrelation, rank_correlation

# Elsewhere mostly accepted papers are public, and their decisions say nothing.
DECIDING = ("iclr",)


@dataclass(frozen=True, slots=True)
class FormScore:
    """Everything about one form, called ``name`` in words.

    ``targets`` holds the papers scored and the counts of those that are not.
    ``decisions`` is None for conferences whose decisions are not counted, ``sub_scores`` for unknown forms.
    ``floors`` and ``human_use`` (of single human ratings) are of the same papers as the model's errors;
    ``human_off_scale`` is the share of all human ratings outside the form's values. ``ranks`` sets predictions beside
    mean human ratings.
    """

    form: str
    name: str
    conference: str
    year: int | None
    scale: Scale
    papers: int
    targets: Targets
    error: RatingError
    floors: Floors
    sub_scores: SubScores | None
    decisions: Decisions | None
    curve: Curve
    ranks: RankCorrelation
    predicted_use: RangeUse
    human_use: RangeUse
    human_off_scale: float | None


@dataclass(frozen=True, slots=True)
class ArenaScore:
    """The forms, and what they come to together.

    ``venue_maes`` and ``venue_biases`` are over the papers of each conference, ``pooled_mae`` and the floors beside it
    the unweighted mean of venues. They mix scales of 1-4 to 1-10; ``nmae`` is the mean over known forms of the MAE in
    shares of the span. ``sub_score_mae`` is a mean over venues with sub-scores. Intervals draw papers whole.
    ``no_scale`` are papers of forms without an overall rating, or of unknown forms without any.
    """

    forms: tuple[FormScore, ...]
    venue_maes: Mapping[str, Interval]
    venue_biases: Mapping[str, Interval]
    pooled_mae: Interval
    pooled_constant_mae: float | None
    pooled_random_mae: float | None
    pooled_human_mae: float | None
    nmae: Interval
    sub_score_mae: Interval
    decisions: Decisions | None
    scored: int
    invalid: Mapping[str, int]
    few_reviews: int
    no_scale: int


def score_predictions(
    papers: Sequence[RatedPaper],
    forms: Mapping[str, VenueForm],
    *,
    impute: Impute = "none",
    include_confidence: bool = False,
    deciding: Sequence[str] = DECIDING,
    most_outside: float = MOST_OUTSIDE,
    fewest_reviews: int = FEWEST_REVIEWS,
    seed: int = 0,
) -> ArenaScore:
    """Score one model's ratings by form and together.

    Args:
        papers: With human ratings and predictions.
        forms: The known forms by id; other forms are a free scale of the values seen.
        impute: What becomes of invalid predictions; see ``with_targets``.
        include_confidence: See ``sub_scores``.
        deciding: Conferences whose decisions count.
        most_outside: The share of human ratings that may lie outside a form's values.
        fewest_reviews: Human ratings a paper needs.
        seed: For the intervals.

    Raises:
        DataError: More of a form's human ratings are outside its values: the papers are on another form.
        EvaluationError: Predictions are on another scale than the human ratings.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review", with its NeurIPS
    2025 scale put right (1-6) and every number by form first.
    """
    by_form: dict[str, list[RatedPaper]] = defaultdict(list)
    for paper in papers:
        by_form[paper.form].append(paper)
    scores, no_scale = [], 0
    for name in sorted(by_form):
        form, rows = forms.get(name), by_form[name]
        scale = scale_of(form) if form is not None else _free(name, rows)
        if scale is None:
            no_scale += len(rows)
            continue
        outside = check_scale(scale, [value for paper in rows for value in paper.human], most_outside)
        targets = with_targets(rows, scale, impute=impute, fewest=fewest_reviews)
        axes = sub_scores(rows, form, include_confidence=include_confidence, seed=seed) if form is not None else None
        said = form.name if form is not None else name
        scores.append(_form_score(said, rows, targets, axes, outside, rows[0].conference in deciding, seed))
    return _together(scores, no_scale, seed)


def _form_score(
    name: str,
    rows: Sequence[RatedPaper],
    targets: Targets,
    axes: SubScores | None,
    outside: float | None,
    decides: bool,
    seed: int,
) -> FormScore:
    scale = targets.scale
    own = [row.paper for row in targets.scored]
    return FormScore(
        form=scale.form,
        name=name,
        conference=rows[0].conference or scale.form,
        year=rows[0].year,
        scale=scale,
        papers=len(rows),
        targets=targets,
        error=rating_error(targets, seed=seed),
        floors=floors(own, scale, seed=seed),
        sub_scores=axes,
        decisions=_decided([targets], seed) if decides else None,
        curve=calibration_curve(targets.predictions, targets.targets, seed=seed),
        ranks=rank_correlation(targets.predictions, targets.targets, seed=seed),
        predicted_use=range_use([row.predicted for row in targets.scored if not row.imputed], scale),
        human_use=range_use([value for paper in own for value in paper.human], scale),
        human_off_scale=outside,
    )


def _together(scores: Sequence[FormScore], no_scale: int, seed: int) -> ArenaScore:
    venues: dict[str, list[FormScore]] = defaultdict(list)
    invalid: dict[str, int] = defaultdict(int)
    for score in scores:
        venues[score.conference].append(score)
        for reason, count in score.targets.invalid.items():
            invalid[reason] += count
    errors = {name: _errors(venues[name]) for name in sorted(venues)}
    biases = {name: _errors(venues[name], signed=True) for name in sorted(venues)}
    floor = [_venue_floors(venue) for venue in venues.values()]
    deciding = [score.targets for score in scores if score.decisions is not None]
    return ArenaScore(
        forms=tuple(scores),
        venue_maes={name: nested_interval([[found]], seed=seed) for name, found in errors.items()},
        venue_biases={name: nested_interval([[found]], seed=seed) for name, found in biases.items()},
        pooled_mae=nested_interval([[found] for found in errors.values()], seed=seed),
        pooled_constant_mae=pooled([constant for constant, _, _ in floor]),
        pooled_random_mae=pooled([random for _, random, _ in floor]),
        pooled_human_mae=pooled([human for _, _, human in floor]),
        nmae=nested_interval(
            [[_errors([score], score.scale.span)] for score in scores if score.scale.known and score.scale.span],
            seed=seed,
        ),
        sub_score_mae=nested_interval(
            [[s.sub_scores.errors for s in venue if s.sub_scores is not None] for venue in venues.values()], seed=seed
        ),
        decisions=_decided(deciding, seed) if deciding else None,
        scored=sum(len(score.targets.scored) for score in scores),
        invalid=dict(sorted(invalid.items())),
        few_reviews=sum(score.targets.few_reviews for score in scores),
        no_scale=no_scale,
    )


def _errors(venue: Sequence[FormScore], span: float = 1.0, *, signed: bool = False) -> Errors:
    """|prediction - target| of a conference's papers, or with its sign, in shares of a span."""
    size = float if signed else abs
    return {
        f"{score.form} {row.paper.paper_id}": {"rating": size(row.predicted - row.target) / span}
        for score in venue
        for row in score.targets.scored
    }


def _venue_floors(venue: Sequence[FormScore]) -> tuple[float | None, float | None, float | None]:
    """Constant, random and human floor of a conference: means over its papers, each against its own form."""
    found = [score.floors for score in venue]
    return (
        _weighted([(f.constant_mae, f.n) for f in found]),
        _weighted([(f.random_mae, f.n) for f in found]),
        _weighted([(f.human_mae.mean, f.human_mae.n) for f in found]),
    )


def _weighted(values: Sequence[tuple[float | None, int]]) -> float | None:
    known = [(value, n) for value, n in values if value is not None]
    return sum(value * n for value, n in known) / sum(n for _, n in known) if known else None


def _decided(forms: Sequence[Targets], seed: int) -> Decisions:
    rows = [
        (row.predicted, row.paper.accepted, targets.scale.accept_at)
        for targets in forms
        for row in targets.scored
        if row.paper.accepted is not None and targets.scale.accept_at is not None
    ]
    return decisions(
        [value for value, _, _ in rows],
        [bool(is_in) for _, is_in, _ in rows],
        [at for _, _, at in rows if at is not None],
        seed=seed,
    )


def _free(name: str, rows: Sequence[RatedPaper]) -> Scale | None:
    people = [value for paper in rows for value in paper.human]
    return free_scale(name, [*people, *(paper.predicted for paper in rows)]) if people else None
