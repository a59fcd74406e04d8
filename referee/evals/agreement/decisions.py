"""Whether a predicted rating says what was decided: accept at the form's threshold, and any threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.stats import Interval
from referee.stats.intervals import statistic_intervals
from referee.stats.values import Floats

_NONE = Interval(None, None, None, 0, 0)


@dataclass(frozen=True, slots=True)
class Decisions:
    """Predicted against real decisions of ``n`` papers, with 95% intervals by paper; None with a ``reason``.

    ``gap`` is the mean prediction of accepted less that of rejected papers, ``auc`` the chance that an accepted
    paper has the higher prediction, ties half. ``prior`` is the share of accepted papers, ``always_accept_f1`` the
    macro-F1 of accepting all of them: the floor.
    """

    n: int
    accuracy: Interval
    macro_f1: Interval
    gap: Interval
    auc: Interval
    prior: float | None
    always_accept_f1: float | None
    reason: str = ""


def decisions(
    predicted: Sequence[float], accepted: Sequence[bool], accept_at: float | Sequence[float], *, seed: int = 0
) -> Decisions:
    """Scores of the rule "accept if the rating is at least ``accept_at``", one threshold or one a paper.

    Macro-F1 is the mean of both classes' F1 = 2 right / (said + true), 0 for a class that is never predicted rightly.
    With only accepted or only rejected papers, accuracy alone is defined. Over forms of different scales, gap and AUC
    mix scales: read them by form. Intervals draw papers of all forms together.

    Raises:
        EvaluationError: The two lists differ in length.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review"; AUC, the floor and
    the intervals are ours.
    """
    n = len(predicted)
    at = [accept_at] * n if isinstance(accept_at, int | float) else accept_at
    if not n == len(accepted) == len(at):
        raise EvaluationError(
            f"{n} predictions do not go with {len(accepted)} decisions and {len(at)} thresholds.",
            hint="Give one of each a paper.",
        )
    if not n:
        return Decisions(0, _NONE, _NONE, _NONE, _NONE, None, None, "no paper has a prediction and a decision")
    kinds = Counter(sorted((v, bool(a), v >= least) for v, a, least in zip(predicted, accepted, at, strict=True)))
    table = _DecisionTable(list(kinds))
    accuracy, f1, gap, auc = statistic_intervals(list(kinds.values()), table.scores, seed=seed)
    prior = sum(accepted) / n
    one_class = "" if 0 < prior < 1 else "all papers are accepted" if prior else "all papers are rejected"
    return Decisions(n, accuracy, f1, gap, auc, prior, None if one_class else prior / (1 + prior), one_class)


class _DecisionTable:
    """Kinds of papers by rising prediction, whether they were accepted, and whether the rule accepts them."""

    def __init__(self, kinds: Sequence[tuple[float, bool, bool]]) -> None:
        self._predicted = np.array([value for value, _, _ in kinds], dtype=np.float64)
        self._accepted = np.array([is_in for _, is_in, _ in kinds])
        self._says = np.array([says for _, _, says in kinds])

    def scores(self, drawn: Floats) -> Floats:
        """Resamples x (accuracy, macro-F1, gap, AUC); nan for all but the first where one class alone was drawn."""
        positive, negative = drawn * self._accepted, drawn * ~self._accepted
        right = (drawn * (self._says == self._accepted)).sum(axis=1) / drawn.sum(axis=1)
        rest = np.stack([self._macro_f1(drawn), self._gap(positive, negative), self._auc(positive, negative)], axis=1)
        rest[(positive.sum(axis=1) == 0) | (negative.sum(axis=1) == 0)] = np.nan
        return np.concatenate([right[:, None], rest], axis=1)

    def _macro_f1(self, drawn: Floats) -> Floats:
        found = []
        for label in (True, False):
            said, true = self._says == label, self._accepted == label
            either = (drawn * said).sum(axis=1) + (drawn * true).sum(axis=1)
            found.append(2 * (drawn * (said & true)).sum(axis=1) / np.maximum(either, 1))
        mean: Floats = (found[0] + found[1]) / 2
        return mean

    def _gap(self, positive: Floats, negative: Floats) -> Floats:
        accepted, rejected = (side @ self._predicted / np.maximum(side.sum(axis=1), 1) for side in (positive, negative))
        gap: Floats = accepted - rejected
        return gap

    def _auc(self, positive: Floats, negative: Floats) -> Floats:
        starts = np.unique(self._predicted, return_index=True)[1]
        ups, downs = np.add.reduceat(positive, starts, axis=1), np.add.reduceat(negative, starts, axis=1)
        won = (ups * (np.cumsum(downs, axis=1) - downs / 2)).sum(axis=1)
        auc: Floats = won / np.maximum(ups.sum(axis=1) * downs.sum(axis=1), 1)
        return auc
