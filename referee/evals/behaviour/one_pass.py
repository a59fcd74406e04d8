"""All text metrics of many reviews in one pass, at the speed a venue's whole history asks for."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat

import numpy as np

from referee.evals.behaviour.citations import Citation, formal_citations
from referee.evals.behaviour.clean_view import without_marks
from referee.evals.behaviour.columns import (
    Pieces,
    diversities,
    find_pieces,
    readabilities,
    sentence_counts,
    speech,
    spoken,
)
from referee.evals.behaviour.cross_references import CrossReferences, cross_references
from referee.evals.behaviour.informal_citations import InformalCitations, informal_citations
from referee.evals.behaviour.mathematics import engages
from referee.evals.behaviour.packing import pack
from referee.evals.behaviour.readability import Readability
from referee.evals.behaviour.results import TextMetrics, measured_one_by_one
from referee.evals.behaviour.syllables import Syllables, backend
from referee.evals.behaviour.text import without_spans
from referee.evals.behaviour.word_table import (
    ADDRESSED,
    BETWEEN,
    DATED,
    LETTERED,
    LISTED,
    MARKUP,
    NUMBER,
    POINTS,
    YEARLY,
    Ints,
    WordTable,
)

BATCH_CHARS = 1 << 18
_SHORT = 80
_NO_REFERENCES = CrossReferences((), ())
_NOTHING_INFORMAL = InformalCitations(0, 0, 0)
_one_at_a_time = threading.Lock()


def text_metrics(text: str, syllables: Syllables | None = None) -> TextMetrics:
    """All metrics of one review's text that need no model.

    Args:
        text: The review, view ``raw``.
        syllables: The backend of readability; ``pyphen`` by default.
    """
    return measure_batch([text], syllables)[0]


def measure_batch(texts: Sequence[str], syllables: Syllables | None = None) -> list[TextMetrics]:
    """The metrics of some reviews, in their order; equal to what each metric's own function gives.

    A text with characters beyond those of ``packing``, one too long for the word table, or one counted by a backend
    that hears apostrophes, goes through these functions one by one.
    """
    chosen = syllables or backend()
    found: list[TextMetrics] = []
    bare: dict[int, str] = {}
    for group in _groups(texts):
        measured, changed = _measured_together(group, chosen)
        bare.update((len(found) + number, text) for number, text in changed.items())
        found += measured
    for number, clean in zip(bare, _clean_views(list(bare.values()), chosen), strict=True):
        found[number] = found[number]._replace(clean=clean)
    return found


def _groups(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts that together have no more than some hundred thousand characters, so that the arrays stay small."""
    group: list[str] = []
    chars = 0
    for text in texts:
        if group and chars + len(text) > BATCH_CHARS:
            yield group
            group, chars = [], 0
        group.append(text)
        chars += len(text) + 1
    if group:
        yield group


def _measured_together(texts: Sequence[str], syllables: Syllables) -> tuple[list[TextMetrics], dict[int, str]]:
    """The metrics of each text, and of some by their numbers the view that readability ``clean`` is yet to be of."""
    packed = [None if syllables.hears_apostrophes or len(text) > BATCH_CHARS else pack(text) for text in texts]
    fast = [number for number, content in enumerate(packed) if content is not None]
    if not fast:
        return [measured_one_by_one(text, syllables) for text in texts], {}
    with _one_at_a_time:
        measured, bare = _measured(
            [texts[number] for number in fast], [content for content in packed if content is not None], syllables
        )
    found = iter(measured)
    return [
        measured_one_by_one(text, syllables) if content is None else next(found)
        for text, content in zip(texts, packed, strict=True)
    ], {fast[number]: text for number, text in bare.items()}


def _clean_views(texts: Sequence[str], syllables: Syllables) -> Iterator[Readability]:
    """Readability of texts whose code, formulas, links and addresses are replaced already."""
    table = _table(syllables)
    for group in _groups(texts):
        with _one_at_a_time:
            pieces = find_pieces([pack(text) or b"" for text in group], table)
            words, heard, _ = spoken(pieces, table)
            found = without_marks(pieces, speech(pieces.flags), words, heard)
        yield from found


@lru_cache(maxsize=4)
def _table(syllables: Syllables) -> WordTable:
    return WordTable(syllables.count)


