"""A verdict on one review: flagged, not flagged, or, wherever anything is missing, that nothing can be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from referee.evals.detection.calibration import Calibration, DetectorCalibration, check_applies
from referee.evals.detection.columns import ScoredReview, ScoredRows, rows_of
from referee.evals.detection.scores import is_english
from referee.evals.detection.sentences import Pushes
from referee.evals.detection.thresholds import Threshold, fairness_note

Verdict = Literal["flagged", "not flagged", "cannot say"]
AMONG = 1_000
"""Human reviews among which the expected false positives are told."""


@dataclass(frozen=True)
class DetectorVerdict:
    """What one detector says of the review.

    Attributes:
        detector: Its name.
        verdict: Of three.
        why: Why nothing can be said.
        score: Higher is likelier AI; None where there is none.
        threshold: What it was judged by.
        note: What has to stand beside it: that it is no proof, and the expected false positives.
        pushes: Which sentences moved the score; None where they were not looked at.
        aside: What is shown beside it and decides nothing.
    """

    detector: str
    verdict: Verdict
    why: str
    score: float | None
    threshold: Threshold
    note: str
    pushes: Pushes | None = None
    aside: str = ""


@dataclass(frozen=True)
class CheckedReview:
    """The verdicts on one review, a detector each: together they accuse more people than each by itself.

    Attributes:
        review: How it was named.
        words: Of its canonical text.
        verdicts: In the order of the detectors.
        warnings: What lies outside of the calibration and what is not known.
        facts: How it was judged.
    """

    review: str
    words: int
    verdicts: tuple[DetectorVerdict, ...]
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def verdict(
    entry: DetectorCalibration, row: ScoredReview, threshold: Threshold, *, reason: str = "", unlike: str = ""
) -> DetectorVerdict:
    """Judge a score.

    Args:
        entry: The detector's thresholds.
        row: The review's score.
        threshold: The one to judge by.
        reason: Why there is no score.
        unlike: Why the review lies outside of the calibration; empty where it does not.

    Raises:
        EvaluationError: The score is no finite number.
    """
    judged = entry.judged(rows_of([row]))
    score = float(judged.score[0]) if judged.scored[0] else None
    why = reason if score is None else unlike
    if not why and (faults := _faults(entry, judged)):
        why = faults
    if not why and threshold.resolution != "claimed":
        why = threshold.claim
    found: Verdict = "cannot say" if why else "flagged" if threshold.flags(score) else "not flagged"
    return DetectorVerdict(entry.detector, found, why, score, threshold, "" if why else fairness_note(threshold, AMONG))


def outside(calibration: Calibration, text: str) -> str:
    """Why a text is unlike those that thresholds were taken from; empty where nothing shows."""
    words = len(text.split())
    if words < calibration.fewest_words:
        return (
            f"the review has {words:,} word(s) and the shortest of the calibration {calibration.fewest_words:,}: "
            "it lies outside of the calibration"
        )
    if not is_english(text):
        return "the review does not seem to be in English: it lies outside of the calibration"
    return ""


def warnings(calibration: Calibration, text: str, paper_id: str) -> Iterator[str]:
    """What a reader of the verdict has to know and what does not forbid one."""
    words = len(text.split())
    if calibration.most_words and words > calibration.most_words:
        yield f"the review has {words:,} word(s) and the longest of the calibration {calibration.most_words:,}"
    if any(paper_id in entry.papers for entry in calibration.detectors):
        yield f"the thresholds were taken from reviews of this paper, {paper_id!r}, too"
    for mark in dict.fromkeys(mark for entry in calibration.detectors for mark in entry.forced):
        yield f"the calibration was forced: {mark}"


def _faults(entry: DetectorCalibration, row: ScoredRows) -> str:
    marks = check_applies(entry, row, forced=True, apart=False)[len(entry.forced) :]
    return f"the thresholds do not hold here: {'; '.join(marks)}" if marks else ""
