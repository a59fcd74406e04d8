"""A stream of reviews measured on several cores, in order and in bounded memory."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from referee.errors import EvaluationError
from referee.evals.behaviour.one_pass import BATCH_CHARS, measure_batch
from referee.evals.behaviour.results import TextMetrics
from referee.evals.behaviour.syllables import BackendName, backend
from referee.evals.behaviour.text import review_text
from referee.schemas.case import ReviewCase

_AHEAD = 2
_ENOUGH_CHARS = 8 * BATCH_CHARS
"""Of reviews that are measured together: with fewer, two workers spent half of their time waiting for each other."""


def measure_texts(
    cases: Iterable[ReviewCase],
    processes: int = 1,
    *,
    fields: Sequence[str] | None = None,
    syllables: BackendName = "pyphen",
    dictionary: Path | None = None,
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    """Each review with its text metrics, in the order of the stream.

    The stream is read some batches ahead and no further, so that memory does not grow with it.

    Args:
        cases: The reviews.
        processes: 1 measures here; more start so many workers.
        fields: The boxes that count; all free text by default.
        syllables: The backend of readability.
        dictionary: The file for backend ``cmu``.

    Raises:
        EvaluationError: ``processes`` is below 1, or there is no such backend.
    """
    if processes < 1:
        raise EvaluationError(f"reviews are measured by processes, not by {processes!r}.", hint="Use 1 or more.")
    backend(syllables, dictionary)
    batches = _batches(cases, fields)
    if processes == 1:
        return _here(batches, syllables, dictionary)
    return _apart(batches, processes, syllables, dictionary)


_Batch = tuple[list[ReviewCase], list[str]]


def _batches(cases: Iterable[ReviewCase], fields: Sequence[str] | None) -> Iterator[_Batch]:
    group: list[ReviewCase] = []
    texts: list[str] = []
    chars = 0
    for case in cases:
        group.append(case)
        texts.append(review_text(case, fields))
        chars += len(texts[-1])
        if chars >= _ENOUGH_CHARS:
            yield group, texts
            group, texts, chars = [], [], 0
    if group:
        yield group, texts


def _here(
    batches: Iterable[_Batch], syllables: BackendName, dictionary: Path | None
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    chosen = backend(syllables, dictionary)
    for group, texts in batches:
        yield from zip(group, measure_batch(texts, chosen), strict=True)


def _apart(
    batches: Iterable[_Batch], processes: int, syllables: BackendName, dictionary: Path | None
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    context = multiprocessing.get_context("spawn")
    setting = (syllables, dictionary)
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_set_up, initargs=setting) as pool:
        waiting: deque[tuple[list[ReviewCase], Future[list[TextMetrics]]]] = deque()
        try:
            for group, texts in batches:
                waiting.append((group, pool.submit(_measure_there, texts)))
                if len(waiting) > _AHEAD * processes:
                    yield from _next(waiting)
            while waiting:
                yield from _next(waiting)
        finally:
            for _, future in waiting:
                future.cancel()


def _next(
    waiting: deque[tuple[list[ReviewCase], Future[list[TextMetrics]]]],
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    group, future = waiting.popleft()
    return zip(group, future.result(), strict=True)


_worker: dict[str, tuple[BackendName, Path | None]] = {}


def _set_up(syllables: BackendName, dictionary: Path | None) -> None:
    """In a worker: which backend to use; a dictionary is read there once."""
    _worker["backend"] = (syllables, dictionary)


def _measure_there(texts: list[str]) -> list[TextMetrics]:
    return measure_batch(texts, backend(*_worker["backend"]))
