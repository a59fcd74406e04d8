"""Whether a predicted rating says what was decided: accept at the form's threshold, and any threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import EvaluationError
from referee.stats import mann_whitney


@dataclass(frozen=True, slots=True)
class Decisions:
    """Predicted against real decisions of ``n`` papers; None with a ``reason`` where undefined.

    ``gap`` is the mean prediction of accepted less that of rejected papers, ``auc`` the chance that an accepted
    paper has the higher prediction, ties half. ``prior`` is the share of accepted papers, ``always_accept_f1`` the
    macro-F1 of accepting all of them: the floor.
    """

    n: int
    accuracy: float | None
    macro_f1: float | None
    gap: float | None
    auc: float | None
    prior: float | None
    always_accept_f1: float | None
    reason: str = ""


def decisions(predicted: Sequence[float], accepted: Sequence[bool], accept_at: float | Sequence[float]) -> Decisions:
    """Scores of the rule "accept if the rating is at least ``accept_at``", one threshold or one a paper.

    Macro-F1 is the mean of both classes' F1, 0 for a class that is never predicted rightly. With only accepted or
    only rejected papers, accuracy alone is defined. Over forms of different scales, gap and AUC mix scales: read
    them by form.

    Raises:
        EvaluationError: The two lists differ in length.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review"; AUC and the floor
    are ours.
    """
    n = len(predicted)
    at = [accept_at] * n if isinstance(accept_at, int | float) else accept_at
    if not n == len(accepted) == len(at):
        raise EvaluationError(
            f"{n} predictions do not go with {len(accepted)} decisions and {len(at)} thresholds.",
            hint="Give one of each a paper.",
        )
    if not n:
        return Decisions(0, None, None, None, None, None, None, "no paper has a prediction and a decision")
    says = [value >= least for value, least in zip(predicted, at, strict=True)]
    accuracy = sum(a == b for a, b in zip(says, accepted, strict=True)) / n
    prior = sum(accepted) / n
    positive = [value for value, is_in in zip(predicted, accepted, strict=True) if is_in]
    negative = [value for value, is_in in zip(predicted, accepted, strict=True) if not is_in]
    ranks = mann_whitney(positive, negative)
    if ranks is None:
        one = "accepted" if positive else "rejected"
        return Decisions(n, accuracy, None, None, None, prior, None, f"all papers are {one}")
    return Decisions(
        n,
        accuracy,
        macro_f1(says, accepted),
        sum(positive) / len(positive) - sum(negative) / len(negative),
        ranks.u / (len(positive) * len(negative)),
        prior,
        macro_f1([True] * n, accepted),
    )


def macro_f1(says: Sequence[bool], truth: Sequence[bool]) -> float:
    """The mean of the F1 of both classes; F1 = 2 right / (said + true), 0 for a class that is neither."""
    return sum(_f1(says, truth, label) for label in (True, False)) / 2


def _f1(says: Sequence[bool], truth: Sequence[bool], label: bool) -> float:
    right = sum(a == b == label for a, b in zip(says, truth, strict=True))
    either = sum(a == label for a in says) + sum(b == label for b in truth)
    return 2 * right / either if either else 0.0
