"""A rating map: what a model's ratings on a form come to in human ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from referee.schemas.base import Frozen

FEWEST_PAPERS = 80


class MapKnot(Frozen):
    """A rating the model gave and the human mean it maps to."""

    predicted: float
    mapped: float


class MeanInterval(Frozen):
    """A mean and its interval, resampled by paper."""

    mean: float
    low: float
    high: float


class RatingMap(Frozen):
    """A never falling map from one model's overall ratings to mean human ratings, for one form and one prompt.

    It holds for ``model``, ``form`` and the prompt alone: another prompt rates otherwise. Between knots it is linear,
    beyond them level. The errors are cross-validated by paper, in points of the form: ``mae_before`` of the model's
    own ratings, ``mae_after`` of the mapped ones, ``mae_constant`` of one constant for all papers, ``change`` of after
    less before. ``residual_low`` and ``residual_high`` bound a share ``coverage`` of (human mean - mapped).
    """

    schema_version: Literal[1] = 1
    model: str = Field(min_length=1)
    form: str = Field(min_length=1)
    field: str = Field(min_length=1)
    allowed: tuple[float, ...] = Field(min_length=2)
    prompt_version: str
    prompt_digest: str
    knots: tuple[MapKnot, ...] = Field(min_length=1)
    papers: int = Field(ge=FEWEST_PAPERS)
    folds: int = Field(ge=2)
    seed: int
    mae_before: MeanInterval
    mae_after: MeanInterval
    mae_constant: MeanInterval
    change: MeanInterval
    coverage: float = Field(gt=0, lt=1)
    residual_low: float
    residual_high: float

    @model_validator(mode="after")
    def _check(self) -> RatingMap:
        for before, after in pairwise(self.knots):
            if after.predicted <= before.predicted or after.mapped < before.mapped:
                raise ValueError(f"the map falls or stands twice at {after.predicted:g}")
        if any(high <= low for low, high in pairwise(self.allowed)):
            raise ValueError("the values of the form do not rise")
        if self.residual_low > self.residual_high:
            raise ValueError("the residuals' lower bound is above their upper one")
        return self
