"""The tables of ``referee arena score``: models by axes, floors below them; for Markdown, HTML and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.evals.agreement import FieldSimilarity, FormScore
from referee.evals.agreement.rouge import Rouge
from referee.evals.agreement.sub_scores import Axis
from referee.reports.arena_result import (
    FLOORS,
    ArenaResult,
    ModelScore,
    axes_of,
    floor_by_conference,
    floor_of,
    normalised_floor,
    pooled_floor,
)
from referee.reports.experiment_tables import table_lines
from referee.reports.markdown_text import inline
from referee.stats import Interval

NOTHING = "–"
_NONE = Interval(None, None, None, 0, 0)
Table = tuple[str, list[str], list[list[str]]]


def ratings_table(result: ArenaResult) -> Table:
    """Mean absolute errors on native scales by conference, pooled and normalised, and sub-scores; then the floors."""
    head = ["model", "papers", "invalid", *result.conferences, "pooled MAE", "nMAE", "sub-scores MAE"]
    rows = [
        [
            one.model,
            str(one.score.scored),
            str(sum(one.score.invalid.values())),
            *(_bounded(one.score.venue_maes.get(name, _NONE)) for name in result.conferences),
            _bounded(one.score.pooled_mae),
            _bounded(one.score.nmae),
            _of_papers(one.score.sub_score_mae, one.score.scored),
        ]
        for one in result.models
        if one.score.forms
    ]
    for floor in FLOORS:
        by_conference = floor_by_conference(result, floor)
        values = [*by_conference.values(), pooled_floor(result, floor), normalised_floor(result, floor)]
        rows.append([floor, str(_floor_papers(result, floor)), NOTHING, *map(_number, values), NOTHING])
    return "Mean absolute error by conference", head, rows


def decisions_table(result: ArenaResult) -> Table | None:
    """Predicted against real decisions; None where no conference's decisions count."""
    head = ["model", "papers", "accuracy", "macro-F1", "gap", "AUC", "share accepted", "always accept: macro-F1"]
    rows = []
    for one in result.models:
        found = one.score.decisions
        if found is not None:
            values = (found.accuracy, found.macro_f1, found.gap, found.auc, found.prior, found.always_accept_f1)
            rows.append([one.model, str(found.n), *map(_number, values)])
    return ("Decisions", head, rows) if rows else None


def forms_table(result: ArenaResult) -> Table:
    """Form by form, on its own scale, beside its floors."""
    head = ["model", "form", "scale", "papers", "MAE", "bias", "nMAE", "constant", "human", "chance"]
    rows = []
    for one in result.models:
        for form in one.score.forms:
            floors = (_number(floor_of(form, floor)[0]) for floor in FLOORS)
            n = str(len(form.targets.scored))
            values = (_bounded(form.error.mae), _bounded(form.error.bias, signed=True), _number(form.error.nmae))
            rows.append([one.model, form.form, _scale(form), n, *values, *floors])
    return "By form", head, rows


def calibration_table(result: ArenaResult) -> Table:
    """Whether predictions rise with people's ratings, and how much of the scale they use."""
    head = ["model", "form", "slope", "compression", "gap", "values used", "entropy", "outer thirds", "off scale"]
    rows = []
    for one in result.models:
        for form in one.score.forms:
            curve = form.curve
            rows.append([one.model, form.form, *map(_number, (curve.slope, curve.compression, curve.gap)), *_use(form)])
    for form in result.floors.forms:
        use = form.human_use
        values = (use.used, use.entropy, use.extreme, use.off_scale)
        rows.append(["people, single ratings", form.form, NOTHING, NOTHING, NOTHING, *map(_number, values)])
    return "Calibration and range", head, rows


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
    return ("Sub-scores", head, rows) if rows else None


