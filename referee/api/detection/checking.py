"""``detect_check``: one review and thresholds in, a verdict with its doubts out."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import referee
from referee.api.detection.calibrating import read_calibration
from referee.api.detection.continuing import OpenedDetectors
from referee.api.detection.opening import (
    AnchorSet,
    DetectorModels,
    chosen_detectors,
    is_given,
    open_services,
    read_anchors,
)
from referee.api.detection.torch_services import Source, source_again
from referee.api.evaluations.job import eval_prompts
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.data import ReadingNotes, RejectedSink, read_cases, rejected_text
from referee.errors import DataError, SettingsError
from referee.evals.detection import DETECTORS
from referee.evals.detection.calibration import Calibration, DetectorCalibration
from referee.evals.detection.canonical import Canonical, canonical_review, of_text
from referee.evals.detection.columns import scored_review
from referee.evals.detection.costs import cost_estimates
from referee.evals.detection.detectors.base import Detector
from referee.evals.detection.scores import LENGTH, row_name
from referee.evals.detection.sentences import Pushes, anchor_pushes, token_pushes
from referee.evals.detection.services import DetectionServices
from referee.evals.detection.thresholds import Threshold
from referee.evals.detection.token_statistics import token_pass
from referee.evals.detection.verdicts import CheckedReview, DetectorVerdict, outside, verdict, warnings
from referee.evals.forms import Forms
from referee.evals.metric import Context
from referee.evals.registry import find_metrics
from referee.reports.detection_check import write_check
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import PartEstimate, SetEstimate
from referee.schemas.venue import VenueForm
from referee.venues import load_venue

FALCON_PROBABILITY = "For display only, of this pair of models alone: Fast-DetectGPT's demo would show a probability of"
COMPARING = frozenset(DETECTORS["detection.detectors.by_comparison"])
PAIRED = frozenset({"fast_detect_gpt", "fast_detect_gpt_sampled", "binoculars", "binoculars_paper"})


@dataclass(frozen=True)
class DetectCheck:
    """A finished check: its folder and the verdicts."""

    run: Path
    checked: CheckedReview


async def detect_check(
    review: str | Path,
    *,
    calibration: str | Path,
    paper: str | Path | None = None,
    detectors: Sequence[str] | None = None,
    anchors: str | Path | None = None,
    venue: str | Path | VenueForm | None = None,
    target_fpr: float | None = None,
    embedder: str | None = None,
    services: DetectionServices | None = None,
    options: RunOptions = RunOptions(),
) -> DetectCheck:
    """Judge one review by thresholds. A flag is no proof, and says so.

    The models are those that the calibration names. A detector says that it cannot say wherever anything is missing:
    a score, a threshold whose rate is claimed, a review like those of the calibration.

    Args:
        review: A text or Markdown file, or one review as JSON.
        calibration: The file of ``detect_calibrate``.
        paper: The paper, as the anchors name it: its file or its id.
        detectors: Their names; by default all of the calibration that can run with what is given.
        anchors: AI reviews of the paper, for detectors that compare.
        venue: The form it was written for, where it does not say; by default taken to be the calibration's.
        target_fpr: The rate to judge by; by default the smallest that is claimed.
        embedder: The embedding model, the same as for the calibration.
        services: The models, where a program brings its own.
        options: How it runs.

    Returns:
        A verdict for each detector. They lie in the folder as check.md and check.json.

    Raises:
        DataError: The review, the calibration or the anchors cannot be read, or there are several reviews.
        SettingsError: A detector is unknown, or what it needs was not given.
        EvaluationError: A detector has no threshold, or none for this rate.
        MissingExtra: A model has to be run here, and the extra ``local`` is not installed.
        RunError: The run folder is in use, unwritable or not empty.
    """
    thresholds = read_calibration(Path(calibration))
    stored = read_anchors(Path(anchors)) if anchors is not None else None
    known = [name for entry in thresholds.detectors if (name := entry.detector) != LENGTH and " " not in name]
    given = _models(thresholds, detectors or known, stored)
    names = _names(detectors, known, given, services)
    entries = {name: thresholds.of(name) for name in names}
    judged_by = {name: entry.threshold(target_fpr) for name, entry in entries.items()}
    form = load_venue(venue) if isinstance(venue, str | Path) else venue
    case, reading = _case(Path(review), _paper_id(paper, given.anchors))
    case = case.model_copy(update={"venue": form.id}) if form is not None else case
    form = form or Forms().of(case)
    text = canonical_review(case, form)
    settings = options.settled({"embedder": embedder})
    async with session("detect check", "detect", Path(review).stem, options=options, settings=settings) as run:
        opened = OpenedDetectors(services) if services is not None else await open_services(run, names, given)
        run.check_inputs({"review": text.digest, "detectors": ", ".join(names), **opened.services.inputs()})
        context = Context(form=form, detection=_begun(run, opened, names, case))
        verdicts = [await _verdict(entries[n], judged_by[n], case, text, context, thresholds) for n in names]
        await context.shared.aclose()
        checked = CheckedReview(
            review=str(review),
            words=len(text.text.split()),
            verdicts=tuple(verdicts),
            warnings=(*_warnings(thresholds, text.text, case, names, known), *reading, *opened.notes),
            facts=_facts(thresholds, Path(calibration), text),
        )
        write_check(checked, run.write)
        return DetectCheck(run.path, checked)


def _models(thresholds: Calibration, names: Sequence[str], anchors: AnchorSet | None) -> DetectorModels:
    """The models that the scores of the calibration were made with, by their names."""
    made: dict[str, Any] = {}
    classifiers: dict[str, Source] = {}
    for entry in thresholds.detectors:
        if entry.detector in names:
            made |= entry.models
            if "classifier" in entry.models:
                classifiers[entry.detector] = source_again(entry.models["classifier"])
    sources = {
        part: source_again(made[part]) for part in ("provider", "observer", "performer", "filler") if part in made
    }
    given = DetectorModels(filler=sources.get("filler"), classifiers=classifiers, anchors=anchors)
    if "provider" in sources:
        given = replace(given, lm=sources["provider"])
    if "observer" in sources and "performer" in sources:
        given = replace(given, pair=(sources["observer"], sources["performer"]))
    # A server's model is recorded with its host, which --base-url names again.
    return replace(given, generator=str(made["generator"]["name"]).partition("@")[0]) if "generator" in made else given


def _begun(run: Session, opened: OpenedDetectors, names: Sequence[str], case: ReviewCase) -> DetectionServices:
    """The services after the folder was opened; where a model writes on, after the estimate was confirmed."""
    if opened.generator is None:
        run.open_folder()
        run.record()
        return opened.services
    metrics = [metric for metric in find_metrics(names) if isinstance(metric, Detector)]
    if run.is_asked:
        planned = [PartEstimate(name=metric.name, units=1) for metric in metrics]
        parts = cost_estimates(metrics, planned, [case], opened.services, opened.generator)
        run.confirm(SetEstimate(reviews=1, papers=1, judges=(), metrics=parts).holding(parts))
    return opened.through(run.begin(opened.chat, prompts=eval_prompts(metrics)))


def _names(
    asked: Sequence[str] | None, known: Sequence[str], given: DetectorModels, services: DetectionServices | None
) -> list[str]:
    if services is not None:
        return list(asked or known)
    if asked is not None:
        return chosen_detectors(asked, given)
    possible = [one.name for one in find_metrics(known) if isinstance(one, Detector) and is_given(one, given)]
    if not possible:
        raise SettingsError(
            f"no detector of the calibration ({', '.join(known) or 'none'}) can run with what was given.",
            hint="Give --anchors and --paper for those that compare, or install `pip install 'referee[local]'`.",
        )
    return possible


def _paper_id(paper: str | Path | None, anchors: AnchorSet | None) -> str:
    """The id by which the anchors know the paper; a file's name without its ending, where they do not."""
    if paper is None:
        return "unknown"
    path = Path(paper)
    candidates = [str(paper), path.name, path.stem]
    if path.is_file():
        candidates.append(hashlib.sha256(path.read_bytes()).hexdigest())
    texts = anchors.texts if anchors is not None else {}
    return next((name for name in candidates if name in texts), path.stem if path.is_file() else str(paper))


