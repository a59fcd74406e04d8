"""Prose in which nothing is said twice: each point in one paragraph, no sentence that its writer calls a repetition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from referee.agents.prose import Paragraph

_LEAST_CHARS = 20


def each_once(paragraphs: Mapping[str, Sequence[Paragraph]]) -> tuple[dict[str, tuple[Paragraph, ...]], list[str]]:
    """Paragraphs of which none carries a point that an earlier one carries, and notes of what was taken out.

    A paragraph all of whose points were said before goes; one that carries others too stays with those.
    """
    said: set[str] = set()
    kept: dict[str, tuple[Paragraph, ...]] = {}
    notes: list[str] = []
    for name, given in paragraphs.items():
        own: list[Paragraph] = []
        for paragraph in given:
            fresh = tuple(key for key in dict.fromkeys(paragraph.points) if key not in said)
            if paragraph.points and not fresh:
                notes.append(f"a paragraph of {name} said again what was said before and was left out")
                continue
            said |= set(fresh)
            own.append(replace(paragraph, points=fresh))
        kept[name] = tuple(own)
    return kept, notes


def without_repeats(
    paragraphs: Mapping[str, Sequence[Paragraph]], repeats: Iterable[str]
) -> tuple[dict[str, tuple[Paragraph, ...]], list[str]]:
    """Paragraphs without the sentences that the writer named, and notes of what was taken out.

    A sentence goes where it was said last, whole, and only from a paragraph that still says something without it: a
    point is never left without words.
    """
    kept = {name: list(given) for name, given in paragraphs.items()}
    notes: list[str] = []
    for sentence in repeats:
        words = sentence.split()
        if len(" ".join(words)) < _LEAST_CHARS:
            continue
        said = re.compile(r"\s+".join(map(re.escape, words)))
        places = [(n, i) for n, own in kept.items() for i, p in enumerate(own) if said.search(p.text)]
        for name, number in reversed(places):
            paragraph = kept[name][number]
            rest = re.sub(r" {2,}", " ", said.sub(" ", paragraph.text)).strip()
            if rest:
                kept[name][number] = replace(paragraph, text=rest)
                notes.append(f"a sentence of {name} that says again what is said elsewhere was left out: {sentence}")
                break
    return {name: tuple(own) for name, own in kept.items()}, notes
