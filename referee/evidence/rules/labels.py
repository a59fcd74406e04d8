"""Figures, tables, sections, equations and algorithms: which numbers a paper has, and which it refers to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.numerals import plain
from referee.evidence.rules.hits import Sentence, sentences_of
from referee.schemas.paper import Block, Paper, Section

_KINDS = {"fig": "Figure", "tab": "Table", "sec": "Section", "eq": "Equation", "alg": "Algorithm", "app": "Appendix"}
_WORD = (
    r"(?P<word>Figures?|Figs?\.?|Tables?|Tabs?\.|Sections?|Sect?s?\.?|Equations?|Eqn?s?\.?|Algorithms?|Algs?\."
    r"|Appendix|Appendices)"
)
_NUMBER = r"\(?(?:[A-Z]\d*|\d+)(?:\.\d+)*[a-z]?\)?(?![\w%])"
_MENTION = re.compile(
    rf"(?<![\w-]){_WORD}\s*(?P<numbers>{_NUMBER}(?:\s*(?:,\s*(?:and\s+)?|and|&|or|to|–|-)\s*{_NUMBER}(?!\.\d))*)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)[a-z]?\)?\s*(?:to|–|-)\s*\(?(\d+)")
_ONE = re.compile(r"(?:[A-Z]\d*|\d+)(?:\.\d+)*")
_UNRESOLVED = re.compile(rf"(?<![\w-]){_WORD}\s*\(?\?\?\)?", re.IGNORECASE)
_ELSEWHERE_BEFORE = re.compile(
    r"\b(?:their|his|her|supplement\w*|suppl\.?|extended data|online|original|cf\.|movie|video|source)\s*,?\s*$"
    r"|(?:19|20)\d\d[a-z]?\)?\s*[,;:]\s*(?:see\s+)?$|\[\d+\s*[,;:]\s*$",
    re.IGNORECASE,
)
_ELSEWHERE_AFTER = re.compile(
    r"^\s*[,(]?\s*(?:of|in|from)\s+(?:\[|\(|[A-Z][\w’'-]+|the (?:original|supplement|online|paper|book|manual)|their)"
    r"|^\s*[,(]?\s*\[\d|^\s*[-—–]\s*[a-z]"
)
_CAPTION = re.compile(r"(?:^|[\n.;)]\s*)(Figure|Fig\.|Table|Tab\.|Algorithm)\s*(\d+)\s*[:.|–—]", re.IGNORECASE)
_EQUATION_LABEL = re.compile(r"\(\s*(\d+(?:\.\d+)*)[a-z]?\s*\)\s*$|\\tag\{\(?(\d+(?:\.\d+)*)")
_BRACKETED = re.compile(r"\(\s*(\d{1,3}(?:\.\d{1,3})*)[a-z]?\s*\)")
_INLINE_HEADING = re.compile(r"(?:^|\n)\s*(\d+(?:\.\d+)+|[A-Z](?:\.\d+)*)\.?\s+[A-Z]")


# Converters take prose for code, tables or figures now and then, and its references are still references.
_MAY_MENTION = frozenset({"paragraph", "list", "caption", "footnote", "code", "table", "figure", "equation"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to a label: ``Figure`` and ``3``; ``number`` is ``??`` where a reference was left unresolved."""

    kind: str
    number: str
    sentence: Sentence
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Label:
    """A figure, table or algorithm of the paper, by its caption."""

    kind: str
    number: str
    section: Section
    block: Block


def mentions_of(paper: Paper) -> Iterator[Mention]:
    """Every reference to a label of this paper, in reading order; the name at the head of a caption is none."""
    for sentence in sentences_of(paper, kinds=_MAY_MENTION):
        shown = plain(sentence.text)
        for found in _UNRESOLVED.finditer(shown):
            yield Mention(_kind(found["word"]), "??", sentence, found.span())
        for found in _MENTION.finditer(shown):
            own = sentence.block.kind == "caption" and sentence.start == 0 and found.start() < 3
            if own or _is_elsewhere(shown, found):
                continue
            for number in _numbers(found["numbers"]):
                yield Mention(_kind(found["word"]), number, sentence, found.span())


def labels_in(text: str) -> set[tuple[str, str]]:
    """The labels that a text names, as ``('Table', '2')``; 'Tables 1 and 2' names both."""
    found = _MENTION.finditer(plain(text))
    return {(_kind(one["word"]), number) for one in found for number in _numbers(one["numbers"])}


def labels_of(paper: Paper) -> list[Label]:
    """Figures, tables and algorithms by their captions, in reading order, each once."""
    found: dict[tuple[str, str], Label] = {}
    for section, block in paper.blocks():
        named = _MENTION.match(block.label or "")
        if named is None and block.kind == "caption":
            named = _MENTION.match(plain(block.text))
        if named is not None:
            for number in _numbers(named["numbers"]):
                found.setdefault((_kind(named["word"]), number), Label(_kind(named["word"]), number, section, block))
    return list(found.values())


def known_numbers(paper: Paper) -> dict[str, set[str]]:
    """All numbers by kind that something in the paper bears; captions and headings inside paragraphs count."""
    known: dict[str, set[str]] = defaultdict(set)
    for label in labels_of(paper):
        known[label.kind].add(label.number)
    for section in paper.sections:
        if section.number:
            known["Section"].add(section.number.rstrip("."))
        appendix = re.match(r"(?:Appendix\s+)?([A-Z])(?:[\s.:]|$)", section.heading)
        if appendix is not None:
            known["Section"].add(appendix[1])
    for _, block in paper.blocks():
        shown = plain(block.text)
        for found in _CAPTION.finditer(shown):
            known[_kind(found[1])].add(found[2])
        known["Equation"] |= set(equation_numbers(block) if block.kind == "equation" else _printed_numbers(shown))
        known["Section"] |= {found[1] for found in _INLINE_HEADING.finditer(shown)}
    return known


def equation_numbers(block: Block) -> Iterator[str]:
    """The numbers that an equation bears: its label, and brackets at the ends of its lines."""
    for text in (block.label or "", *block.text.splitlines()):
        for found in _EQUATION_LABEL.finditer(text):
            yield found[1] or found[2]


def _printed_numbers(shown: str) -> Iterator[str]:
    """Numbers in brackets that no reference to an equation accounts for: an equation read as text still bears one."""
    spans = [found.span() for found in _MENTION.finditer(shown)]
    for found in _BRACKETED.finditer(shown):
        if not any(start <= found.start() < end for start, end in spans):
            yield found[1]


def _kind(word: str) -> str:
    return next(name for start, name in _KINDS.items() if word.casefold().startswith(start))


def _is_elsewhere(shown: str, found: re.Match[str]) -> bool:
    before, after = shown[: found.start()], shown[found.end() :]
    return bool(_ELSEWHERE_BEFORE.search(before) or _ELSEWHERE_AFTER.search(after))


def _numbers(listed: str) -> Iterator[str]:
    bounds = _RANGE.search(listed)
    if bounds is not None and 0 < int(bounds[2]) - int(bounds[1]) < 20:
        yield from map(str, range(int(bounds[1]), int(bounds[2]) + 1))
    for found in _ONE.finditer(listed):
        yield found.group()
