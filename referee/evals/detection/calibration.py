"""The calibration of detectors on human reviews: a file of thresholds, and what they may not be used for.

A threshold holds for one detector, model, text rule and form; scores of others are refused. So are labels that cannot
be right, reviews from after models were offered to all, and tests on the papers that thresholds were taken from. What
is forced all the same is marked in every result.

Source: the specification's sections 6.3 and 6.5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from pydantic import Field

from referee.errors import EvaluationError
from referee.evals.detection.features import FittedFeatures, fit_features, out_of_fold
from referee.evals.detection.thresholds import Mode, Threshold, threshold_at
from referee.schemas.base import Frozen
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

TARGETS = (0.001, 0.005, 0.01)
LAST_CLEAN_DAY = "2022-11-29"
"""ChatGPT was offered on the next day; of later reviews nobody knows that a person wrote them."""


@dataclass(frozen=True, slots=True)
class ScoredReview:
    """One review's score by one detector, with all that decides what it may be compared with.

    Attributes:
        review_id: Unique among reviews; rows that repeat one count once.
        paper_id: Its paper.
        kind: Who wrote it, as the data say.
        score: Oriented, higher is more likely AI; None where there is none.
        status: ``scored``, or why there is no score.
        made_by: Identity of the detector's models, text rule and settings, one string.
        form: The form it was written for; empty where unknown.
        source: ``human``, or the model that wrote it.
        date: ISO date or year of the review, as far as known.
        text_digest: Of its canonical text, to find one text under two labels.
        features: The numbers of detectors that need a classifier.
    """

    review_id: str
    paper_id: str
    kind: Literal["human", "ai", "unknown"]
    score: float | None
    status: str = "scored"
    made_by: str = ""
    form: str = ""
    source: str = ""
    date: str = ""
    text_digest: str = ""
    features: tuple[float, ...] = ()


class DetectorCalibration(Frozen):
    """The thresholds of one detector.

    Attributes:
        detector: Its name.
        made_by: Identity of its models, text rule and settings; scores of another are refused.
        form: The form of the reviews; empty where they are of several or unknown.
        mode: How k was taken.
        thresholds: In the order of their targets.
        excluded: Human reviews without a score, by the reason; they count for nothing, not as 0.
        repeated: Rows that repeated a review.
        papers: Ids of the papers, to keep calibration and test apart.
        features: Weights, for detectors with several numbers.
        forced: What was refused and done all the same.
        models: The models that made the scores, by their parts.
    """

    detector: str = Field(min_length=1)
    made_by: str
    form: str = ""
    mode: Mode = "exact"
    thresholds: tuple[Threshold, ...] = Field(min_length=1)
    excluded: dict[str, int] = Field(default_factory=dict)
    repeated: int = 0
    papers: tuple[str, ...]
    features: FittedFeatures | None = None
    forced: tuple[str, ...] = ()
    models: dict[str, Any] = Field(default_factory=dict)

    def judged(self, rows: Sequence[ScoredReview]) -> list[ScoredReview]:
        """The rows with the scores that thresholds are for: of several numbers by the fitted weights."""
        weights = self.features
        if weights is None:
            return list(rows)
        return [
            replace(row, score=weights.score(row.features), status="scored") if row.features else row for row in rows
        ]

    def threshold(self, target: float | None = None) -> Threshold:
        """The threshold of a target; without one the lowest that may flag anyone, rates that are claimed first.

        Raises:
            EvaluationError: There is none for this target.
        """
        if target is None:
            order = {"claimed": 0, "not_claimed": 1}
            return min(self.thresholds, key=lambda one: (order.get(one.resolution, 2), one.target))
        for one in self.thresholds:
            if math.isclose(one.target, target, rel_tol=1e-6):
                return one
        raise EvaluationError(
            f"the detector {self.detector!r} has no threshold for a rate of {target:g}, but for "
            f"{', '.join(f'{one.target:g}' for one in self.thresholds)}.",
            hint="Calibrate with that target too.",
        )


class CalibratedOn(Frozen):
    """What thresholds were taken from.

    Attributes:
        run: The folder of the scores.
        reviews: Digest of its set of reviews.
    """

    run: str
    reviews: str = ""


class Calibration(Frozen):
    """The file of thresholds, one entry a detector; it goes to and comes from JSON.

    Attributes:
        canonical_rule: How texts were made canonical.
        detectors: The thresholds.
        calibrated_on: The runs whose scores they were taken from.
        humans: Human reviews.
        venues: How many of them each form has.
        fewest_words: Words of the shortest of them; a shorter review lies outside.
        most_words: Words of the longest.
        version: The version of this package.
    """

    schema_version: Literal[1] = 1
    canonical_rule: str = Field(min_length=1)
    detectors: tuple[DetectorCalibration, ...]
    calibrated_on: tuple[CalibratedOn, ...] = ()
    humans: int = 0
    venues: dict[str, int] = Field(default_factory=dict)
    fewest_words: int = 0
    most_words: int = 0
    version: str = ""

    def of(self, detector: str) -> DetectorCalibration:
        """The entry of a detector.

        Raises:
            EvaluationError: It was not calibrated.
        """
        for entry in self.detectors:
            if entry.detector == detector:
                return entry
        known = ", ".join(entry.detector for entry in self.detectors) or "none"
        raise EvaluationError(
            f"the detector {detector!r} has no threshold in this calibration, which has: {known}.",
            hint="Calibrate it on human reviews first; published thresholds do not carry over to other models.",
        )


def calibrate(
    detector: str,
    humans: Iterable[ScoredReview],
    *,
    targets: Sequence[float] = TARGETS,
    mode: Mode = "exact",
    others: Iterable[ScoredReview] = (),
    features: FittedFeatures | None = None,
    forced: bool = False,
) -> DetectorCalibration:
    """Take a detector's thresholds from human reviews.

    Args:
        detector: Its name.
        humans: Scores of human reviews; for detectors with several numbers the out-of-fold scores.
        targets: Accepted rates, each in (0, 1).
        mode: How k is taken.
        others: AI reviews that are known, to find one labelled human by its text.
        features: Weights, for detectors with several numbers.
        forced: Go on where reviews were written after models were offered to all; the result says so.

    Raises:
        EvaluationError: A row is no human review or was written too late, scores are of several identities or not
            finite, one review has two scores, or there is none.
    """
    rows = list(humans)
    check_human(rows, others)
    late = _late(rows)
    if late and not forced:
        raise EvaluationError(
            f"{len(late)} human reviews, the first {late[0].review_id!r} of {late[0].date!r}, are later than "
            f"{LAST_CLEAN_DAY}: nobody knows that people wrote them.",
            hint="Calibrate on earlier reviews, or force it; the calibration is then marked.",
            ids={"review": late[0].review_id},
        )
    unique = _once(rows)
    made_by = _one_identity(detector, unique)
    scores = _finite_scores(unique)
    forms = {row.form for row in unique}
    return DetectorCalibration(
        detector=detector,
        made_by=made_by,
        form=forms.pop() if len(forms) == 1 else "",
        mode=mode,
        thresholds=tuple(threshold_at(scores, target, mode) for target in targets),
        excluded=dict(sorted(Counter(row.status for row in unique if row.score is None).items())),
        repeated=len(rows) - len(unique),
        papers=tuple(sorted({row.paper_id for row in unique})),
        features=features,
        forced=(f"{len(late)} human reviews are later than {LAST_CLEAN_DAY}",) if late else (),
    )


def calibrate_features(
    detector: str,
    rows: Sequence[ScoredReview],
    names: Sequence[str],
    *,
    targets: Sequence[float] = TARGETS,
    mode: Mode = "exact",
    seed: int = 0,
    forced: bool = False,
) -> DetectorCalibration:
    """Fit the weights of a detector with several numbers on both classes, and take thresholds from out-of-fold scores.

    Args:
        detector: Its name.
        rows: Human and AI reviews with their features; those without any count as excluded.
        names: What the features are.
        targets: As in ``calibrate``, as are ``mode`` and ``forced``.
        mode: How k is taken.
        seed: How papers are dealt to folds.
        forced: Go on with late human reviews.

    Raises:
        EvaluationError: One class has no features, there are fewer papers than folds, or as in ``calibrate``.
    """
    humans, ai = ([row for row in _once(rows) if (row.kind == "ai") is is_ai] for is_ai in (False, True))
    check_human(humans, ai)
    fit = [row for row in (*humans, *ai) if row.features]
    _one_identity(detector, fit)
    numbers, is_ai = [row.features for row in fit], [row.kind == "ai" for row in fit]
    left_out = out_of_fold(numbers, is_ai, [row.paper_id for row in fit], seed=seed)
    score_of = {row.review_id: score for row, score in zip(fit, left_out, strict=True)}
    judged = [replace(row, score=score_of.get(row.review_id)) for row in humans]
    weights = fit_features(numbers, is_ai, names, seed=seed)
    made = calibrate(detector, judged, targets=targets, mode=mode, others=ai, features=weights, forced=forced)
    # Weights were fitted on the AI reviews' papers too, so these are no test either.
    return made.model_copy(update={"papers": tuple(sorted({row.paper_id for row in fit} | set(made.papers)))})


def check_applies(
    calibration: DetectorCalibration,
    rows: Sequence[ScoredReview],
    *,
    forced: bool = False,
    apart: bool = True,
) -> tuple[str, ...]:
    """See that thresholds hold for these scores.

    Args:
        calibration: The thresholds.
        rows: The scores to be judged.
        forced: Go on all the same; what was refused comes back, to be shown with every result.
        apart: Whether papers in both count as a fault, as they do in an evaluation.

    Raises:
        EvaluationError: Scores were made otherwise, on another form, or are of papers that the thresholds were taken
            from; or a score is not finite.
    """
    _finite_scores(rows)
    faults = [fault for fault in _faults(calibration, rows, apart) if fault]
    if faults and not forced:
        raise EvaluationError(
            f"the thresholds of {calibration.detector!r} do not hold here: {'; '.join(faults)}.",
            hint="Calibrate on human reviews of the same kind, or force it; every result is then marked.",
            ids={"detector": calibration.detector},
        )
    return (*calibration.forced, *faults)


def scored_review(case: ReviewCase, result: MetricResult) -> ScoredReview:
    """The row of a detector's result on a review."""
    details = result.details
    return ScoredReview(
        review_id=case.case_id,
        paper_id=case.paper_id,
        kind=case.kind,
        score=result.value,
        status=str(details.get("status", result.status)) if result.value is None else "scored",
        made_by=str(details.get("made_by", "")),
        form=case.venue or "",
        source=case.source,
        date=case.date or (str(case.year) if case.year is not None else ""),
        text_digest=str(details.get("text_digest", "")),
        features=tuple(details.get("features", ())),
    )


