"""Where a paper cites the works of its bibliography: the sentences, by printed label or by author and year."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from referee.evidence.sentences import split_sentences
from referee.literature.references import cited_of
from referee.literature.titles import normalised_title
from referee.schemas.paper import Paper, Reference, Section

_GROUP = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3}){0,40})\]")
_LONGEST_RANGE = 50
_READ = frozenset({"paragraph", "list", "caption", "footnote", "table"})
# Between a surname and its year stand at most co-authors and signs.
_BETWEEN = 60


class Citing(NamedTuple):
    """A sentence that cites a work, with its place; ``page`` counts from 1 and is null for formats without pages."""

    sentence: str
    section: Section
    page: int | None


def citing_sentences(paper: Paper) -> Mapping[str, Sequence[Citing]]:
    """By the id of a reference, the sentences that cite it, in the order of the paper.

    A reference without a printed label is cited by surname and year; where two share both, neither is told apart.
    """
    labelled = {reference.label: reference.id for reference in paper.references if reference.label}
    named = _named(paper.references)
    found: dict[str, list[Citing]] = defaultdict(list)
    for citing in _sentences(paper):
        cited = [labelled[label] for label in _labels(citing.sentence, labelled) if label in labelled]
        cited += _by_name(citing.sentence, named)
        for reference in dict.fromkeys(cited):
            found[reference].append(citing)
    return found


def _sentences(paper: Paper) -> Iterator[Citing]:
    for section in paper.content:
        for block in section.blocks:
            if block.kind in _READ:
                for sentence in split_sentences(block.text):
                    yield Citing(" ".join(sentence.split()), section, block.page)


def _labels(sentence: str, known: Collection[str]) -> Iterator[str]:
    """The numbers of "[3, 7-9]"; a range of more than 50 is one of citations where both its ends are labels."""
    for group in _GROUP.finditer(sentence):
        for part in re.split(r"[,;]", group[1]):
            first, _, last = (piece.strip() for piece in re.sub("–", "-", part).partition("-"))
            if last:
                many = int(last) - int(first) > _LONGEST_RANGE and not {first, last} <= set(known)
                yield from map(str, () if many else range(int(first), int(last) + 1))
            elif not last:
                yield first


def _named(references: Sequence[Reference]) -> dict[tuple[str, str], str]:
    """Surname and year of references without a label, those that no other shares."""
    keys = [
        ((cited.surname, str(cited.year)), cited.reference.id)
        for cited in map(cited_of, references)
        if not cited.reference.label and cited.surname and cited.year is not None
    ]
    shared = Counter(key for key, _ in keys)
    return {key: name for key, name in keys if shared[key] == 1}


def _by_name(sentence: str, named: Mapping[tuple[str, str], str]) -> Iterator[str]:
    plain = f" {normalised_title(sentence)} "
    for (surname, year), name in named.items():
        at = plain.find(f" {surname} ")
        while at >= 0:
            after = plain[at + len(surname) + 2 : at + len(surname) + 2 + _BETWEEN].split()
            if any(word.startswith(year) and len(word) <= len(year) + 1 for word in after):
                yield name
                break
            at = plain.find(f" {surname} ", at + 1)
