"""Scores as runs of ``referee detect score`` left them: the rows of each detector, and what of the reviews they need.

Beside the detectors stands ``length``, the words of the canonical text: what a detector has to beat.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from referee.errors import EvaluationError, RunError
from referee.evals.case_store import CASES, read_stored
from referee.evals.detection.calibration import ScoredReview, scored_review
from referee.evals.detection.canonical import CANONICAL_RULE, canonical_review
from referee.evals.forms import Forms
from referee.evals.registry import PRESETS
from referee.evals.results import RESULTS, read_results
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

LENGTH = "length"
SOURCE_REVIEW = "source_review"
"""The column that names the human review from which another one was made."""
LEAST_ENGLISH = 0.08
FEWEST_WORDS_TO_TELL = 20

_WORD = re.compile(r"[^\W\d_]+")
# Words that hardly a sentence of English does without and that are no words of its neighbours.
_USUAL = "the of and to is that this it are not be for with by from which but have has were they their"
_ENGLISH = frozenset(_USUAL.split())
_LONGEST_VALUE = 80


@dataclass(frozen=True)
class Scores:
    """The scores of some runs.

    Attributes:
        rows: By detector, in the order in which they were asked for, ``length`` last.
        reviews: By id, without their texts.
        words: Words of the canonical text, by review.
        foreign: Ids of reviews that do not seem to be in English.
        models: By detector the models of its scores, as the first row names them.
        notes: What a reader of the numbers should know.
    """

    rows: Mapping[str, Sequence[ScoredReview]]
    reviews: Mapping[str, ReviewCase]
    words: Mapping[str, int]
    foreign: frozenset[str]
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_scores(runs: Sequence[Path]) -> Scores:
    """Read the scores of runs, one after the other.

    Raises:
        RunError: A folder is no run with scores of detectors, or a file in it is damaged.
        EvaluationError: A line of results holds what is no number, as NaN.
    """
    rows: dict[str, list[ScoredReview]] = defaultdict(list)
    reviews: dict[str, ReviewCase] = {}
    words: dict[str, int] = {}
    foreign: set[str] = set()
    models: dict[str, Mapping[str, Any]] = {}
    lengths: list[ScoredReview] = []
    for run in runs:
        cases = {}
        for case, text, digest in _reviews(run):
            cases[case.case_id], words[case.case_id] = case, len(text.split())
            foreign |= {case.case_id} if not is_english(text) else set()
            lengths.append(_length(case, words[case.case_id], digest))
        for result in _results(run):
            if (owner := cases.get(result.case_id)) is not None:
                rows[result.metric].append(scored_review(owner, result))
                if made := result.details.get("models"):
                    models.setdefault(result.metric, made)
        reviews |= cases
    order = [name for name in PRESETS["detection"] if name in rows]
    named = {**{name: rows[name] for name in order}, LENGTH: lengths}
    return Scores(named, reviews, words, frozenset(foreign), models, tuple(_notes(foreign)))


def is_made_of_another(case: ReviewCase) -> bool:
    """Whether a review that counts as human was made from another one, as by editing: it is no person's own then."""
    return case.kind == "human" and bool(case.extra.get(SOURCE_REVIEW))


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
        # What stays in memory of a hundred thousand reviews: their scores and labels.
        short = {name: value for name, value in case.fields.items() if len(str(value)) <= _LONGEST_VALUE}
        yield case.model_copy(update={"text": "", "fields": short}), canonical.text, canonical.digest


def _length(case: ReviewCase, words: int, digest: str) -> ScoredReview:
    details = {"made_by": f"{LENGTH} 1 {CANONICAL_RULE}", "text_digest": digest}
    about = {"case_id": case.case_id, "paper_id": case.paper_id, "source": case.source}
    made = {"metric": LENGTH, "version": "1", "status": "scored", "value": float(words), "details": details}
    return scored_review(case, MetricResult.model_validate({**about, **made}))


def _results(run: Path) -> Iterator[MetricResult]:
    _check_lines(run / RESULTS)
    known, found = frozenset(PRESETS["detection"]), False
    for result in read_results(run / RESULTS):
        if result.metric in known:
            found = True
            yield result
    if not found:
        raise RunError(
            f"{str(run)!r} holds no scores of detectors, but other results.",
            hint="Give the folder of a run of `referee detect score`.",
        )


def _check_lines(path: Path) -> None:
    """A line that a crash cut off is no JSON, and its unit was measured again; any other that cannot be used is said.

    Raises:
        EvaluationError: A line is whole and no result, as one with NaN for a score.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                MetricResult.model_validate_json(line)
            except ValidationError as error:
                _refuse_whole(path, number, line, error)


def _refuse_whole(path: Path, number: int, line: bytes, error: ValidationError) -> None:
    try:
        whole = json.loads(line)
    except ValueError:
        return
    first = error.errors(include_url=False)[0]
    review = whole.get("case_id", "") if isinstance(whole, dict) else ""
    raise EvaluationError(
        f"line {number} of {str(path)!r}, of review {review!r}, is no result: {'.'.join(map(str, first['loc']))}: "
        f"{first['msg']}.",
        hint="A score that could not be had is null with a reason. Score the reviews anew.",
        ids={"review": str(review)},
    ) from error


def _notes(foreign: set[str]) -> Iterator[str]:
    if foreign:
        yield (
            f"{len(foreign):,} review(s) do not seem to be in English, the first {min(foreign)!r}: detectors and their "
            "thresholds say nothing of other languages"
        )
