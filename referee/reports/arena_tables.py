"""The tables of ``referee arena score``: models by axes, floors below them; for Markdown, HTML and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from referee.evals.agreement import FieldSimilarity, FormScore
from referee.evals.agreement.calibration_curve import RangeUse
from referee.evals.agreement.rating_error import Axis
from referee.evals.agreement.result import (
    FLOORS,
    NONE,
    ArenaResult,
    FloorSet,
    ModelScore,
    axes_of,
    floor_bias_by_conference,
    floor_by_conference,
    floor_of,
    normalised_floor,
    overall,
    pooled_floor,
)
from referee.evals.agreement.text_scores import RougeMeans
from referee.reports.tables import NOTHING, Table, dashed, estimate, number
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.usage import Usage
from referee.stats import Interval

_PLACES = 3


def overall_table(result: ArenaResult) -> Table | None:
    """One row a model, one column an axis; None where no model was scored on any."""
    found = {one.model: overall(one) for one in result.models}
    axes = [axis for axis in _AXES if any(values.get(axis, NONE).mean is not None for values in found.values())]
    rows = [[model, *(_scaled(axis, values.get(axis, NONE)) for axis in axes)] for model, values in found.items()]
    return dashed("Models by axis", ["model", *axes], rows) if axes else None


_AXES = (
    *("pooled MAE", "nMAE", "sub-scores MAE", "accuracy", "macro-F1", "gap", "AUC"),
    *("ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "BERTScore-F1"),
)


def ratings_table(result: ArenaResult) -> Table | None:
    """Errors on native scales by conference, pooled and normalised, and sub-scores, with the floors of their papers.

    None where no model rated on people's forms.
    """
    by_conference = [name for conference in result.conferences for name in (conference, f"{conference} bias")]
    head = ["model", "papers", "invalid", *by_conference, "pooled MAE", "nMAE", "sub-scores MAE"]
    rows = []
    for own in result.floor_sets:
        rows += [_ratings_row(one, result.conferences) for one in own.models]
        rows += [_floor_row(own, floor, result.conferences) for floor in FLOORS]
    rows += [_ratings_row(one, result.conferences) for one in result.models if one.score.forms and not one.score.scored]
    return dashed("Mean absolute error by conference", head, rows) if rows else None


def _ratings_row(one: ModelScore, conferences: Sequence[str]) -> list[str]:
    score = one.score
    both = ((score.venue_maes.get(name, NONE), score.venue_biases.get(name, NONE)) for name in conferences)
    return [
        one.model,
        str(score.scored),
        str(sum(score.invalid.values())),
        *(cell for mae, bias in both for cell in (_bounded(mae), _bounded(bias, signed=True))),
        _bounded(score.pooled_mae),
        _bounded(score.nmae),
        _of_papers(score.sub_score_mae, score.scored),
    ]


def _floor_row(own: FloorSet, floor: str, conferences: Sequence[str]) -> list[str]:
    maes, biases = floor_by_conference(own.score, floor), floor_bias_by_conference(own.score, floor)
    papers = sum(floor_of(form, floor)[1] for form in own.score.forms)
    cells = (cell for name in conferences for cell in (_number(maes.get(name)), _signed(biases.get(name))))
    together = (_number(pooled_floor(own.score, floor)), _number(normalised_floor(own.score, floor)))
    return [own.named(floor), str(papers), "", *cells, *together, ""]


def decisions_table(result: ArenaResult) -> Table | None:
    """Predicted against real decisions; None where no conference's decisions count."""
    head = ["model", "papers", "accuracy", "macro-F1", "gap", "AUC", "share accepted", "always accept: macro-F1"]
    rows = []
    for one in result.models:
        found = one.score.decisions
        if found is not None:
            scores = map(_bounded, (found.accuracy, found.macro_f1, found.gap, found.auc))
            rows.append([one.model, str(found.n), *scores, _number(found.prior), _number(found.always_accept_f1)])
    return dashed("Decisions", head, rows) if rows else None


