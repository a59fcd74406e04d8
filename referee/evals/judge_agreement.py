"""How far judges agree with each other, and each with itself when asked again."""

from __future__ import annotations

from collections.abc import Sequence

from referee.schemas.metric import JudgeScore
from referee.stats import krippendorff_alpha, mean_sd


class Agreement:
    """Gathers what judges said of many reviews."""

    def __init__(self) -> None:
        self._units: list[tuple[float | None, ...]] = []
        self._spreads: list[float] = []

    def add(self, judges: Sequence[JudgeScore]) -> None:
        """Add one review's scores."""
        given: dict[str, list[float]] = {}
        for score in judges:
            own = given.setdefault(score.judge, [])
            if score.value is not None:
                own.append(score.value)
        if len(given) > 1:
            self._units.append(tuple(sum(own) / len(own) if own else None for own in given.values()))
        for own in given.values():
            _, spread = mean_sd(own)
            if spread is not None:
                self._spreads.append(spread)

    def alpha(self) -> float | None:
        """Krippendorff's alpha (ordinal) between judges, each by the mean of its repeats; None where it is undefined.

        Undefined: fewer than two judges, no review that two of them scored, or one value throughout.
        """
        return krippendorff_alpha(self._units, level="ordinal") if self._units else None

    def repeat_sd(self) -> float | None:
        """Mean standard deviation of a judge's repeats on one review; None where nothing was asked twice."""
        return sum(self._spreads) / len(self._spreads) if self._spreads else None
