"""The plots of ``referee arena score``: errors beside the floors, bias, calibration and use of the scale by form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.evals.agreement import FormScore
from referee.evals.agreement.result import CHANCE, CONSTANT, HUMAN, ArenaResult, axes_of, floor_of
from referee.reports.plots import PEOPLE, Plot, bars, calibration, dots_beside_lines, forest
from referee.stats import Interval

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_FLOORS = {HUMAN: "one human reviewer", CONSTANT: "one constant a form", CHANCE: "chance"}
_LONGEST_NAME, _END = 30, 13


def arena_plots(result: ArenaResult) -> tuple[Plot, ...]:
    """``mae``, ``bias`` and ``sub-scores`` of all forms, then ``calibration-FORM`` and ``ratings-FORM``.

    The CSV holds the numbers. Long names of models are cut, as ``plot_names`` says.
    """
    return tuple(_plots(result))


def plot_names(result: ArenaResult) -> dict[str, str]:
    """What plots call each model: its name, or a number with both ends of one that leaves a drawing no room."""
    named = {}
    for number, one in enumerate(result.models, start=1):
        long = len(one.model) > _LONGEST_NAME
        named[one.model] = f"{number}: {one.model[:_END]}…{one.model[-_END:]}" if long else one.model
    return named


def _plots(result: ArenaResult) -> Iterator[Plot]:
    names = plot_names(result)
    scored = [(names[one.model], form) for one in result.models for form in one.score.forms if form.targets.scored]
    if not scored:
        return
    yield _errors(scored)
    yield forest(
        "bias",
        "Bias: predicted less mean human rating",
        [(_label(model, f), *_bounds(f.error.bias)) for model, f in scored],
        across="points of the form's own scale",
        caption="Mean and its interval by paper. Above 0 the model is more lenient than people.",
    )
    axes = [(model, f.name, axis) for model, f in scored for axis in axes_of(f) if axis.n]
    if axes:
        yield forest(
            "sub-scores",
            "Sub-scores: predicted less mean human value",
            [
                (f"{model}, {form}, {_words(axis.name)} (n = {axis.n})", *_bounds(axis.bias))
                for model, form, axis in axes
            ],
            across="points of the axis",
            caption="Mean and its interval by paper; one paper has no interval. Above 0 the model is more lenient.",
        )
    for name in dict.fromkeys(form.form for _, form in scored):
        own = {model: form for model, form in scored if form.form == name}
        yield _curves(own)
        yield _shares(result, own)


def _errors(scored: list[tuple[str, FormScore]]) -> Plot:
    by_form = sorted(scored, key=lambda one: one[1].form)
    return dots_beside_lines(
        "mae",
        "Mean absolute error by form",
        [(_label(model, form), *_bounds(form.error.mae)) for model, form in by_form],
        {said: [floor_of(form, floor)[0] for _, form in by_form] for floor, said in _FLOORS.items()},
        across="points of the form's own scale",
        caption="Mean and its interval by paper, beside what needs no model, on the same papers. Scales differ between "
        "forms: compare within one.",
    )


def _curves(own: dict[str, FormScore]) -> Plot:
    form = next(iter(own.values()))
    scale = form.scale
    hidden = sum(not one.shown for form in own.values() for one in form.curve.bins)
    caption = (
        "Papers binned by their rounded mean human rating, with intervals by paper; on the dashed line both agree. "
        "Models are drawn a little apart."
    )
    if hidden:
        caption += f" {hidden} bins with fewer than five papers are not drawn."
    return calibration(
        f"calibration-{_slug(form.form)}",
        f"{form.name}: predicted against human ratings",
        {m: [(b.mean_human, *_bounds(b.predicted), b.n) for b in f.curve.bins if b.shown] for m, f in own.items()},
        across="mean human rating of the bin",
        up="mean predicted rating",
        limits=(scale.low, scale.high),
        caption=caption,
    )


def _shares(result: ArenaResult, own: dict[str, FormScore]) -> Plot:
    form = next(iter(own.values()))
    uses = {model: one.predicted_use for model, one in own.items()}
    for floors in result.floor_sets:
        uses |= {f"{PEOPLE}{floors.papers}": f.human_use for f in floors.score.forms if f.form == form.form}
    off = ", ".join(f"{label} {use.off_scale:.1%}" for label, use in uses.items() if use.off_scale)
    return bars(
        f"ratings-{_slug(form.form)}",
        f"{form.name}: how often each rating is given",
        {
            label: {f"{a:g}": s for a, s in zip(use.scale.allowed, use.shares, strict=True)}
            for label, use in uses.items()
            if use.shares is not None
        },
        across="rating",
        up="share of ratings",
        caption=f"People's are single ratings.{f' Off the scale: {off}.' if off else ''}",
    )


def _label(model: str, form: FormScore) -> str:
    return f"{model}, {form.name} (n = {form.error.mae.n})"


def _bounds(found: Interval) -> tuple[float, float | None, float | None]:
    assert found.mean is not None, "only what was measured is drawn"
    return found.mean, found.low, found.high


def _words(axis: str) -> str:
    return axis.replace("_", " ").lower()


def _slug(name: str) -> str:
    return _NO_NAME.sub("-", name).strip("-").lower()
