"""The plots of ``referee arena score``: errors beside the floors, bias, calibration and use of the scale by form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.evals.agreement import FormScore
from referee.reports.arena_result import FLOORS, ArenaResult, axes_of, floor_of
from referee.reports.plots import Plot, bars, calibration, forest

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
PEOPLE = "people"
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
    yield _errors(result, names)
    yield forest(
        "bias",
        "Bias: predicted less mean human rating",
        [(f"{model}, {f.form} (n = {f.error.bias.n})", *_bounds(f)) for model, f in scored],
        across="points of the form's own scale",
        caption="Mean and its interval by paper. Above 0 the model is more lenient than people.",
    )
    axes = [(model, f.form, axis) for model, f in scored for axis in axes_of(f) if axis.n]
    if axes:
        yield forest(
            "sub-scores",
            "Sub-scores: predicted less mean human value",
            [
                (f"{model}, {form}, {axis.name} (n = {axis.n})", axis.bias.mean, axis.bias.low, axis.bias.high)
                for model, form, axis in axes
            ],
            across="points of the axis",
            caption="Mean and its interval by paper; one paper has no interval. Above 0 the model is more lenient.",
        )
    for name in dict.fromkeys(form.form for _, form in scored):
        own = {model: form for model, form in scored if form.form == name}
        yield _curves(name, own)
        yield _shares(result, name, own)


def _errors(result: ArenaResult, names: dict[str, str]) -> Plot:
    series: dict[str, dict[str, float | None]] = {
        names[one.model]: {f.form: f.error.mae.mean for f in one.score.forms} for one in result.models
    }
    series |= {floor: {form.form: floor_of(form, floor)[0] for form in result.floors.forms} for floor in FLOORS}
    return bars(
        "mae",
        "Mean absolute error by form",
        {label: values for label, values in series.items() if values},
        across="form",
        up="points of the form's own scale",
        caption="Scales differ between forms: compare within one.",
    )


def _curves(name: str, own: dict[str, FormScore]) -> Plot:
    scale = next(iter(own.values())).scale
    hidden = sum(not one.shown for form in own.values() for one in form.curve.bins)
    caption = "Papers binned by their rounded mean human rating; on the dashed line both agree."
    if hidden:
        caption += f" {hidden} bins with fewer than five papers are not drawn."
    return calibration(
        f"calibration-{_slug(name)}",
        f"{name}: predicted against human ratings",
        {m: [(b.mean_human, b.mean_predicted, b.n) for b in f.curve.bins if b.shown] for m, f in own.items()},
        across="mean human rating of the bin",
        up="mean predicted rating",
        limits=(scale.low, scale.high),
        caption=caption,
    )


def _shares(result: ArenaResult, name: str, own: dict[str, FormScore]) -> Plot:
    people = next(form for form in result.floors.forms if form.form == name)
    uses = {**{model: form.predicted_use for model, form in own.items()}, PEOPLE: people.human_use}
    off = ", ".join(f"{label} {use.off_scale:.1%}" for label, use in uses.items() if use.off_scale)
    return bars(
        f"ratings-{_slug(name)}",
        f"{name}: how often each rating is given",
        {
            label: {f"{a:g}": s for a, s in zip(use.scale.allowed, use.shares, strict=True)}
            for label, use in uses.items()
            if use.shares is not None
        },
        across="rating",
        up="share of ratings",
        caption=f"People's are single ratings.{f' Off the scale: {off}.' if off else ''}",
    )


def _bounds(form: FormScore) -> tuple[float | None, float | None, float | None]:
    bias = form.error.bias
    return bias.mean, bias.low, bias.high


def _slug(name: str) -> str:
    return _NO_NAME.sub("-", name).strip("-").lower()
