"""``detect_calibrate``: scores of human reviews in, a file of thresholds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

import referee
from referee.errors import DataError, EvaluationError, SettingsError
from referee.evals.detection.calibration import (
    TARGETS,
    CalibratedOn,
    Calibration,
    DetectorCalibration,
    calibrate,
    calibrate_features,
)
from referee.evals.detection.canonical import CANONICAL_RULE
from referee.evals.detection.columns import Mask, ScoredRows
from referee.evals.detection.evaluation import LARGE_TARGET
from referee.evals.detection.features import FOLDS
from referee.evals.detection.parts import EvaluationAsked, Parts, parted
from referee.evals.detection.scores import Scores, read_scores
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
    edit_levels: str | None = None,
    polished: str | None = None,
    assisted: str | None = None,
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
        edit_levels: As in ``detect_evaluate``, as are ``polished`` and ``assisted``: a column that marks reviews that
            are in neither class. They are left out.
        polished: Likewise.
        assisted: Likewise.

    Raises:
        RunError: A folder holds no scores, or its files are damaged.
        EvaluationError: Scores were made by several set-ups or are no numbers, an AI review is labelled human, a
            review was written too late, there is no human review, or a column is in no review.
        SettingsError: A target is no rate.
        DataError: The file cannot be written.
    """
    targets = _targets(target_fpr)
    runs = [Path(one) for one in ([scores] if isinstance(scores, str | Path) else scores)]
    asked = EvaluationAsked(edit_levels=edit_levels or "", polished=polished or "", assisted=assisted or "")
    found = read_scores(runs, asked.columns)
    parts = parted(found.reviews, asked)
    mode: Mode = "conservative" if conservative else "exact"
    entries, left_out = [], {}
    for name, of_all in found.rows.items():
        rows = of_all.of(parts.usual)
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
    calibration = _file(found, parts.usual, entries, runs)
    write_calibration(Path(out), calibration)
    return DetectCalibration(calibration, Path(out), left_out, (*found.notes, *_left_out(parts)))


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


def _lacking(name: str, rows: ScoredRows) -> str:
    """Why a detector cannot be calibrated on these rows; empty where it can."""
    usable = rows.where(rows.featured if name in FEATURE_NAMES else rows.scored)
    if not usable.is_kind("human").any():
        return "no human review has a score"
    if name in FEATURE_NAMES and not usable.is_kind("ai").any():
        return "its weights need AI reviews beside the human ones"
    if name in FEATURE_NAMES and len(usable.reviews.named(usable.papers)) < FOLDS:
        return f"its weights need reviews of {FOLDS} papers or more"
    return ""


def _left_out(parts: Parts) -> Iterator[str]:
    """What is in neither class, as it was edited or expanded."""
    for what, mask in (("polished", parts.polished), ("expanded from a person's points", parts.assisted)):
        if count := int(mask.sum()):
            yield f"{count:,} review(s) that were {what} are in neither class: left out"
    if count := sum(int(mask.sum()) for level, mask in parts.levels.items() if level != "original"):
        yield f"{count:,} edited review(s) are in neither class: left out"
    yield from (f"{count:,} {why}: left out" for why, count in parts.left_out.items() if count)


def _calibrated(
    name: str, rows: ScoredRows, targets: Sequence[float], mode: Mode, seed: int, force: bool
) -> DetectorCalibration:
    if name in FEATURE_NAMES:
        known = rows.where(~rows.is_kind("unknown"))
        return calibrate_features(name, known, FEATURE_NAMES[name], targets=targets, mode=mode, seed=seed, forced=force)
    humans = rows.is_kind("human")
    return calibrate(name, rows.where(humans), targets=targets, mode=mode, others=rows.where(~humans), forced=force)


def _file(found: Scores, usual: Mask, entries: Sequence[DetectorCalibration], runs: Sequence[Path]) -> Calibration:
    reviews = found.reviews
    humans = usual & reviews.is_kind("human") & reviews.once()
    words = found.words[humans].tolist()
    venues = Counter(reviews.names[code] or "none named" for code in reviews.form[humans].tolist())
    return Calibration(
        canonical_rule=CANONICAL_RULE,
        detectors=tuple(entries),
        calibrated_on=tuple(
            CalibratedOn(run=str(run), reviews=read_record(run).inputs.get("set of reviews", "")) for run in runs
        ),
        humans=len(words),
        venues=dict(venues.most_common()),
        fewest_words=min(words),
        most_words=max(words),
        version=referee.__version__,
    )
