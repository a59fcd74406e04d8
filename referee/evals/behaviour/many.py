"""A stream of reviews measured on several cores, in order and in bounded memory."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from referee.errors import EvaluationError
from referee.evals.behaviour.results import TextMetrics, text_metrics
from referee.evals.behaviour.syllables import BackendName, backend
from referee.evals.behaviour.text import review_text
from referee.schemas.case import ReviewCase

_AHEAD = 2
_TOGETHER = 256
"""Reviews that a worker is sent at once, some tenths of a second of its time."""


def measure_texts(
    cases: Iterable[ReviewCase],
    processes: int = 1,
    *,
    fields: Sequence[str] | None = None,
    syllables: BackendName = "pyphen",
    dictionary: Path | None = None,
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    """Each review with its text metrics, in the order of the stream.

    One process reads no further than the review it gives, more some batches ahead, so that memory does not grow.

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
    chosen = backend(syllables, dictionary)
    if processes > 1:
        return _apart(cases, fields, processes, (syllables, dictionary))
    return ((case, text_metrics(review_text(case, fields), chosen)) for case in cases)


def _apart(
    cases: Iterable[ReviewCase], fields: Sequence[str] | None, processes: int, setting: tuple[BackendName, Path | None]
) -> Iterator[tuple[ReviewCase, TextMetrics]]:
    context, stream = multiprocessing.get_context("spawn"), iter(cases)
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_set_up, initargs=setting) as pool:
        waiting: deque[tuple[list[ReviewCase], Future[list[TextMetrics]]]] = deque()
        try:
            while group := list(islice(stream, _TOGETHER)):
                waiting.append((group, pool.submit(_measure_there, [review_text(case, fields) for case in group])))
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
    chosen = backend(*_worker["backend"])
    return [text_metrics(text, chosen) for text in texts]
