"""How far a review's rating lies from people's ratings of the same paper. Source: ReviewArena, bias and MAE."""

from __future__ import annotations

from statistics import median

from referee.evals.measures.scores import NO_RATING
from referee.evals.metric import Better, Context, Need, Quantity, Range, not_applicable, scored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

UNRATED = "no human review of the paper that was given on the same form states a rating"


class RatingDifference(Quantity):
    """The rating less the median of people's, who rated the paper on the same form; above 0 is kinder than they."""

    name = "rating_difference"
    about = "the rating less people's median"
    unit = "the form's values"
    needs: frozenset[Need] = frozenset({"references"})
    scaled = True

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Look at the ratings; no call."""
        people = [one.rating for one in context.references if one.rating is not None and one.venue == case.venue]
        if case.rating is None or not people:
            return not_applicable(self, case, NO_RATING if case.rating is None else UNRATED)
        middle = float(median(people))
        details = {"rating": case.rating, "people": people, "median": middle}
        return scored(self, case, self.of(case.rating - middle), details=details)

    @staticmethod
    def of(difference: float) -> float:
        """What is made of the difference."""
        return difference


class RatingDistance(RatingDifference):
    """The same without its sign."""

    name = "rating_distance"
    about = "distance of the rating from people's median"
    range: Range = (0.0, None)
    better: Better = "lower"

    @staticmethod
    def of(difference: float) -> float:
        """The distance."""
        return abs(difference)


METRICS = (RatingDifference(), RatingDistance())
