"""All text metrics of many reviews in one pass, at the speed a venue's whole history asks for."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from referee.evals.behaviour.citations import Citation, formal_citations
from referee.evals.behaviour.columns import Tokens, diversities, find_tokens, joined, readabilities, sentence_counts
from referee.evals.behaviour.cross_references import (
    CORE,
    EXT,
    CrossReferences,
    Target,
    core_target,
    cross_references,
    extra_target,
)
from referee.evals.behaviour.informal_citations import InformalCitations, informal_citations
from referee.evals.behaviour.mathematics import engages
from referee.evals.behaviour.packing import pack
from referee.evals.behaviour.readability import Readability, scored
from referee.evals.behaviour.results import TextMetrics, measured_one_by_one
from referee.evals.behaviour.syllables import Syllables, backend
from referee.evals.behaviour.text import Plain, clean, without_blocks, without_spans
from referee.evals.behaviour.word_table import (
    BETWEEN,
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
    packed = [None if chosen.hears_apostrophes or len(text) > BATCH_CHARS else pack(text) for text in texts]
    fast = [number for number, content in enumerate(packed) if content is not None]
    results: dict[int, TextMetrics] = {}
    for group in _groups(fast, texts):
        contents = [content for number in group if (content := packed[number]) is not None]
        with _one_at_a_time:
            found = _measured([texts[number] for number in group], contents, chosen)
        results.update(zip(group, found, strict=True))
    return [results.get(n) or measured_one_by_one(text, chosen) for n, text in enumerate(texts)]


def _groups(numbers: Iterable[int], texts: Sequence[str]) -> Iterable[list[int]]:
    """Numbers of texts that together have some hundred thousand characters, so that the arrays stay small."""
    group: list[int] = []
    chars = 0
    for number in numbers:
        group.append(number)
        chars += len(texts[number])
        if chars >= BATCH_CHARS:
            yield group
            group, chars = [], 0
    if group:
        yield group


@lru_cache(maxsize=4)
def _table(syllables: Syllables) -> WordTable:
    return WordTable(syllables.count)


def _measured(texts: Sequence[str], packed: Sequence[bytes], syllables: Syllables) -> list[TextMetrics]:
    table = _table(syllables)
    tokens = find_tokens(joined(packed), table)
    raw = readabilities(tokens, table)
    diverse = diversities(tokens)
    references = _references(texts, tokens)
    formal, informal = _citations(texts, tokens)
    plain = _plain_views(texts, raw, _texts_with(tokens, MARKUP), table)
    return [
        TextMetrics(
            characters=len(text),
            diversity=diverse[n],
            raw=raw[n],
            clean=plain[n],
            references=references[n],
            formal=formal[n],
            informal=informal[n],
            engages=engages(text, references[n]),
            syllables=syllables.id,
        )
        for n, text in enumerate(texts)
    ]


def _texts_with(tokens: Tokens, flag: int) -> set[int]:
    return set(tokens.text_of[np.flatnonzero(tokens.flags & flag)].tolist())


def _plain_views(
    texts: Sequence[str], raw: Sequence[Readability], marked: set[int], table: WordTable
) -> list[Readability]:
    """Readability of the views ``clean``; where nothing that matters to it was removed, that of the view ``raw``."""
    views: list[Readability] = list(raw)
    listed: dict[int, Plain] = {}
    changed: dict[int, str] = {}
    for number, text in enumerate(texts):
        if number in marked and without_spans(text) != text:
            changed[number] = clean(text)
            continue
        plain = without_blocks(text)
        if plain.text != text:
            listed[number] = plain
    if changed:
        found = readabilities(find_tokens(joined([pack(text) or b"" for text in changed.values()]), table), table)
        for number, one in zip(changed, found, strict=True):
            views[number] = one
    if listed:
        counts = sentence_counts(joined([pack(plain.text) or b"" for plain in listed.values()]))
        for (number, plain), sentences in zip(listed.items(), counts, strict=True):
            views[number] = _without_numbers(raw[number], plain.numbers, sentences)
    return views


def _without_numbers(raw: Readability, numbers: int, sentences: int) -> Readability:
    """A list's numbers are words of one syllable each; nothing else that ends a line or begins one is a word."""
    words = raw.words - numbers
    return scored(words, max(1, sentences) if words else 0, raw.syllables - numbers)


def _references(texts: Sequence[str], tokens: Tokens) -> list[CrossReferences]:
    """Cross-references, searched for only around keywords with a number or letter behind them."""
    keywords, numbers = np.flatnonzero(tokens.flags & POINTS), np.flatnonzero(tokens.flags & NUMBER)
    following = np.append(numbers, len(tokens.flags))[np.searchsorted(numbers, keywords, side="right")]
    apart = np.append(0, np.cumsum(tokens.flags & BETWEEN == 0))
    near = (apart[following] == apart[keywords + 1]) & (following < len(tokens.flags))
    alone = keywords[~near & (tokens.flags[keywords] & NUMBER != 0)]
    lettered = np.flatnonzero(tokens.flags & LETTERED)
    begin = np.concatenate([keywords[near], alone, lettered])
    end = np.concatenate([following[near], alone, lettered + 1]) + 1
    windows = _windows(tokens, begin, end)
    return [
        cross_references(text)
        if text.count("~") > 1
        else _found_in(text, windows[n])
        if n in windows
        else _NO_REFERENCES
        for n, text in enumerate(texts)
    ]


def _windows(tokens: Tokens, begin: Ints, end: Ints) -> dict[int, list[tuple[int, int]]]:
    """Passages from a token to the blank behind another, by text, in order and apart from each other.

    A passage that would reach into the next text ends with its own.
    """
    end = np.minimum(end, len(tokens.starts) - 1)
    blanks = np.flatnonzero(tokens.blank)
    stops = blanks[np.searchsorted(blanks, tokens.starts[end] + tokens.lengths[end])]
    owners = tokens.text_of[begin]
    starts = tokens.starts[begin] - tokens.offsets[owners]
    stops = np.minimum(stops, tokens.offsets[owners + 1] - 1) - tokens.offsets[owners]
    windows: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for owner, start, stop in sorted(zip(owners.tolist(), starts.tolist(), stops.tolist(), strict=True)):
        own = windows[owner]
        if own and start <= own[-1][1]:
            own[-1] = (own[-1][0], max(stop, own[-1][1]))
        else:
            own.append((start, stop))
    return windows


def _found_in(text: str, windows: Sequence[tuple[int, int]]) -> CrossReferences:
    core: list[Target] = []
    extra: list[Target] = []
    for start, stop in windows:
        core += map(core_target, CORE.finditer(text, start, stop))
        extra += map(extra_target, EXT.finditer(text, start, stop))
    return CrossReferences(tuple(core), tuple(extra))


def _citations(texts: Sequence[str], tokens: Tokens) -> tuple[list[tuple[Citation, ...]], list[InformalCitations]]:
    """Citations of the texts that hold a year; of the others only ids."""
    dated, listed = _texts_with(tokens, YEARLY), _texts_with(tokens, LISTED)
    formal = [formal_citations(text) if n in dated else () for n, text in enumerate(texts)]
    for n, text in enumerate(texts):
        if n not in listed and "/" in text and "10." in text:
            listed.add(n)
    informal = [
        informal_citations(text, formal[n], ids=n in listed) if n in dated or n in listed else _NOTHING_INFORMAL
        for n, text in enumerate(texts)
    ]
    return formal, informal
