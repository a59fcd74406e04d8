"""Scores as runs of ``referee detect score`` left them: the rows of each detector, and what of the reviews they need.

Beside the detectors stands ``length``, the words of the canonical text: what a detector has to beat. Files are read
line by line into columns, so that memory does not hold a set of reviews.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from referee.errors import EvaluationError, RunError
from referee.evals.case_store import CASES, read_stored
from referee.evals.detection.canonical import CANONICAL_RULE, canonical_review
from referee.evals.detection.columns import Ints, Mask, Reviews, ScoredReview, ScoredRows, ScoreTable, score_of
from referee.evals.detection.inflation import AXES, RATING, axis_scores
from referee.evals.forms import Forms
from referee.evals.registry import PRESETS
from referee.evals.results import RESULTS
from referee.runs.lines import Line, records
from referee.schemas.case import ReviewCase
from referee.schemas.foreign import Unreadable, json_row
from referee.schemas.metric import MetricResult

LENGTH = "length"
SOURCE_REVIEW = "source_review"
"""The column that names the human review from which another one was made."""
TASK, LEVEL = "task", "level"
"""Columns of ``referee detect generate``: what a review was made by, and how far it was edited."""
EDIT, BULLETS = "edit", "bullets"
"""Tasks that leave a person's review a person's: edited by a model, or its points expanded by one."""
LEAST_ENGLISH = 0.08
FEWEST_WORDS_TO_TELL = 20

_WORD = re.compile(r"[^\W\d_]+")
# Words that hardly a sentence of English does without and that are no words of its neighbours.
_USUAL = "the of and to is that this it are not be for with by from which but have has were they their"
_ENGLISH = frozenset(_USUAL.split())
_NOES = ("false", "no", "0", "human", "original")


@dataclass(frozen=True)
class Scores:
    """The scores of some runs.

    Attributes:
        rows: By detector, in the order in which they were asked for, ``length`` last.
        reviews: What is known of them, without their texts.
        words: Of the canonical text, by the review's place.
        foreign: Whether a review does not seem to be in English, likewise.
        models: By detector the models of its scores, as the first row names them.
        notes: What a reader of the numbers should know.
    """

    rows: Mapping[str, ScoredRows]
    reviews: Reviews
    words: Ints
    foreign: Mask
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_scores(runs: Sequence[Path], columns: Sequence[str] = ()) -> Scores:
    """Read the scores of runs, one after the other.

    Args:
        runs: Their folders.
        columns: Columns of the reviews that are wanted, as ``COLUMN`` or ``COLUMN=VALUE``.

    Raises:
        RunError: A folder is no run with scores of detectors, or a file in it is damaged.
        EvaluationError: A line of results holds what is no number, as NaN.
    """
    wanted = {SOURCE_REVIEW, TASK, LEVEL, *(column.partition("=")[0] for column in columns if column)}
    table = ScoreTable(sorted(wanted), (RATING, *AXES))
    words, foreign = array("i"), bytearray()
    models: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        places = {}
        for case, text, digest in _reviews(run):
            places[case.case_id] = table.add(case, digest, axis_scores(case))
            words.append(len(text.split()))
            foreign.append(not is_english(text))
        _put_results(run, places, table, models)
        for name, place in places.items():
            table.put(place, LENGTH, _length(name, words[place]))
    reviews, rows = table.finished()
    order = [name for known in PRESETS["detection"] for name in sorted(rows) if name.split(" ")[0] == known]
    unlike = np.frombuffer(foreign, dtype=np.uint8).astype(bool)
    return Scores(
        rows={name: rows[name] for name in (*order, LENGTH)},
        reviews=reviews,
        words=np.frombuffer(words, dtype=np.int32).astype(np.int64),
        foreign=unlike,
        models=models,
        notes=tuple(_notes(reviews, unlike)),
    )


def is_own_source(reviews: Reviews) -> Mask:
    """Human rows that name themselves as source, as they stand beside what was made of them: plain human reviews."""
    return np.asarray(reviews.is_kind("human") & (reviews.label(SOURCE_REVIEW) == reviews.review))


def is_made_of_another(reviews: Reviews) -> Mask:
    """Whether a review that counts as human was made from another one, as by editing: it is no person's own then."""
    return reviews.is_kind("human") & (reviews.label(SOURCE_REVIEW) > 0) & ~is_own_source(reviews)