def check_human(rows: Sequence[ScoredReview], others: Iterable[ScoredReview]) -> None:
    """See that reviews can count as human: by their label, their source, and their text beside known AI reviews.

    Raises:
        EvaluationError: One cannot.
    """
    written = {row.text_digest: row for row in others if row.text_digest and row.kind == "ai"}
    for row in rows:
        twin = written.get(row.text_digest)
        why = ""
        if row.kind != "human":
            why = f"its author is {row.kind!r}"
        elif row.source not in ("", "human", "Expert"):
            why = f"its source is {row.source!r}"
        elif twin is not None:
            why = f"it has the text of the AI review {twin.review_id!r}"
        if why:
            raise EvaluationError(
                f"review {row.review_id!r} cannot count as human: {why}.",
                hint="Calibrate on human reviews alone; a wrong label moves every threshold.",
                ids={"review": row.review_id},
            )


def _late(rows: Sequence[ScoredReview]) -> list[ScoredReview]:
    """Rows that are known to be later than the last clean day; of a year alone, 2022 counts as clean."""
    return [row for row in rows if row.date and row.date > LAST_CLEAN_DAY[: len(row.date)]]


def _once(rows: Sequence[ScoredReview]) -> list[ScoredReview]:
    """Each review once: data sets repeat a human review for every model it is compared with."""
    unique: list[ScoredReview] = []
    for review_id, same in groupby(sorted(rows, key=lambda row: row.review_id), key=lambda row: row.review_id):
        held = list(same)
        if len({row.score for row in held}) > 1:
            raise EvaluationError(
                f"review {review_id!r} has {len(held)} rows with different scores.",
                hint="One id stands for several texts, or a score changed; score the set anew.",
                ids={"review": review_id},
            )
        unique.append(held[0])
    return unique