def _case(path: Path, paper_id: str) -> tuple[ReviewCase, tuple[str, ...]]:
    """The review of a file, as one of this paper, and what of the file was left out, in sentences.

    Raises:
        DataError: There is no such file, or it holds no review or several.
    """
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}.", hint="Give the file of one review.")
    sink, reading = RejectedSink(), ReadingNotes()
    found = list(read_cases(path, rejected=sink, notes=reading))
    if len(found) != 1:
        raise DataError(
            f"{str(path)!r} holds {len(found)} reviews.",
            hint="Give one review: text, Markdown, or one as JSON. For a set there is `referee detect score`.",
        )
    own = found[0].paper_id if paper_id == "unknown" and path.suffix == ".json" else paper_id
    reading.add(found[0])
    rejected = [f"{rejected_text(sink.by_source)}; the log names each"] if sink.count else []
    notes = tuple(f"of the file {path.name!r}: {note}" for note in (*rejected, *reading.notes()))
    return found[0].model_copy(update={"paper_id": own}), notes


async def _verdict(
    entry: DetectorCalibration,
    threshold: Threshold,
    case: ReviewCase,
    text: Canonical,
    context: Context,
    thresholds: Calibration,
) -> DetectorVerdict:
    (metric,) = find_metrics([entry.detector])
    result = await metric.measure(case, context)
    # A plain text names no form: it is taken to be of the calibration's, and the warnings say so.
    row = scored_review(case.model_copy(update={"venue": case.venue or entry.form or None}), result)
    if fewer := next((one for one in thresholds.detectors if one.detector == row_name(result) != entry.detector), None):
        entry, threshold = fewer, fewer.threshold(threshold.target)
    found = verdict(entry, row, threshold, reason=result.reason, unlike=outside(thresholds, text.text))
    pushes = await _pushes(entry.detector, text, case, threshold, context, found)
    return replace(found, pushes=pushes, aside=_aside(result.details))


