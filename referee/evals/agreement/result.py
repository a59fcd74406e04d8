"""What ``referee arena score`` found: every model's scores with the floors beside them, and all of it as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from referee.evals.agreement import ArenaScore, FieldSimilarity, FormScore, TextMeans
from referee.evals.agreement.calibration_curve import RangeUse
from referee.evals.agreement.decisions import Decisions
from referee.evals.agreement.distributions import RankBins
from referee.evals.agreement.rating_error import Axis
from referee.evals.agreement.text_scores import RougeMeans
from referee.schemas.usage import Usage
from referee.stats import Interval
from referee.stats.ranks import RankCorrelation

CONSTANT, HUMAN, CHANCE = "floor: one constant a form", "floor: one human reviewer", "floor: chance"
FLOORS = (CONSTANT, HUMAN, CHANCE)
ALL = "all"
NONE = Interval(None, None, None, 0, 0)


@dataclass(frozen=True)
class RankComparison:
    """A model that rated on other values than people: only ranks can be compared.

    ``order`` is of predictions and mean human ratings, paper by paper; ``auc`` the chance that an accepted paper has
    the higher prediction.
    """

    form: str
    other_form: str
    n: int
    order: RankCorrelation
    auc: Interval
    bins: RankBins


@dataclass(frozen=True)
class ModelScore:
    """One model: ``score`` on people's own forms, ``ranks`` where it rated on others, ``texts`` by field.

    ``text_means`` are over fields. ``usage`` is what its ``priced`` predictions record of tokens and money, those
    that failed included; None where they record nothing, as reviews of other tools.
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
    text_means: TextMeans | None = None
    usage: Usage | None = None
    priced: int = 0


@dataclass(frozen=True)
class FloorSet:
    """The floors of the papers on which ``models`` were scored; ``score`` is that of the first of them."""

    models: tuple[ModelScore, ...]
    papers: str = ""

    @property
    def score(self) -> ArenaScore:
        """The scores that hold the floors."""
        return self.models[0].score

    def named(self, floor: str) -> str:
        """What the floor is called: with its papers, where models were scored on different ones."""
        return f"{floor}{self.papers}"


@dataclass(frozen=True)
class ArenaResult:
    """All models, best pooled error first."""

    models: tuple[ModelScore, ...]
    facts: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def conferences(self) -> tuple[str, ...]:
        """Those with human ratings, in order."""
        return tuple(sorted({name for one in self.models for name in one.score.venue_maes}))

    @property
    def floor_sets(self) -> tuple[FloorSet, ...]:
        """A model's floors are of its own papers, so there are as many as models were scored on sets of papers."""
        by_papers: dict[frozenset[tuple[str, str]], list[ModelScore]] = {}
        for one in self.models:
            papers = frozenset((f.form, row.paper.paper_id) for f in one.score.forms for row in f.targets.scored)
            if papers:
                by_papers.setdefault(papers, []).append(one)
        if len(by_papers) < 2:
            return tuple(FloorSet(tuple(models)) for models in by_papers.values())
        named = [(tuple(models), ", ".join(one.model for one in models)) for models in by_papers.values()]
        return tuple(FloorSet(models, f" (papers of {names})") for models, names in named)


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
    for own in result.floor_sets:
        for floor in FLOORS:
            yield from _floors(own, floor)


def floor_of(score: FormScore, floor: str) -> tuple[float | None, int]:
    """The mean absolute error of a floor on a form, and the papers behind it."""
    if floor == CONSTANT:
        return score.floors.constant_mae, score.floors.n
    if floor == CHANCE:
        return score.floors.random_mae, score.floors.n
    return score.floors.human_mae.mean, score.floors.human_mae.n


def floor_by_conference(score: ArenaScore, floor: str) -> dict[str, float | None]:
    """A floor's error on each conference: the mean over its papers, each on its own form."""
    return {
        conference: _weighted([floor_of(form, floor) for form in score.forms if form.conference == conference])
        for conference in score.venue_maes
    }


def floor_bias_by_conference(score: ArenaScore, floor: str) -> dict[str, float | None]:
    """The bias of chance; the constant and a human reviewer against the others have none, by construction."""
    return {
        conference: _weighted(
            [(form.floors.random_bias, form.floors.n) for form in score.forms if form.conference == conference]
        )
        if floor == CHANCE
        else None
        for conference in score.venue_maes
    }


def pooled_floor(score: ArenaScore, floor: str) -> float | None:
    """A floor's pooled error: the unweighted mean of conferences."""
    return {
        CONSTANT: score.pooled_constant_mae,
        HUMAN: score.pooled_human_mae,
        CHANCE: score.pooled_random_mae,
    }[floor]


def normalised_floor(score: ArenaScore, floor: str) -> float | None:
    """A floor's error in shares of the span, the mean of known forms."""
    shares = [
        value / form.scale.span
        for form in score.forms
        if form.scale.known and form.scale.span and (value := floor_of(form, floor)[0]) is not None
    ]
    return sum(shares) / len(shares) if shares else None


def overall(one: ModelScore) -> dict[str, Interval]:
    """A model on every axis: ratings, sub-scores, decisions, and texts as means over their fields.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review", table 4.
    """
    score, texts = one.score, one.text_means
    found = {"pooled MAE": score.pooled_mae, "nMAE": score.nmae, "sub-scores MAE": score.sub_score_mae}
    if (decided := score.decisions) is not None:
        found |= {"accuracy": decided.accuracy, "macro-F1": decided.macro_f1, "gap": decided.gap, "AUC": decided.auc}
    if texts is not None:
        rouge = texts.rouge
        found |= {"ROUGE-1": rouge.rouge1, "ROUGE-2": rouge.rouge2, "ROUGE-L": rouge.rouge_l, "BLEU": texts.bleu}
        if texts.bert is not None:
            found["BERTScore-F1"] = Interval(texts.bert, None, None, 0, 0)
    return found