def _measured(
    texts: Sequence[str], packed: Sequence[bytes], syllables: Syllables
) -> tuple[list[TextMetrics], dict[int, str]]:
    table = _table(syllables)
    pieces = find_pieces(packed, table)
    words, heard, word_tokens = spoken(pieces, table)
    diverse = diversities(pieces, word_tokens, table)
    said = speech(pieces.flags)
    raw = readabilities(words, heard, sentence_counts(said, pieces.bounds))
    plain = without_marks(pieces, said, words, heard)
    addressed = _texts_with(pieces, ADDRESSED)
    marked = _texts_with(pieces, MARKUP | ADDRESSED)
    references = _references(texts, pieces)
    formal, informal = _citations(texts, pieces)
    bare = {n: without_spans(texts[n], addressed=n in addressed) for n in sorted(marked)}
    engaged = [
        (n in marked or references[n] is not _NO_REFERENCES) and engages(text, references[n])
        for n, text in enumerate(texts)
    ]
    columns = (diverse, raw, plain, references, formal, informal, engaged)
    measured = list(map(TextMetrics, map(len, texts), *columns, repeat(syllables.id)))
    return measured, {n: text for n, text in bare.items() if text != texts[n]}


def _texts_with(pieces: Pieces, flag: int) -> set[int]:
    return set(_owners(pieces, pieces.having(flag)).tolist())


def _owners(pieces: Pieces, numbers: Ints) -> Ints:
    """The text of each of some pieces."""
    return np.searchsorted(pieces.bounds, numbers, side="right") - 1


def _references(texts: Sequence[str], pieces: Pieces) -> list[CrossReferences]:
    """Cross-references, searched for only around keywords with a number or letter behind them."""
    flags = pieces.flags
    keywords = pieces.having(POINTS | LETTERED)
    following = _behind(pieces.having(BETWEEN), keywords, len(flags) - 1)
    numbered, lettered = flags[keywords] & POINTS != 0, flags[keywords] & LETTERED != 0
    near = lettered | numbered & (flags[following] & NUMBER != 0)
    held = near | numbered & (flags[keywords] & NUMBER != 0)
    windows = _windows(pieces, keywords[held], np.where(near, following, keywords)[held])
    return [_found_in(text, windows[n]) if n in windows else _NO_REFERENCES for n, text in enumerate(texts)]


def _behind(between: Ints, pieces: Ints, last: int) -> Ints:
    """The piece that follows each of some, those in ``between`` passed over; the last one where none does."""
    runs = between - np.arange(len(between))
    first = np.searchsorted(between, pieces + 1)
    passed = np.searchsorted(runs, pieces + 1 - first, side="right") - first
    found: Ints = np.minimum(pieces + 1 + passed, last)
    return found


def _windows(pieces: Pieces, begin: Ints, end: Ints) -> dict[int, list[tuple[int, int]]]:
    """Passages from a piece to the one behind another, by text, in order and apart from each other.

    A passage that would reach into the next text ends with its own.
    """
    owners = _owners(pieces, begin)
    end = np.minimum(end + 1, pieces.bounds[owners + 1] - 1)
    starts = pieces.starts[begin] - pieces.offsets[owners]
    stops = pieces.ends[end] - pieces.offsets[owners]
    windows: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for owner, start, stop in zip(owners.tolist(), starts.tolist(), stops.tolist(), strict=True):
        own = windows[owner]
        if own and start <= own[-1][1]:
            own[-1] = (own[-1][0], max(stop, own[-1][1]))
        else:
            own.append((start, stop))
    return windows


def _found_in(text: str, windows: Sequence[tuple[int, int]]) -> CrossReferences:
    found = [(_named_by if stop - start < _SHORT else cross_references)(text[start:stop]) for start, stop in windows]
    if len(found) == 1:
        return found[0]
    return CrossReferences(tuple(t for one in found for t in one.core), tuple(t for one in found for t in one.extra))


_named_by = lru_cache(maxsize=1 << 14)(cross_references)
"""Of short passages, which reviews have in common."""


def _citations(texts: Sequence[str], pieces: Pieces) -> tuple[list[tuple[Citation, ...]], list[InformalCitations]]:
    """Formal citations of the texts that hold a year, informal ones where a year or an id stands."""
    yearly = _texts_with(pieces, YEARLY)
    formal = [formal_citations(text) if n in yearly else () for n, text in enumerate(texts)]
    years, ids = pieces.having(DATED), pieces.having(LISTED)
    dated, listed = _windows(pieces, years, years), _windows(pieces, ids, ids + 1)
    informal = [
        informal_citations(text, formal[n], dated=dated.get(n, ()), listed=listed.get(n, ()))
        if n in dated or n in listed
        else _NOTHING_INFORMAL
        for n, text in enumerate(texts)
    ]
    return formal, informal