def texts_table(result: ArenaResult) -> Table | None:
    """Text similarity by field, beside the nearest single review and people among themselves; None without texts."""
    rows = [_text_row(one.model, found) for one in result.models for found in one.texts.values() if found.n]
    with_bert = any(found.bert is not None for one in result.models for found in one.texts.values())
    head = ["model", "field", "papers", "R-1", "R-2", "R-L", "BLEU", "hash_cosine", "R-L, best review", "R-L, people"]
    if with_bert:
        head.append("BERTScore-F1")
        bert = [f.bert.f1 if f.bert else None for one in result.models for f in one.texts.values() if f.n]
        rows = [[*row, _number(value)] for row, value in zip(rows, bert, strict=True)]
    return ("Texts", head, rows) if rows else None


def ranks_table(result: ArenaResult) -> Table | None:
    """Models that rated on another form than people: ranks within each form, nothing more."""
    head = ["model", "people's form", "model's form", "papers", "Spearman", "AUC", "mean ranks (people, model)"]
    head += ["off scale (people, model)", "total variation of ranks"]
    rows = []
    for one in result.models:
        for ranks in one.ranks:
            apart = ranks.bins.distances.total_variation if ranks.bins.distances else None
            means, off = (", ".join(map(_number, pair)) for pair in (ranks.bins.mean_ranks, ranks.bins.off_scale))
            values = [str(ranks.n), _number(ranks.spearman), _number(ranks.auc), means, off, _number(apart)]
            rows.append([one.model, ranks.form, ranks.other_form, *values])
    return ("On another scale", head, rows) if rows else None


def left_out_table(result: ArenaResult) -> Table | None:
    """What is not in the errors, and why; None where everything is."""
    rows = [[one.model, reason, str(count)] for one in result.models for reason, count in _left_out(one) if count]
    return ("Left out", ["model", "reason", "papers"], rows) if rows else None


TABLES: tuple[Callable[[ArenaResult], Table | None], ...] = (
    ratings_table,
    decisions_table,
    texts_table,
    forms_table,
    calibration_table,
    sub_scores_table,
    ranks_table,
    left_out_table,
)


def lines_of(table: Table) -> list[str]:
    """The table as Markdown that also reads as plain text."""
    _, head, rows = table
    return table_lines([inline(name) for name in head], [[inline(cell) for cell in row] for row in rows])


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
        f"{found.bleu.score:.2f}" if found.bleu else NOTHING,
        _number(found.hash_cosine),
        _rouges(found.max_over_reviews)[2],
        _rouges(found.ceiling)[2] + (f" (n = {found.ceiling_n:,})" if 0 < found.ceiling_n < found.n else ""),
    ]


def _rouges(rouge: Rouge | None) -> list[str]:
    return [NOTHING] * 3 if rouge is None else [_number(v) for v in (rouge.rouge1, rouge.rouge2, rouge.rouge_l)]


def _use(form: FormScore) -> list[str]:
    use = form.predicted_use
    return [_number(value) for value in (use.used, use.entropy, use.extreme, use.off_scale)]


def _scale(form: FormScore) -> str:
    scale = form.scale
    whole = scale.allowed == tuple(scale.low + i for i in range(len(scale.allowed)))
    shown = f"{scale.low:g}-{scale.high:g}" if whole else ", ".join(f"{value:g}" for value in scale.allowed)
    return shown if scale.known else f"{shown} (seen)"


def _floor_papers(result: ArenaResult, floor: str) -> int:
    return sum(floor_of(form, floor)[1] for form in result.floors.forms)


def _bounded(found: Interval, *, signed: bool = False) -> str:
    shown = _signed if signed else _number
    if found.mean is None:
        return NOTHING
    if found.low is None or found.high is None:
        return shown(found.mean)
    return f"{shown(found.mean)} [{shown(found.low)}, {shown(found.high)}]"


def _of_papers(found: Interval, usual: int) -> str:
    """With the papers behind it, where they are not those of the row."""
    fewer = found.mean is not None and found.clusters != usual
    return f"{_bounded(found)} (n = {found.clusters:,})" if fewer else _bounded(found)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.3f}"