def _one_identity(detector: str, rows: Sequence[ScoredReview]) -> str:
    made = _makers(rows)
    if len(made) > 1:
        raise EvaluationError(
            f"the scores of {detector!r} were made by {len(made)} different set-ups: {made[0]!r} and {made[1]!r}.",
            hint="Score all reviews with one model, one text rule and one setting.",
            ids={"detector": detector},
        )
    return made[0] if made else ""


def _makers(rows: Sequence[ScoredReview]) -> list[str]:
    """Who made the scores that are there; a review without one, as after an error, names nobody."""
    return sorted({row.made_by for row in rows if row.score is not None or row.features})


def _finite_scores(rows: Collection[ScoredReview]) -> list[float]:
    found = [(row.review_id, row.score) for row in rows if row.score is not None]
    for review_id, score in found:
        if not math.isfinite(score):
            raise EvaluationError(
                f"the score of review {review_id!r} is {score!r}, which is no finite number.",
                hint="A score that could not be had is None with a status; mend the detector.",
                ids={"review": review_id},
            )
    return [score for _, score in found]


def _faults(calibration: DetectorCalibration, rows: Sequence[ScoredReview], apart: bool) -> list[str]:
    made = [maker for maker in _makers(rows) if maker != calibration.made_by]
    forms = sorted({row.form for row in rows} - {calibration.form}) if calibration.form else []
    shared = sorted({row.paper_id for row in rows} & set(calibration.papers)) if apart else []
    return [
        f"they were taken from scores by {calibration.made_by!r}, not by {made[0]!r}" if made else "",
        f"they were taken on the form {calibration.form!r}, not on {forms[0]!r}" if forms else "",
        f"{len(shared)} papers are in the calibration too, as {shared[0]!r}" if shared else "",
    ]
