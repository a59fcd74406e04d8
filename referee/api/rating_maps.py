"""Rating maps in reviews: what names the prompts a map holds for, and how a review's overall rating is mapped."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import ValidationError

from referee.errors import DataError, EvaluationError
from referee.evals.agreement import MapName, apply, check_fits, scale_of
from referee.graphs.job import Job
from referee.graphs.strategies import STRATEGIES
from referee.runs.files import write_atomically
from referee.schemas.calibration import RatingMap
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm


def prompt_name(job: Job) -> MapName:
    """The writer's model, and the prompts a strategy may use: their names with versions, and one digest of them all."""
    used = sorted(STRATEGIES[job.settings.review.strategy].prompts(job), key=lambda prompt: prompt.id)
    version = ", ".join(f"{prompt.id}@{prompt.version}" for prompt in used)
    digests = [prompt.digest for prompt in used]
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return MapName(job.models["writer"].spec.id, f"{job.settings.review.strategy}: {version}", digest)


def read_rating_map(path: Path) -> RatingMap:
    """The map of a file of ``referee arena calibrate``.

    Raises:
        DataError: The file is missing or holds no map.
    """
    try:
        return RatingMap.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(
            f"the rating map {str(path)!r} cannot be read: {error.strerror or error}.",
            hint="Make one with `referee arena calibrate`.",
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{str(path)!r} is no rating map: {first['msg']}{f' ({where})' if where else ''}.",
            hint="Make one with `referee arena calibrate`.",
        ) from error


def write_rating_map(path: Path, rating_map: RatingMap) -> None:
    """Write the map for ``--calibration``.

    Raises:
        DataError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, rating_map.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise DataError(
            f"the rating map {str(path)!r} cannot be written: {error.strerror or error}.", hint="Choose another --out."
        ) from error


def map_digest(rating_map: RatingMap) -> str:
    """SHA-256 (hex) of the map."""
    return hashlib.sha256(rating_map.model_dump_json().encode()).hexdigest()


def require_fit(rating_map: RatingMap, job: Job) -> None:
    """Refuse a map of another model, form or prompt, before anything is asked.

    Raises:
        EvaluationError: What differs is named.
    """
    check_fits(rating_map, prompt_name(job), job.form.id)
    scale = scale_of(job.form)
    if scale is None or (scale.field, scale.allowed) != (rating_map.field, rating_map.allowed):
        raise EvaluationError(
            f"the rating map was made for {rating_map.field!r} with the values {_listed(rating_map.allowed)} of "
            f"{rating_map.form!r}, and the form here has {_listed(scale.allowed) if scale else 'no overall rating'}.",
            hint="Make one with `referee arena calibrate` for this form.",
            ids={"venue": rating_map.form},
        )


def mapped_review(review: Review, form: VenueForm, rating_map: RatingMap) -> Review:
    """The review with its overall rating mapped to the form's nearest value; its record keeps what the model stated.

    A rating that is null stays null: nothing in the paper backs it, and a map adds no evidence.
    """
    record = next((one for one in review.scores if one.field == form.overall), None)
    if form.overall is None or record is None or record.value is None:
        return review
    stated = float(record.value)
    found = apply(rating_map, stated)
    value = int(found.offered) if found.offered.is_integer() else found.offered
    told = (
        f"calibrated on {rating_map.papers} papers, in the overall rating alone: the model stated {stated:g}, which "
        f"comes to {found.value:.2f} in human ratings, from {found.low:.2f} to {found.high:.2f} for "
        f"{found.coverage:.0%} of papers"
    )
    mapped = record.model_copy(update={"value": value})
    return review.model_copy(
        update={
            "fields": {**review.fields, form.overall: value},
            "rating": value,
            "calibration": told,
            "scores": tuple(mapped if one is record else one for one in review.scores),
        }
    )


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)
