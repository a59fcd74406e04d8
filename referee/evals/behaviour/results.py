"""All text measures of a review, and of many reviews in several processes."""

from __future__ import annotations

import multiprocessing
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from referee.errors import EvaluationError
from referee.evals.behaviour.citations import Citation, InformalCitations, formal_citations, informal_citations
from referee.evals.behaviour.cross_references import Bin, CrossReferences, cross_references, xref_bin, xref_density
from referee.evals.behaviour.mathematics import HEURISTIC, engages
from referee.evals.behaviour.readability import NO_WORDS, BackendName, Readability, Syllables, backend, readability
from referee.evals.behaviour.text import clean, is_word, mattr, review_text, tokens
from referee.schemas.case import ReviewCase

NO_TOKENS = "the text is empty"


class Diversity(NamedTuple):
    """Counts of tokens and types, profile ``praib``, and of those that are words, profile ``words``.

    ``mattr`` is of profile ``praib``, and null without tokens.
    """

    tokens: int
    types: int
    words: int
    word_types: int
    mattr: float | None

    @property
    def ttr(self) -> float | None:
        """Types over tokens, in (0, 1]; null without tokens."""
        return self.types / self.tokens if self.tokens else None

    @property
    def ttr_words(self) -> float | None:
        """The same of words alone."""
        return self.word_types / self.words if self.words else None


class TextMetrics(NamedTuple):
    """What is measured of a review's text without a model.

    ``characters`` are of the view ``raw``, as is all but ``clean``. ``syllables`` and ``mathematics`` name the
    backends. ``formal`` are PRAIB's citations, ``informal`` all others; the two are never added up.
    """

    characters: int
    diversity: Diversity
    raw: Readability
    clean: Readability
    references: CrossReferences
    formal: tuple[Citation, ...]
    informal: InformalCitations
    engages: bool
    syllables: str
    mathematics: str = HEURISTIC

    @property
    def status(self) -> Literal["scored", "not_applicable"]:
        """``not_applicable`` for a text without tokens."""
        return "scored" if self.diversity.tokens else "not_applicable"

    @property
    def reason(self) -> str:
        """Why values are null; empty where none is."""
        if not self.diversity.tokens:
            return NO_TOKENS
        return "" if self.raw.words and self.clean.words and self.diversity.words else NO_WORDS

    @property
    def xref_density(self) -> float | None:
        """Cross-references per 100 words; null without words."""
        return xref_density(self.references.xref, self.diversity.words)

    @property
    def xref_bin(self) -> Bin:
        """PRAIB's bin of the number of cross-references."""
        return xref_bin(self.references.xref)


def text_metrics(text: str, syllables: Syllables | None = None) -> TextMetrics:
    """All metrics of one review's text that need no model.

    Args:
        text: The review, view ``raw``.
        syllables: The backend of readability; ``pyphen`` by default.
    """
    chosen = syllables or backend()
    raw, plain = readability(text, chosen), clean(text)
    references = cross_references(text)
    formal = formal_citations(text)
    return TextMetrics(
        characters=len(text),
        diversity=diversity(text),
        raw=raw,
        clean=raw if plain == text else readability(plain, chosen),
        references=references,
        formal=formal,
        informal=informal_citations(text, formal),
        engages=engages(text, references),
        syllables=chosen.id,
    )


def diversity(text: str) -> Diversity:
    """The counts of one text, in both profiles."""
    items = tokens(text)
    times = Counter(items)
    words = [count for token, count in times.items() if is_word(token)]
    return Diversity(len(items), len(times), sum(words), len(words), mattr(items))


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
