"""How useful a review's weaknesses are to the authors: four aspects, each 1 to 5 a point.

The review's atomic weaknesses (``behaviour.atomic``, by rules) are rated one by one; an aspect is the mean over points,
and the value is the mean of the four aspects, from 1 to 5, higher is better. A point that claims nothing has no
verifiability. At most 40 points are rated, in the review's order. A review without weaknesses is not applicable.
Several judges or repeats: the mean of their values.

Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing", appendix H (tables 18 to 20), with the
aspects of RevUtil. Deviations: the paper rates by a model tuned for it, one call a point; here a judge rates all points
of a review in one call. The mean of the four is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field

from referee.agents.asking import tokens_left
from referee.agents.usefulness_judge import (
    ASPECTS,
    HIGHEST,
    LOWEST,
    MOST_POINTS,
    PROMPT,
    render_points,
    usefulness_model,
    usefulness_tokens,
)
from referee.evals.behaviour.atomic import atomic_items
from referee.evals.judging import Panel, total_usage
from referee.evals.metric import LEFT_OUT, Better, Context, Known, Load, Need, Quantity, Range, failed, not_applicable
from referee.evals.quality.judged import (
    NO_JUDGE,
    Outcome,
    Reading,
    answered,
    judge_score,
    no_room,
    nobody_answered,
    over_judges,
    readings_of,
    rescored,
    result,
    rough_tokens,
)
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

NO_POINTS = "the review names no weakness"
_PROMPT_TOKENS = 900


class Rating(Stored):
    """One point's levels; no verifiability where it claims nothing."""

    reason: str = ""
    grounding: int
    actionability: int
    verifiability: int | None
    helpfulness: int


class RatingReading(Reading):
    """One judge's ratings by the number of the point, and the points it left out."""

    ratings: dict[str, Rating] = Field(default_factory=dict)
    unrated: tuple[int, ...] = ()

    @property
    def value(self) -> float | None:
        """The mean of the aspects' means; None where nothing was rated."""
        means = [mean for aspect in ASPECTS if (mean := self.mean(aspect)) is not None]
        return fmean(means) if means else None

    def mean(self, aspect: str) -> float | None:
        """An aspect's mean over the points that have it."""
        levels = [level for one in self.ratings.values() if (level := getattr(one, aspect)) is not None]
        return fmean(levels) if levels else None


class Ratings(Stored):
    """What a result of this metric keeps and is computed from."""

    points: tuple[str, ...]
    left_out: int = 0
    readings: tuple[RatingReading, ...]


class Usefulness(Quantity):
    """The metric ``usefulness``."""

    name = "usefulness"
    about = "how useful its weaknesses are to the authors"
    unit = "points of 5"
    range: Range = (LOWEST, HIGHEST)
    better: Better = "higher"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts = (PROMPT,)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Have all weaknesses rated at once; one call a judge and repeat."""
        panel = context.panel
        points = atomic_items(case).weaknesses
        if not points:
            return not_applicable(self, case, NO_POINTS)
        if panel is None:
            return not_applicable(self, case, NO_JUDGE)
        shown = _fitting(points[:MOST_POINTS], panel)
        if not shown:
            return failed(self, case, no_room(panel))
        said = await panel.ask(
            render_points(shown),
            usefulness_model(len(shown)),
            max_output_tokens=usefulness_tokens(len(shown)),
            unit=f"{self.name} of {case.case_id}",
        )
        details = {
            "points": list(shown),
            "left_out": len(points) - len(shown),
            LEFT_OUT: {"weaknesses beyond those that one call holds": len(points) - len(shown)},
            "readings": readings_of(said, lambda reply: _kept(reply, len(shown))),
        }
        outcome = outcome_of(Ratings.model_validate(details))
        return result(self, case, outcome, details, total_usage(said))

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored ratings."""
        return rescored(self, stored, Ratings, outcome_of)

    def load(self, case: ReviewCase, known: Known) -> Load:
        """One judged call, none for a review without weaknesses."""
        points = atomic_items(case).weaknesses[:MOST_POINTS]
        if not points:
            return Load(judged=0)
        tokens = _PROMPT_TOKENS + rough_tokens("\n".join(points))
        return Load(input_tokens=tokens, output_tokens=usefulness_tokens(len(points)) // 2)


METRIC = Usefulness()


def outcome_of(details: Ratings) -> Outcome:
    """What follows from the stored ratings of all judges. ``parts`` hold each aspect's mean, and how many points."""
    readings = details.readings
    judges = tuple(judge_score(reading, None if reading.error else reading.value) for reading in readings)
    said = [reading for reading in answered(readings) if reading.value is not None]
    if not said:
        if answered(readings):
            return Outcome("failed", reason="the judge rated none of the points", judges=judges)
        return nobody_answered(readings)
    parts: dict[str, float | None] = {aspect: _over(said, aspect) for aspect in ASPECTS}
    parts["points"] = over_judges([(reading.judge, len(reading.ratings)) for reading in said])
    value = over_judges([(reading.judge, reading.value or 0.0) for reading in said])
    return Outcome("scored", value, parts=parts, judges=judges)


def _over(readings: Sequence[RatingReading], aspect: str) -> float | None:
    means = [(reading.judge, mean) for reading in readings if (mean := reading.mean(aspect)) is not None]
    return over_judges(means) if means else None


def _kept(reply: BaseModel, points: int) -> dict[str, Any]:
    """The first rating of every point, by its number; those that were left out are listed."""
    ratings: dict[str, dict[str, Any]] = {}
    for one in reply.model_dump()["ratings"]:
        ratings.setdefault(str(one.pop("point")), one)
    return {"ratings": ratings, "unrated": [n for n in range(1, points + 1) if str(n) not in ratings]}


def _fitting(points: Sequence[str], panel: Panel) -> Sequence[str]:
    """As many points from the first on as every judge's context holds."""
    models = [panel.door.models[role] for role in panel.judges]
    while points and not all(
        tokens_left(
            render_points(points),
            usefulness_model(len(points)),
            usefulness_tokens(len(points)),
            model.context_tokens,
            model.count,
        )
        >= 0
        for model in models
    ):
        points = points[: len(points) * 3 // 4]
    return points
