"""``detect_evaluate``: scores and thresholds in, how good detectors are on a test set out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import referee
from referee.api.detection.calibrating import read_calibration
from referee.api.options import RunOptions
from referee.api.session import offline_session
from referee.evals.detection.calibration import Calibration
from referee.evals.detection.evaluation import Cluster
from referee.evals.detection.parts import EvaluationAsked
from referee.evals.detection.result import DetectionResult, detection_result
from referee.evals.detection.scores import Scores, read_scores
from referee.reports.detection_files import write_detection
from referee.reports.page import PLOTS
from referee.reports.plots import write_plots
from referee.runs import Event
from referee.runs.folder import read_record


@dataclass(frozen=True)
class DetectEvaluation:
    """A finished evaluation: its folder and what came out."""

    run: Path
    result: DetectionResult


def detect_evaluate(
    scores: str | Path | Sequence[str | Path],
    *,
    calibration: str | Path,
    cluster: Cluster = "paper",
    edit_levels: str | None = None,
    polished: str | None = None,
    assisted: str | None = None,
    prompts: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    force: bool = False,
    options: RunOptions = RunOptions(),
) -> DetectEvaluation:
    """Judge human and AI reviews of a test set by thresholds from other papers; nothing is asked or sent.

    Args:
        scores: Runs of ``detect_score``.
        calibration: The file of ``detect_calibrate``.
        cluster: What resamples draw: whole papers, or reviews as the benchmark does.
        edit_levels: A column that holds edit levels: original, minimum, moderate, extensive, maximum. The column
            ``source_review`` names the review that a version was made from.
        polished: A column that says that a model polished a person's review, or ``COLUMN=VALUE``. Such reviews are in
            neither class, and are shown apart.
        assisted: A column, likewise, that says that a model expanded a person's points. What ``detect generate`` edited
            or expanded is known without any of these.
        prompts: A column that names the prompt of AI reviews; other ones than the most frequent are shown apart.
        resamples: How many, for intervals.
        seed: For resamples.
        force: Go on where the thresholds do not hold, as with papers in both sets, and take human reviews that were
            written after models were offered to all; every table is then marked. Else these are left out and counted.
        options: How it runs: ``out``, ``settings`` and ``progress`` matter here.

    Returns:
        The numbers. They lie in the folder as report.html, detection.md, detection.csv and detection.json.

    Raises:
        DataError: The calibration cannot be read.
        RunError: A folder holds no scores, or the run folder is in use or not empty.
        EvaluationError: The thresholds do not hold for these scores, an AI review is labelled human, a class is empty,
            all its human reviews were written too late, or a column is in no review.
    """
    runs = [Path(one) for one in ([scores] if isinstance(scores, str | Path) else scores)]
    thresholds = read_calibration(Path(calibration))
    asked = EvaluationAsked(
        seed=seed,
        resamples=resamples,
        cluster=cluster,
        edit_levels=edit_levels or "",
        polished=polished or "",
        assisted=assisted or "",
        prompts=prompts or "",
        forced=force,
    )
    with offline_session("detect evaluate", "detect", runs[0].name, options=options, settings=options.settled()) as run:
        run.progress(Event("stage", "reading scores"))
        found = read_scores(runs, asked.columns)
        facts = _facts(found, thresholds, asked, runs, Path(calibration))
        result = detection_result(found, thresholds, asked, facts, run.progress)
        run.check_inputs({**facts, "options": repr(asked)})
        run.open_folder()
        run.record()
        write_plots(write_detection(result, run.write), run.path / PLOTS)
        return DetectEvaluation(run.path, result)


def _facts(
    found: Scores, thresholds: Calibration, asked: EvaluationAsked, runs: Sequence[Path], file: Path
) -> dict[str, str]:
    reviews, once = found.reviews, found.reviews.once()
    kinds = Counter(reviews.names[code] for code in reviews.kind[once].tolist())
    counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    digests = {f"set of reviews in {run.name}": read_record(run).inputs.get("set of reviews", "") for run in runs}
    return {
        **digests,
        "reviews": f"{counted}; {len(reviews.named(reviews.paper)):,} papers",
        "calibration": f"{file.name}, SHA-256 {sha256(file.read_bytes()).hexdigest()}",
        "calibrated on": f"{thresholds.humans:,} human reviews in {', '.join(o.run for o in thresholds.calibrated_on)}",
        "thresholds": thresholds.detectors[0].mode,
        "text": thresholds.canonical_rule,
        "resamples": f"{asked.resamples:,} of {asked.cluster}s, seed {asked.seed}; thresholds fixed",
        "referee": referee.__version__,
    }
