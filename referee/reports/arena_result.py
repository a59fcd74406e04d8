"""What ``referee arena score`` found: every model's scores with the floors beside them, and all of it as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from referee.evals.agreement import ArenaScore, FieldSimilarity, FormScore
from referee.evals.agreement.decisions import Decisions
from referee.evals.agreement.distributions import RankBins
from referee.evals.agreement.range_use import RangeUse
from referee.evals.agreement.sub_scores import Axis
from referee.stats import Interval

CONSTANT, HUMAN, CHANCE = "floor: one constant a form", "floor: one human reviewer", "floor: chance"
FLOORS = (CONSTANT, HUMAN, CHANCE)
ALL = "all"


@dataclass(frozen=True)
class RankComparison:
    """A model that rated on other values than people: only ranks can be compared.

    ``spearman`` is of predictions and mean human ratings, paper by paper; ``auc`` the chance that an accepted paper
    has the higher prediction.
    """

    form: str
    other_form: str
    n: int
    spearman: float | None
    auc: float | None
    bins: RankBins


@dataclass(frozen=True)
class ModelScore:
    """One model: ``score`` on people's own forms, ``ranks`` where it rated on others, ``texts`` by field.

    ``no_human`` papers have no human review, ``repeated`` are further predictions for a paper, of which the first
    counts, ``skipped`` papers were never asked about, ``no_venue`` name none.
    """

    model: str
    score: ArenaScore
    texts: Mapping[str, FieldSimilarity] = field(default_factory=dict)
    ranks: tuple[RankComparison, ...] = ()
    no_human: int = 0
    repeated: int = 0
    skipped: int = 0
    no_venue: int = 0


@dataclass(frozen=True)
class ArenaResult:
    """All models, best pooled error first. ``floors`` is of the same papers without a model."""

    models: tuple[ModelScore, ...]
    floors: ArenaScore
    facts: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def conferences(self) -> tuple[str, ...]:
        """Those with human ratings, in order."""
        return tuple(self.floors.venue_maes)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms with human ratings, in order."""
        return tuple(score.form for score in self.floors.forms)


@dataclass(frozen=True)
class Number:
    """One number: whose, on what, which, with its interval and the papers behind it; None with a reason."""

    model: str
    form: str
    axis: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str = ""


def numbers(result: ArenaResult) -> Iterator[Number]:
    """Every number of the result, in a fixed order."""
    for one in result.models:
        yield from _together(one)
        for form in one.score.forms:
            yield from _form(one.model, form)
        yield from _ranks(one)
        yield from _texts(one)
    yield from _floors(result)


def floor_of(score: FormScore, floor: str) -> tuple[float | None, int]:
    """The mean absolute error of a floor on a form, and the papers behind it."""
    if floor == CONSTANT:
        return score.floors.constant_mae, score.floors.n
    if floor == CHANCE:
        return score.floors.random_mae, score.floors.n
    return score.floors.human_mae.mean, score.floors.human_mae.n


def floor_by_conference(result: ArenaResult, floor: str) -> dict[str, float | None]:
    """A floor's error on each conference: the mean over its papers, each on its own form."""
    found: dict[str, float | None] = {}
    for conference in result.conferences:
        own = [floor_of(score, floor) for score in result.floors.forms if score.conference == conference]
        known = [(value, n) for value, n in own if value is not None]
        found[conference] = sum(v * n for v, n in known) / sum(n for _, n in known) if known else None
    return found


def pooled_floor(result: ArenaResult, floor: str) -> float | None:
    """A floor's pooled error: the unweighted mean of conferences."""
    score = result.floors
    return {
        CONSTANT: score.pooled_constant_mae,
        HUMAN: score.pooled_human_mae,
        CHANCE: score.pooled_random_mae,
    }[floor]


def normalised_floor(result: ArenaResult, floor: str) -> float | None:
    """A floor's error in shares of the span, the mean of known forms."""
    shares = [
        value / score.scale.span
        for score in result.floors.forms
        if score.scale.known and score.scale.span and (value := floor_of(score, floor)[0]) is not None
    ]
    return sum(shares) / len(shares) if shares else None


def _together(one: ModelScore) -> Iterator[Number]:
    score = one.score
    why = "" if score.scored else "no paper can be scored"
    for conference, mae in score.venue_maes.items():
        yield _interval(one.model, conference, "mae of conference", mae, "" if mae.n else "no paper can be scored")
    yield _interval(one.model, ALL, "pooled mae", score.pooled_mae, why)
    yield _interval(one.model, ALL, "nmae", score.nmae, why if score.nmae.n else "no known form has a scored paper")
    mae = score.sub_score_mae
    reason = "" if mae.n else "no paper has a sub-score from both sides"
    yield Number(one.model, ALL, "sub-score mae", mae.mean, mae.low, mae.high, mae.clusters, reason)
    counted = {
        **{f"invalid: {reason}": count for reason, count in score.invalid.items()},
        "too few human ratings": score.few_reviews,
        "no overall rating on the form": score.no_scale,
        "no human review": one.no_human,
        "repeated": one.repeated,
        "skipped": one.skipped,
        "no venue": one.no_venue,
    }
    for axis, count in counted.items():
        yield Number(one.model, ALL, axis, count)
    if score.decisions is not None:
        yield from _decisions(one.model, ALL, score.decisions)


