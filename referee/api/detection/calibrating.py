"""``detect_calibrate``: scores of human reviews in, a file of thresholds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

import referee
from referee.errors import DataError, EvaluationError, SettingsError
from referee.evals.detection.calibration import (
    TARGETS,
    CalibratedOn,
    Calibration,
    DetectorCalibration,
    ScoredReview,
    calibrate,
    calibrate_features,
)
from referee.evals.detection.canonical import CANONICAL_RULE
from referee.evals.detection.evaluation import LARGE_TARGET
from referee.evals.detection.features import FOLDS
from referee.evals.detection.scores import SOURCE_REVIEW, Scores, is_made_of_another, read_scores
from referee.evals.detection.thresholds import Mode
from referee.evals.detection.token_statistics import FEATURE_NAMES
from referee.runs.files import write_atomically
from referee.runs.folder import read_record


@dataclass(frozen=True)
class DetectCalibration:
    """The thresholds, their file, and the detectors that have none, with the reason."""

    calibration: Calibration
    path: Path
    left_out: Mapping[str, str]
    notes: tuple[str, ...]


def detect_calibrate(
    scores: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    target_fpr: Sequence[float] = TARGETS,
    conservative: bool = False,
    seed: int = 0,
    force: bool = False,
) -> DetectCalibration:
    """Take the thresholds of every detector from human reviews' scores, and write them to a file.

    Of detectors with several numbers (gltr, mfd, s5) weights are fitted on both classes, and thresholds are taken from
    scores by weights that never saw the review's paper.

    Args:
        scores: Runs of ``detect_score``.
        out: The file.
        target_fpr: Accepted rates of false positives, each in (0, 1); 0.10 is added.
        conservative: Whether the *expected* rate among other people is kept at or below the target, which needs more
            reviews; by default the rate among these.
        seed: How papers are dealt to folds.
        force: Go on where human reviews were written after models were offered to all; the file then says so.

    Raises:
        RunError: A folder holds no scores, or its files are damaged.
        EvaluationError: Scores were made by several set-ups or are no numbers, an AI review is labelled human, a
            review was written too late, or there is no human review.
        SettingsError: A target is no rate.
        DataError: The file cannot be written.
    """
    targets = _targets(target_fpr)
    runs = [Path(one) for one in ([scores] if isinstance(scores, str | Path) else scores)]
    found = _of_people(read_scores(runs))
    mode: Mode = "conservative" if conservative else "exact"
    entries, left_out = [], {}
    for name, rows in found.rows.items():
        if why := _lacking(name, rows):
            left_out[name] = why
        else:
            entry = _calibrated(name, rows, targets, mode, seed, force)
            entries.append(entry.model_copy(update={"models": dict(found.models.get(name, {}))}))
    if not entries:
        raise EvaluationError(
            f"no detector can be calibrated: {next(iter(left_out.values()))}.",
            hint="Score human reviews first: `referee detect score`.",
        )
    calibration = _file(found, entries, runs)
    write_calibration(Path(out), calibration)
    return DetectCalibration(calibration, Path(out), left_out, found.notes)


def read_calibration(path: Path) -> Calibration:
    """The thresholds of a file.

    Raises:
        DataError: The file is missing or holds none.
    """
    hint = "Make one with `referee detect calibrate`."
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(
            f"the calibration {str(path)!r} cannot be read: {error.strerror or error}.", hint=hint
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{str(path)!r} is no calibration of detectors: {first['msg']}{f' ({where})' if where else ''}.", hint=hint
        ) from error


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the thresholds.

    Raises:
        DataError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, calibration.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise DataError(
            f"the calibration {str(path)!r} cannot be written: {error.strerror or error}.", hint="Choose another --out."
        ) from error


def _targets(asked: Sequence[float]) -> tuple[float, ...]:
    for target in asked:
        if not 0 < target < 1:
            raise SettingsError(
                f"{target!r} is no rate of false positives.", hint="Give rates as --target-fpr 0.01,0.05."
            )
    return tuple(sorted({*asked, LARGE_TARGET}))


def _lacking(name: str, rows: Sequence[ScoredReview]) -> str:
    """Why a detector cannot be calibrated on these rows; empty where it can."""
    usable = [row for row in rows if (row.features if name in FEATURE_NAMES else row.score is not None)]
    humans = sum(row.kind == "human" for row in usable)
    if not humans:
        return "no human review has a score"
    if name in FEATURE_NAMES and not any(row.kind == "ai" for row in usable):
        return "its weights need AI reviews beside the human ones"
    if name in FEATURE_NAMES and len({row.paper_id for row in usable}) < FOLDS:
        return f"its weights need reviews of {FOLDS} papers or more"
    return ""


def _of_people(found: Scores) -> Scores:
    """Without reviews labelled human that were made from another one, as by letting a model polish it."""
    made = {name for name, case in found.reviews.items() if is_made_of_another(case)}
    if not made:
        return found
    rows = {detector: [row for row in own if row.review_id not in made] for detector, own in found.rows.items()}
    reviews = {name: case for name, case in found.reviews.items() if name not in made}
    note = f"{len(made):,} review(s) labelled human were made from another one ({SOURCE_REVIEW}): left out"
    return replace(found, rows=rows, reviews=reviews, notes=(*found.notes, note))


def _calibrated(
    name: str, rows: Sequence[ScoredReview], targets: Sequence[float], mode: Mode, seed: int, force: bool
) -> DetectorCalibration:
    if name in FEATURE_NAMES:
        known = [row for row in rows if row.kind != "unknown"]
        return calibrate_features(name, known, FEATURE_NAMES[name], targets=targets, mode=mode, seed=seed, forced=force)
    humans, others = ([row for row in rows if (row.kind == "human") is is_human] for is_human in (True, False))
    return calibrate(name, humans, targets=targets, mode=mode, others=others, forced=force)


def _file(found: Scores, entries: Sequence[DetectorCalibration], runs: Sequence[Path]) -> Calibration:
    humans = {name: case for name, case in found.reviews.items() if case.kind == "human"}
    words = [found.words[name] for name in humans]
    return Calibration(
        canonical_rule=CANONICAL_RULE,
        detectors=tuple(entries),
        calibrated_on=tuple(
            CalibratedOn(run=str(run), reviews=read_record(run).inputs.get("set of reviews", "")) for run in runs
        ),
        humans=len(humans),
        venues=dict(Counter(case.venue or "none named" for case in humans.values()).most_common()),
        fewest_words=min(words),
        most_words=max(words),
        version=referee.__version__,
    )
