"""The calibration of detectors on human reviews: a file of thresholds, and what they may not be used for.

A threshold holds for one detector, model, text rule and form; scores of others are refused. So are labels that cannot
be right, reviews from after models were offered to all, and tests on the papers that thresholds were taken from. What
is forced all the same is marked in every result.

Source: the specification's sections 6.3 and 6.5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from referee.errors import EvaluationError
from referee.evals.detection.columns import Ints, Mask, Reviews, ScoredRows, rows_of
from referee.evals.detection.features import FittedFeatures, fit_features, out_of_fold
from referee.evals.detection.thresholds import Mode, Threshold, exact_threshold, threshold_at
from referee.schemas.base import Frozen

TARGETS = (0.001, 0.005, 0.01)
LAST_CLEAN_DAY = "2022-11-29"
"""ChatGPT was offered on the next day; of later reviews nobody knows that a person wrote them."""
NOBODY_KNOWS = "nobody knows that people wrote them"


class PerAnchor(Frozen):
    """Thresholds of each anchor model, where any anchor's vote flags: a variant, and a warning.

    Attributes:
        target: The accepted rate of the whole.
        n: Human reviews, of the anchor that has fewest.
        shared: By anchor at the target over the number of anchors (Bonferroni), which keeps the rate.
        plain: By anchor at the target itself, which does not: votes add up, to three times the target with three.
    """

    target: float = Field(gt=0, lt=1)
    n: int = Field(ge=0)
    shared: dict[str, float]
    plain: dict[str, float]


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
        per_anchor: Of Anchor with several anchors, a threshold for each, by target.
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
    per_anchor: tuple[PerAnchor, ...] = ()
    forced: tuple[str, ...] = ()
    models: dict[str, Any] = Field(default_factory=dict)

    def judged(self, rows: ScoredRows) -> ScoredRows:
        """The rows with the scores that thresholds are for: of several numbers by the fitted weights."""
        if self.features is None:
            return rows
        score = rows.score.copy()
        score[rows.featured] = self.features.scores(rows.features[rows.featured])
        return replace(rows, score=score)

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
    humans: ScoredRows,
    *,
    targets: Sequence[float] = TARGETS,
    mode: Mode = "exact",
    others: ScoredRows | None = None,
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
    check_human(humans, others)
    late = late_human(humans.reviews)[humans.at]
    if late.any() and not forced:
        first = int(np.flatnonzero(late)[0])
        date = humans.reviews.names[humans.reviews.date[humans.at[first]]]
        venues = named_counts(by_venue(humans.reviews, np.unique(humans.at[late])))
        raise EvaluationError(
            f"{late.sum()} human reviews ({venues}), the first {humans.review(first)!r} of {date!r}, are later than "
            f"{LAST_CLEAN_DAY}: {NOBODY_KNOWS}.",
            hint="Calibrate on earlier reviews, or force it; the calibration is then marked.",
            ids={"review": humans.review(first)},
        )
    unique = humans.once()
    names = unique.reviews
    forms = names.named(names.form[unique.at])
    scores = unique.score[unique.scored]
    lacking = Counter(names.names[code] for code in unique.status[~unique.scored].tolist())
    return DetectorCalibration(
        detector=detector,
        made_by=_one_identity(detector, unique),
        form=forms[0] if len(forms) == 1 else "",
        mode=mode,
        thresholds=tuple(threshold_at(scores, target, mode) for target in targets),
        excluded=dict(sorted(lacking.items())),
        repeated=len(humans) - len(unique),
        papers=tuple(names.named(unique.papers)),
        features=features,
        per_anchor=tuple(_per_anchor(unique, target) for target in targets) if len(unique.anchors) > 1 else (),
        forced=(f"{late.sum()} human reviews are later than {LAST_CLEAN_DAY}",) if late.any() else (),
    )


def calibrate_features(
    detector: str,
    rows: ScoredRows,
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
    once = rows.once()
    is_ai = once.is_kind("ai")
    humans, ai = once.where(~is_ai), once.where(is_ai)
    check_human(humans, ai)
    fit = once.where(once.featured)
    _one_identity(detector, fit)
    of_ai, papers = fit.is_kind("ai"), [fit.reviews.names[code] for code in fit.papers.tolist()]
    weights = fit_features(fit.features, of_ai, names, seed=seed)
    score = np.full(len(once), np.nan)
    score[once.featured] = out_of_fold(fit.features, of_ai, papers, seed=seed)
    judged = replace(once, score=score).where(~is_ai)
    made = calibrate(detector, judged, targets=targets, mode=mode, others=ai, features=weights, forced=forced)
    # Weights were fitted on the AI reviews' papers too, so these are no test either.
    return made.model_copy(update={"papers": tuple(sorted({*papers, *made.papers}))})


def check_applies(
    calibration: DetectorCalibration,
    rows: ScoredRows,
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
            from.
    """
    faults = [fault for fault in _faults(calibration, rows, apart) if fault]
    if faults and not forced:
        raise EvaluationError(
            f"the thresholds of {calibration.detector!r} do not hold here: {'; '.join(faults)}.",
            hint="Calibrate on human reviews of the same kind, or force it; every result is then marked.",
            ids={"detector": calibration.detector},
        )
    return (*calibration.forced, *faults)