def is_of_task(reviews: Reviews, task: str) -> Mask:
    """Whether a review was made from a person's by this task of ``referee detect generate``."""
    made = (reviews.label(SOURCE_REVIEW) > 0) & ~is_own_source(reviews)
    return np.asarray(made & (reviews.label(TASK) == reviews.code(task)))


def is_said(reviews: Reviews, asked: str) -> Mask:
    """Whether a column holds anything but a no, or of ``COLUMN=VALUE`` the value."""
    column, _, wanted = asked.partition("=")
    label = reviews.label(column) if column else np.zeros(len(reviews), dtype=np.int64)
    if wanted:
        return np.asarray(label == reviews.code(wanted))
    noes = [code for code in np.unique(label).tolist() if reviews.names[code].lower() in ("", *_NOES)]
    return ~np.isin(label, noes)


def is_english(text: str) -> bool:
    """Whether a text seems to be in English: of its words, 8 in 100 are such as "the" and "which".

    True of fewer than twenty words, of which nothing can be told. A crude test, for a warning and no more.
    """
    words = [word.lower() for word in _WORD.findall(text)]
    return len(words) < FEWEST_WORDS_TO_TELL or sum(word in _ENGLISH for word in words) >= LEAST_ENGLISH * len(words)


def _reviews(run: Path) -> Iterator[tuple[ReviewCase, str, str]]:
    if not (run / CASES).is_file() or not (run / RESULTS).is_file():
        raise RunError(
            f"{str(run)!r} holds no scores: it has no {CASES} or no {RESULTS}.",
            hint="Give the folder of a run of `referee detect score`.",
        )
    forms = Forms()
    for case in read_stored(run / CASES):
        canonical = canonical_review(case, forms.of(case))
        yield case, canonical.text, canonical.digest


def _length(review: str, words: int) -> ScoredReview:
    return ScoredReview(review, "", "unknown", float(words), made_by=f"{LENGTH} 1 {CANONICAL_RULE}")


def _put_results(run: Path, places: Mapping[str, int], table: ScoreTable, models: dict[str, Mapping[str, Any]]) -> None:
    """Put each unit's result once: what stands for good, else its last failure.

    A line that a crash cut off is no JSON, and its unit was measured again; any other that cannot be used is said.

    Raises:
        EvaluationError: A line is whole and no result, as one with NaN for a score.
        RunError: No line is of a detector.
    """
    known, found, path = frozenset(PRESETS["detection"]), False, run / RESULTS
    for _, result in records(path, MetricResult, damaged=partial(_refuse_whole, path)):
        if result.metric not in known:
            continue
        found = True
        if (place := places.get(result.case_id)) is not None:
            name = row_name(result)
            table.put(place, name, score_of(result), final=result.status != "failed")
            if made := result.details.get("models"):
                models.setdefault(name, made)
    if not found:
        raise RunError(
            f"{str(run)!r} holds no scores of detectors.",
            hint="Give the folder of a run of `referee detect score`.",
        )


def row_name(result: MetricResult) -> str:
    """The detector; where some of its anchors are absent, with their number, as thresholds are then others."""
    made = result.details.get("models", {})
    expected, present = len(made.get("anchors", ())), made.get("present")
    if present is None or present >= expected:
        return result.metric
    return f"{result.metric} ({present} of {expected} anchors)"


def _refuse_whole(path: Path, line: Line, error: ValidationError | None) -> None:
    if error is None:
        return
    try:
        whole = json_row(line.text.decode("utf-8", "replace"), "the line")
    except Unreadable:
        return
    first = error.errors(include_url=False)[0]
    review = whole.get("case_id", "") if isinstance(whole, dict) else ""
    raise EvaluationError(
        f"line {line.number} of {str(path)!r}, of review {review!r}, is no result: {'.'.join(map(str, first['loc']))}: "
        f"{first['msg']}.",
        hint="A score that could not be had is null with a reason. Score the reviews anew.",
        ids={"review": str(review)},
    ) from error


def _notes(reviews: Reviews, foreign: Mask) -> Iterator[str]:
    if foreign.any():
        names = reviews.named(reviews.review[foreign])
        yield (
            f"{len(names):,} review(s) do not seem to be in English, the first {names[0]!r}: detectors and their "
            "thresholds say nothing of other languages"
        )
