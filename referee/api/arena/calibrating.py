"""``arena_calibrate``: a model's predictions and people's ratings in, a rating map for ``referee review`` out."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.arena.inputs import SOURCE, ArenaInput, Joined, joined, read_arena, require_same_scale
from referee.api.rating_maps import write_rating_map
from referee.errors import EvaluationError, SettingsError
from referee.evals.agreement import MapName, RatingPair, Scale, check_scale, fit_rating_map, scale_of
from referee.evals.agreement.rating_error import FEWEST_REVIEWS, with_targets
from referee.runs import Progress, silent
from referee.schemas.calibration import RatingMap


@dataclass(frozen=True)
class Calibration:
    """The map and what was left out of its papers, by reason."""

    rating_map: RatingMap
    path: Path
    left_out: dict[str, int]


def arena_calibrate(
    predictions: str | Path | Sequence[str | Path],
    *,
    model: str,
    out: str | Path,
    human: str | Path | None = None,
    venue: str | None = None,
    mapping: str | Path | None = None,
    fewest_reviews: int = FEWEST_REVIEWS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibration:
    """Fit the map from one model's ratings on one form, by one prompt, to mean human ratings; write it to a file.

    Args:
        predictions: Runs of ``referee arena run``, or review sets.
        model: The model, by its name in the predictions.
        out: The map's file.
        human: The set of human reviews; by default those of the predictions' own sets.
        venue: The form, where the predictions are on several.
        mapping: As in ``arena_score``.
        fewest_reviews: Human ratings a paper needs.
        seed: For folds and intervals.
        progress: Called with each event.

    Returns:
        The map, with its cross-validated errors.

    Raises:
        DataError: A set cannot be read, or human ratings are on another form than they say.
        SettingsError: The model or form is not among the predictions, or they are on several forms.
        EvaluationError: There are fewer than 80 papers, several prompts, or ratings on different scales.
    """
    paths = [Path(one) for one in ([predictions] if isinstance(predictions, str | Path) else predictions)]
    with tempfile.TemporaryDirectory(prefix="referee-") as aside:
        given = read_arena(
            paths,
            Path(human) if human else None,
            by=SOURCE,
            aside=Path(aside),
            progress=progress,
            mapping=Path(mapping) if mapping else None,
        )
    _require_model(model, given)
    found = joined(given, model)
    require_same_scale(found)
    scale = _scale(found, given, venue)
    papers = [paper for paper in found.same if paper.form == scale.form]
    check_scale(scale, [value for paper in papers for value in paper.human])
    targets = with_targets(papers, scale, fewest=fewest_reviews)
    pairs = [RatingPair(row.paper.paper_id, row.predicted, row.target) for row in targets.scored]
    rating_map = fit_rating_map(pairs, scale, _name(model, given, scale.form), seed=seed)
    write_rating_map(Path(out), rating_map)
    return Calibration(rating_map, Path(out), {**targets.invalid, "too few human ratings": targets.few_reviews})


def _require_model(model: str, given: ArenaInput) -> None:
    if model not in given.models:
        raise SettingsError(
            f"there is no prediction by the model {model!r}.",
            hint=f"The predictions are by {', '.join(map(repr, sorted(given.models)))}.",
        )


def _scale(found: Joined, given: ArenaInput, venue: str | None) -> Scale:
    names = sorted({paper.form for paper in found.same if paper.predicted is not None})
    if venue is not None and venue not in names:
        raise SettingsError(
            f"no prediction is on the form {venue!r}.", hint=f"They are on {', '.join(names) or 'none'}."
        )
    if venue is None and len(names) != 1:
        raise SettingsError(
            f"the predictions are on {len(names)} forms ({', '.join(names)}), and a map is for one.",
            hint="Name it with --venue.",
        )
    form = given.forms.get(venue or names[0])
    scale = scale_of(form) if form is not None else None
    if scale is None:
        raise SettingsError(
            f"the form {venue or names[0]!r} is unknown or has no overall rating.", hint="See `referee venue list`."
        )
    return scale


def _name(model: str, given: ArenaInput, form: str) -> MapName:
    """The prompt that all predictions on the form share.

    Raises:
        EvaluationError: They were asked for by several.
    """
    cases = [case for case in given.models[model] if case.venue == form and case.rating is not None]
    named = {(str(case.extra.get("prompt") or ""), str(case.extra.get("prompt_digest") or "")) for case in cases}
    if len(named) > 1:
        listed = ", ".join(f"{prompt or 'none named'} ({digest[:12]})" for prompt, digest in sorted(named))
        raise EvaluationError(
            f"the predictions of {model!r} on {form!r} are by {len(named)} prompts: {listed}.",
            hint="A map is for one prompt: give the predictions of one.",
            ids={"model": model, "venue": form},
        )
    prompt, digest = next(iter(named), ("", ""))
    return MapName(model, prompt, digest)