def cost_table(result: ArenaResult) -> Table | None:
    """Tokens and money of each model's predictions, as they record them; None where none does."""
    head = ["model", "papers", "calls", "tokens in", "tokens out", "US dollars", "tokens a paper", "US dollars a paper"]
    rows = [_cost_row(one, one.usage) for one in result.models if one.usage is not None]
    return dashed("Tokens and cost", head, rows) if rows else None


def _cost_row(one: ModelScore, usage: Usage) -> list[str]:
    reused = f" ({usage.reused_calls:,} reused)" if usage.reused_calls else ""
    each = usage.cost_usd / one.priced if usage.cost_usd is not None else None
    return [
        one.model,
        f"{one.priced:,}",
        f"{usage.calls:,}{reused}",
        tokens_in_cell(usage),
        f"{usage.output_tokens:,}",
        "unknown" if usage.cost_usd is None else f"{usage.cost_usd:.4f}",
        f"{usage.total_tokens / one.priced:,.0f}",
        "unknown" if each is None else f"{each:.4f}",
    ]


def forms_table(result: ArenaResult) -> Table | None:
    """Form by form, on its own scale, beside its floors."""
    head = ["model", "form", "scale", "papers", "MAE", "bias", "nMAE", "constant", "human", "chance"]
    rows = []
    for one in result.models:
        for form in one.score.forms:
            floors = (_number(floor_of(form, floor)[0]) for floor in FLOORS)
            n = str(len(form.targets.scored))
            values = (_bounded(form.error.mae), _bounded(form.error.bias, signed=True), _number(form.error.nmae))
            rows.append([one.model, form.form, _scale(form), n, *values, *floors])
    return dashed("By form", head, rows) if rows else None


def calibration_table(result: ArenaResult) -> Table | None:
    """Whether predictions rise with people's ratings, and how much of the scale they use."""
    head = ["model", "form", "Spearman", "Kendall tau-b", "AUC", "slope", "compression", "gap"]
    head += ["values used", "entropy", "outer thirds", "off scale"]
    rows = []
    for one in result.models:
        for form in one.score.forms:
            order = (form.ranks.spearman, form.ranks.kendall, form.decisions.auc if form.decisions else NONE)
            curve = map(_number, (form.curve.slope, form.curve.compression, form.curve.gap))
            rows.append([one.model, form.form, *map(_bounded, order), *curve, *_use(form.predicted_use)])
    for own in result.floor_sets:
        for form in own.score.forms:
            rows.append([f"people, single ratings{own.papers}", form.form, *[""] * 6, *_use(form.human_use)])
    return dashed("Calibration and range", head, rows) if rows else None


def _both(axis: Axis) -> str:
    invalid = f", {axis.invalid} off the form" if axis.invalid else ""
    return f"{axis.n} of {axis.human}{invalid}"


def sub_scores_table(result: ArenaResult) -> Table | None:
    """Axis by axis, with the papers where people and the model filled it; None where no form has any."""
    rows = [
        [one.model, form.form, axis.name, _bounded(axis.mae), _bounded(axis.bias, signed=True), _both(axis)]
        for one in result.models
        for form in one.score.forms
        for axis in axes_of(form)
        if axis.human
    ]
    head = ["model", "form", "axis", "MAE", "bias", "papers with both"]
    return dashed("Sub-scores", head, rows) if rows else None


def texts_table(result: ArenaResult) -> Table | None:
    """Text similarity by field, beside the nearest single review and people among themselves; None without texts."""
    rows = [_text_row(one.model, found) for one in result.models for found in one.texts.values() if found.n]
    with_bert = any(found.bert is not None for one in result.models for found in one.texts.values())
    head = ["model", "field", "papers", "R-1", "R-2", "R-L", "BLEU", "hash_cosine", "R-L, best review", "R-L, people"]
    if with_bert:
        head.append("BERTScore-F1")
        bert = [f.bert.f1 if f.bert else None for one in result.models for f in one.texts.values() if f.n]
        rows = [[*row, _number(value)] for row, value in zip(rows, bert, strict=True)]
    return dashed("Texts", head, rows) if rows else None