def check_human(rows: ScoredRows, others: ScoredRows | None = None) -> None:
    """See that reviews can count as human: by their label, their source, and their text beside known AI reviews.

    Raises:
        EvaluationError: One cannot.
    """
    known, at = rows.reviews, rows.at
    others = others if others is not None else rows_of([])
    ai = others.where(others.is_kind("ai"))
    written = {others.reviews.names[code]: row for row, code in enumerate(ai.reviews.text[ai.at].tolist())}
    written.pop("", None)
    sources = [known.code(name) for name in ("", "human", "Expert")]
    twins = np.array([code for name in written if (code := known.code(name)) >= 0], dtype=np.int64)
    wrong = ~rows.is_kind("human") | ~np.isin(known.source[at], sources) | np.isin(known.text[at], twins)
    wrong |= rows.is_anchor
    if not wrong.any():
        return
    first = int(np.flatnonzero(wrong)[0])
    kind, source, text = (known.names[column[at[first]]] for column in (known.kind, known.source, known.text))
    if kind != "human":
        why = f"its author is {kind!r}"
    elif source not in ("", "human", "Expert"):
        why = f"its source is {source!r}"
    elif text in written:
        why = f"it has the text of the AI review {ai.review(written[text])!r}"
    else:
        why = "it is one of the AI reviews that others are compared with"
    raise EvaluationError(
        f"review {rows.review(first)!r} cannot count as human: {why}.",
        hint="Calibrate on human reviews alone; a wrong label moves every threshold.",
        ids={"review": rows.review(first)},
    )


def late_human(reviews: Reviews) -> Mask:
    """Reviews called human that are known to be later than the last clean day; of a year alone, 2022 counts as clean.

    ``calibrate`` refuses them and an evaluation leaves them out; both take them where it is forced, and mark it.
    """
    names = reviews.names
    late = [code for code in np.unique(reviews.date).tolist() if names[code] > LAST_CLEAN_DAY[: len(names[code])]]
    return np.asarray(reviews.is_kind("human") & np.isin(reviews.date, late))


def by_venue(reviews: Reviews, places: Ints) -> dict[str, int]:
    """How many different reviews of these places each venue and year has, by name."""
    found: Counter[str] = Counter()
    for at in places[np.unique(reviews.review[places], return_index=True)[1]].tolist():
        venue = reviews.names[reviews.form[at]] or "no venue"
        year = reviews.names[reviews.date[at]][:4]
        found[venue if year in venue else f"{venue} {year}"] += 1
    return dict(sorted(found.items()))


def named_counts(counts: Mapping[str, int]) -> str:
    """The counts in words: ``iclr-2024: 20, neurips-2023: 4``."""
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def _per_anchor(rows: ScoredRows, target: float) -> PerAnchor:
    """A threshold for each anchor at the target, and at the target over their number (Bonferroni)."""
    of_each = {name: rows.cosines[:, at] for at, name in enumerate(rows.anchors)}
    cosines = {name: column[~np.isnan(column)] for name, column in of_each.items()}
    plain, shared = (
        {name: exact_threshold(column, rate)[0] for name, column in cosines.items() if len(column)}
        for rate in (target, target / len(rows.anchors))
    )
    fewest = min(map(len, cosines.values()))
    return PerAnchor(target=target, n=fewest, shared=shared, plain=plain)


def _one_identity(detector: str, rows: ScoredRows) -> str:
    made = _makers(rows)
    if len(made) > 1:
        raise EvaluationError(
            f"the scores of {detector!r} were made by {len(made)} different set-ups: {made[0]!r} and {made[1]!r}.",
            hint="Score all reviews with one model, one text rule and one setting.",
            ids={"detector": detector},
        )
    return made[0] if made else ""


def _makers(rows: ScoredRows) -> list[str]:
    """Who made the scores that are there; a review without one, as after an error, names nobody."""
    return rows.reviews.named(rows.made_by[rows.scored | rows.featured])


def _faults(calibration: DetectorCalibration, rows: ScoredRows, apart: bool) -> list[str]:
    known = rows.reviews
    made = [maker for maker in _makers(rows) if maker != calibration.made_by]
    forms = [form for form in known.named(known.form[rows.at]) if form != calibration.form] if calibration.form else []
    shared = sorted(set(known.named(rows.papers)) & set(calibration.papers)) if apart else []
    return [
        f"they were taken from scores by {calibration.made_by!r}, not by {made[0]!r}" if made else "",
        f"they were taken on the form {calibration.form!r}, not on {forms[0]!r}" if forms else "",
        f"{len(shared)} papers are in the calibration too, as {shared[0]!r}" if shared else "",
    ]