def _form(model: str, form: FormScore) -> Iterator[Number]:
    n = len(form.targets.scored)
    yield _interval(model, form.form, "mae", form.error.mae, form.error.reason)
    yield _interval(model, form.form, "bias", form.error.bias, form.error.reason)
    yield Number(model, form.form, "nmae", form.error.nmae, n=n, reason=form.error.reason)
    for axis in axes_of(form):
        reason = "" if axis.n else "no paper has it from both sides"
        yield _interval(model, form.form, f"{axis.name} mae", axis.mae, reason)
        yield _interval(model, form.form, f"{axis.name} bias", axis.bias, reason)
    if form.sub_scores is not None:
        mae, reason = form.sub_scores.mae, form.sub_scores.reason
        yield Number(model, form.form, "sub-score mae", mae.mean, mae.low, mae.high, mae.clusters, reason)
    if form.decisions is not None:
        yield from _decisions(model, form.form, form.decisions)
    curve = form.curve
    for axis_name, value in (("slope", curve.slope), ("compression", curve.compression), ("gap", curve.gap)):
        yield Number(model, form.form, f"calibration {axis_name}", value, n=n, reason=curve.reason)
    for one in curve.bins:
        yield Number(model, form.form, f"calibration bin {one.rating} human", one.mean_human, n=one.n)
        yield Number(model, form.form, f"calibration bin {one.rating} predicted", one.mean_predicted, n=one.n)
    yield from _use(model, form.form, form.predicted_use)


def axes_of(form: FormScore) -> tuple[Axis, ...]:
    """The sub-scores, then confidence."""
    if form.sub_scores is None:
        return ()
    confidence = form.sub_scores.confidence
    return (*form.sub_scores.axes, *((confidence,) if confidence is not None else ()))


def _decisions(model: str, form: str, found: Decisions) -> Iterator[Number]:
    values = {
        "accuracy": found.accuracy,
        "macro-f1": found.macro_f1,
        "decision gap": found.gap,
        "auc": found.auc,
        "share accepted": found.prior,
        "always accept macro-f1": found.always_accept_f1,
    }
    for axis, value in values.items():
        yield Number(model, form, axis, value, n=found.n, reason="" if value is not None else found.reason)


def _use(model: str, form: str, use: RangeUse) -> Iterator[Number]:
    values = {
        "lowest": use.lowest,
        "highest": use.highest,
        "off scale": use.off_scale,
        "values used": use.used,
        "entropy": use.entropy,
        "low third": use.low_third,
        "high third": use.high_third,
    }
    for axis, value in values.items():
        yield Number(model, form, f"range {axis}", value, n=use.n)
    for allowed, share in zip(use.scale.allowed, use.shares or [None] * len(use.scale.allowed), strict=True):
        yield Number(model, form, f"share of {allowed:g}", share, n=use.n)


def _ranks(one: ModelScore) -> Iterator[Number]:
    for ranks in one.ranks:
        place = f"{ranks.form} (rated on {ranks.other_form})"
        yield Number(one.model, place, "spearman", ranks.spearman, n=ranks.n)
        yield Number(one.model, place, "auc", ranks.auc, n=ranks.n)
        for who, mean, off in zip(("human", "predicted"), ranks.bins.mean_ranks, ranks.bins.off_scale, strict=True):
            yield Number(one.model, place, f"mean rank {who}", mean)
            yield Number(one.model, place, f"off scale {who}", off)
        apart = ranks.bins.distances
        yield Number(one.model, place, "rank total variation", apart.total_variation if apart else None)
        yield Number(one.model, place, "rank wasserstein-1", apart.wasserstein_1 if apart else None)


def _texts(one: ModelScore) -> Iterator[Number]:
    for name, found in one.texts.items():
        sides = {"": found.rouge, " best single review": found.max_over_reviews, " human ceiling": found.ceiling}
        for side, rouge in sides.items():
            n = found.ceiling_n if side == " human ceiling" else found.n
            values = (rouge.rouge1, rouge.rouge2, rouge.rouge_l) if rouge else (None, None, None)
            for axis, value in zip(("rouge-1", "rouge-2", "rouge-l"), values, strict=True):
                yield Number(one.model, name, f"{axis}{side}", value, n=n)
        yield Number(one.model, name, "bleu", found.bleu.score if found.bleu else None, n=found.n)
        yield Number(one.model, name, "hash_cosine", found.hash_cosine, n=found.n)
        if found.bert is not None:
            yield Number(one.model, name, "bertscore-f1", found.bert.f1, n=found.n)
            yield Number(one.model, name, "bertscore truncated share", found.bert.truncated, n=found.n)
        for reason, count in found.skipped.items():
            yield Number(one.model, name, f"left out: {reason}", count)


def _floors(result: ArenaResult) -> Iterator[Number]:
    for floor in FLOORS:
        for conference, mae in floor_by_conference(result, floor).items():
            yield Number(floor, conference, "mae of conference", mae)
        yield Number(floor, ALL, "pooled mae", pooled_floor(result, floor))
        yield Number(floor, ALL, "nmae", normalised_floor(result, floor))
        for form in result.floors.forms:
            mae, n = floor_of(form, floor)
            if floor == HUMAN:
                yield _interval(floor, form.form, "mae", form.floors.human_mae, "" if n else "no paper has two ratings")
                yield from _use(floor, form.form, form.human_use)
            else:
                yield Number(floor, form.form, "mae", mae, n=n)
        if floor == CHANCE:
            for form in result.floors.forms:
                yield Number(floor, form.form, "bias", form.floors.random_bias, n=form.floors.n)


def _interval(model: str, form: str, axis: str, found: Interval, reason: str) -> Number:
    return Number(model, form, axis, found.mean, found.low, found.high, found.n, reason)