def _weighted(values: list[tuple[float | None, int]]) -> float | None:
    known = [(value, n) for value, n in values if value is not None]
    return sum(value * n for value, n in known) / sum(n for _, n in known) if known else None


def _together(one: ModelScore) -> Iterator[Number]:
    score = one.score
    why = "" if score.scored else "no paper can be scored"
    for conference, mae in score.venue_maes.items():
        yield _interval(one.model, conference, "mae of conference", mae, "" if mae.n else "no paper can be scored")
    for conference, bias in score.venue_biases.items():
        yield _interval(one.model, conference, "bias of conference", bias, "" if bias.n else "no paper can be scored")
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
    if (usage := one.usage) is not None:
        counts = {"calls": usage.calls, "reused calls": usage.reused_calls, "input tokens": usage.input_tokens}
        counts |= {"cached tokens": usage.cached_tokens, "output tokens": usage.output_tokens}
        for axis, count in counts.items():
            yield Number(one.model, ALL, axis, count, n=one.priced)
        reason = "" if usage.cost_usd is not None else "a price is unknown"
        yield Number(one.model, ALL, "cost in US dollars", usage.cost_usd, n=one.priced, reason=reason)


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
    yield _interval(model, form.form, "spearman", form.ranks.spearman, form.ranks.reason)
    yield _interval(model, form.form, "kendall tau-b", form.ranks.kendall, form.ranks.reason)
    for one in curve.bins:
        yield Number(model, form.form, f"calibration bin {one.rating} human", one.mean_human, n=one.n)
        yield _interval(model, form.form, f"calibration bin {one.rating} predicted", one.predicted, "")
    yield from _use(model, form.form, form.predicted_use)


def axes_of(form: FormScore) -> tuple[Axis, ...]:
    """The sub-scores, then confidence."""
    if form.sub_scores is None:
        return ()
    confidence = form.sub_scores.confidence
    return (*form.sub_scores.axes, *((confidence,) if confidence is not None else ()))


def _decisions(model: str, form: str, found: Decisions) -> Iterator[Number]:
    scores = {"accuracy": found.accuracy, "macro-f1": found.macro_f1, "decision gap": found.gap, "auc": found.auc}
    for axis, score in scores.items():
        yield _interval(model, form, axis, score, "" if score.mean is not None else found.reason)
    for axis, value in (("share accepted", found.prior), ("always accept macro-f1", found.always_accept_f1)):
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
        yield _interval(one.model, place, "spearman", ranks.order.spearman, ranks.order.reason)
        yield _interval(one.model, place, "kendall tau-b", ranks.order.kendall, ranks.order.reason)
        yield _interval(one.model, place, "auc", ranks.auc, "")
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
            yield from _rouge(one.model, name, side, rouge)
        bleu = found.bleu.score if found.bleu else NONE
        yield _interval(one.model, name, "bleu", bleu, "")
        yield _interval(one.model, name, "hash_cosine", found.hash_cosine, "")
        if found.bert is not None:
            yield Number(one.model, name, "bertscore-f1", found.bert.f1, n=found.n)
            yield Number(one.model, name, "bertscore truncated share", found.bert.truncated, n=found.n)
        for reason, count in found.skipped.items():
            yield Number(one.model, name, f"left out: {reason}", count)
    if one.text_means is not None:
        yield from _rouge(one.model, ALL, ", mean of fields", one.text_means.rouge)
        yield _interval(one.model, ALL, "bleu, mean of fields", one.text_means.bleu, "")


def _rouge(model: str, field: str, side: str, rouge: RougeMeans | None) -> Iterator[Number]:
    means = (rouge.rouge1, rouge.rouge2, rouge.rouge_l) if rouge else (NONE, NONE, NONE)
    for axis, mean in zip(("rouge-1", "rouge-2", "rouge-l"), means, strict=True):
        yield _interval(model, field, f"{axis}{side}", mean, "")


def _floors(own: FloorSet, floor: str) -> Iterator[Number]:
    name, score = own.named(floor), own.score
    for conference, mae in floor_by_conference(score, floor).items():
        yield Number(name, conference, "mae of conference", mae)
    for conference, bias in floor_bias_by_conference(score, floor).items():
        reason = "" if floor == CHANCE else "none by construction"
        yield Number(name, conference, "bias of conference", bias, reason=reason)
    yield Number(name, ALL, "pooled mae", pooled_floor(score, floor))
    yield Number(name, ALL, "nmae", normalised_floor(score, floor))
    for form in score.forms:
        value, n = floor_of(form, floor)
        if floor == HUMAN:
            yield _interval(name, form.form, "mae", form.floors.human_mae, "" if n else "no paper has two ratings")
            yield from _use(name, form.form, form.human_use)
        else:
            yield Number(name, form.form, "mae", value, n=n)
        if floor == CHANCE:
            yield Number(name, form.form, "bias", form.floors.random_bias, n=form.floors.n)


def _interval(model: str, form: str, axis: str, found: Interval, reason: str) -> Number:
    return Number(model, form, axis, found.mean, found.low, found.high, found.n, reason)