def _aside(details: Mapping[str, Any]) -> str:
    """The published probability, which stands in the details for its own pair of models alone."""
    shown = details.get("published_probability")
    return "" if shown is None else f"{FALCON_PROBABILITY} {shown:.3f}"


async def _pushes(
    name: str, text: Canonical, case: ReviewCase, threshold: Threshold, context: Context, found: DetectorVerdict
) -> Pushes | None:
    services = context.detection
    if found.score is None or services is None:
        return None
    if name in COMPARING:
        anchors = {model: of_text(one).text for model, one in services.anchors.get(case.paper_id, {}).items()}
        return await anchor_pushes(text.text, anchors, services.embedder) if services.embedder else None
    provider = services.provider if name not in PAIRED else services.pair and services.pair[1]
    # What another model finds likely says nothing of a classifier's score, nor of repeated words.
    if provider is None or not {"provider", "pair"} & set(_detector_of(name).works_with):
        return None

    def passed() -> Pushes:
        return token_pushes(name, text.text, provider, token_pass(provider, text.text), threshold.theta)

    return await asyncio.to_thread(passed)


def _detector_of(name: str) -> Detector:
    """The detector of a name that a calibration holds."""
    (found,) = find_metrics([name])
    assert isinstance(found, Detector), "calibrations are of detectors"
    return found


def _warnings(
    thresholds: Calibration,
    text: str,
    case: ReviewCase,
    names: Sequence[str],
    known: Sequence[str],
) -> Iterator[str]:
    yield from warnings(thresholds, text, case.paper_id)
    forms = {entry.form for entry in thresholds.detectors}
    if not case.venue and len(forms) == 1 and all(forms):
        yield f"the review names no form; it is taken to be for {next(iter(forms))!r}"
    if left := [name for name in known if name not in names]:
        yield f"not asked, or without what they need: {', '.join(left)}"
    if len(names) > 1:
        yield f"{len(names)} detectors are asked: that any of them flags a person is likelier than that one does"


def _facts(thresholds: Calibration, file: Path, text: Canonical) -> dict[str, str]:
    return {
        "calibration": f"{file.name}, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}",
        "calibrated on": f"{thresholds.humans:,} human reviews in {', '.join(o.run for o in thresholds.calibrated_on)}",
        "text": f"{text.rule}, SHA-256 {text.digest}",
        "referee": referee.__version__,
    }