def ranks_table(result: ArenaResult) -> Table | None:
    """Models that rated on another form than people: ranks within each form, nothing more."""
    head = ["model", "people's form", "model's form", "papers", "Spearman", "Kendall tau-b", "AUC"]
    head += ["mean ranks (people, model)", "off scale (people, model)", "total variation of ranks"]
    rows = []
    for one in result.models:
        for ranks in one.ranks:
            apart = ranks.bins.distances.total_variation if ranks.bins.distances else None
            means, off = (
                ", ".join(_number(value) or NOTHING for value in pair)
                for pair in (ranks.bins.mean_ranks, ranks.bins.off_scale)
            )
            order = map(_bounded, (ranks.order.spearman, ranks.order.kendall, ranks.auc))
            values = [str(ranks.n), *order, means, off, _number(apart)]
            rows.append([one.model, ranks.form, ranks.other_form, *values])
    return dashed("On another scale", head, rows) if rows else None


def left_out_table(result: ArenaResult) -> Table | None:
    """What is not in the errors, and why; None where everything is."""
    rows = [[one.model, reason, str(count)] for one in result.models for reason, count in _left_out(one) if count]
    return dashed("Left out", ["model", "reason", "papers"], rows) if rows else None


TABLES: tuple[Callable[[ArenaResult], Table | None], ...] = (
    overall_table,
    ratings_table,
    decisions_table,
    texts_table,
    forms_table,
    calibration_table,
    sub_scores_table,
    ranks_table,
    cost_table,
    left_out_table,
)


def _left_out(one: ModelScore) -> Iterator[tuple[str, int]]:
    yield from ((f"invalid: {reason}", count) for reason, count in one.score.invalid.items())
    yield "too few human ratings", one.score.few_reviews
    yield "the form has no overall rating", one.score.no_scale
    yield "no human review of the paper", one.no_human
    yield "a further prediction for a paper", one.repeated
    yield "skipped: never asked about", one.skipped
    yield "the paper names no venue", one.no_venue


def _text_row(model: str, found: FieldSimilarity) -> list[str]:
    return [
        model,
        found.field,
        str(found.n),
        *_rouges(found.rouge),
        _scaled("BLEU", found.bleu.score) if found.bleu else "",
        _bounded(found.hash_cosine),
        _rouges(found.max_over_reviews)[2],
        _rouges(found.ceiling)[2] + (f" (n = {found.ceiling_n:,})" if 0 < found.ceiling_n < found.n else ""),
    ]


def _rouges(rouge: RougeMeans | None) -> list[str]:
    return [""] * 3 if rouge is None else [_bounded(v) for v in (rouge.rouge1, rouge.rouge2, rouge.rouge_l)]


def _use(use: RangeUse) -> list[str]:
    return [_number(value) for value in (use.used, use.entropy, use.extreme, use.off_scale)]


def _scale(form: FormScore) -> str:
    scale = form.scale
    whole = scale.allowed == tuple(scale.low + i for i in range(len(scale.allowed)))
    shown = f"{scale.low:g}-{scale.high:g}" if whole else ", ".join(f"{value:g}" for value in scale.allowed)
    return shown if scale.known else f"{shown} (seen)"


def _bounded(found: Interval, *, signed: bool = False, digits: int = _PLACES) -> str:
    return estimate(found.mean, found.low, found.high, digits, signed=signed)


def _scaled(axis: str, found: Interval) -> str:
    """BLEU is out of 100, and has fewer places."""
    return _bounded(found, digits=2 if axis == "BLEU" else _PLACES)


def _of_papers(found: Interval, usual: int) -> str:
    """With the papers behind it, where they are not those of the row."""
    fewer = found.mean is not None and found.clusters != usual
    return f"{_bounded(found)} (n = {found.clusters:,})" if fewer else _bounded(found)


def _number(value: float | None) -> str:
    return number(value, _PLACES)


def _signed(value: float | None) -> str:
    return number(value, _PLACES, signed=True)
