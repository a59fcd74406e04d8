"""Figures, tables, sections, equations and algorithms: what a paper has, what it refers to, and where the two differ.

Figures, tables, sections, equations and algorithms: which numbers a paper has, and which it refers to.

References to a figure, table, section, equation or algorithm that the paper does not have.

``Figure ??`` is one for certain. A number counts as missing only if it is higher than every number of its kind that the
paper has, and the paper has at least two in a row from 1: a gap, or a paper without captions, is more likely a piece
that the converter lost. References into other works and supplements are passed over, and so is a paper with lost text.

An equation counts as there wherever its number is printed in brackets other than in a reference: converters take
equations for text. Nothing is said of equations where any text was lost, or where a PDF has equations
whose numbers were not read.

Figures and tables that the text never refers to.

A reference in another caption, a footnote or an appendix counts as one. A paper with lost text is passed over, and so
are figures before the first section, which need no reference, and papers that refer to none of the kind by number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, quoted, sentence_evidence, sentences_of, shortened
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


_LOSSES = frozenset({"lost_text", "missing_page"})


def dangling_label(paper: Paper) -> list[RuleHit]:
    """References to labels that are not there.

    Returns:
        One hit a label at most, at its first mention.
    """
    known = known_numbers(paper)
    lossy = _is_lossy(paper)
    if not _equations_known(paper):
        known["Equation"] = set()
    last = {(label.kind): label for label in labels_of(paper)}
    hits: dict[tuple[str, str], RuleHit] = {}
    for mention in mentions_of(paper):
        key = (mention.kind, mention.number)
        if key in hits:
            continue
        if mention.number == "??":
            hits[key] = _unresolved(mention)
        elif not lossy and _is_missing(mention, known.get(mention.kind, set())):
            hits[key] = _missing(mention, last.get(mention.kind))
    return list(hits.values())


def _is_lossy(paper: Paper) -> bool:
    """Whether text of the file is known to be missing."""
    return any(f.kind in _LOSSES and f.certainty != "low" for f in paper.findings)


def _equations_known(paper: Paper) -> bool:
    """Whether every equation that the paper prints was read with its number."""
    if any(f.kind in _LOSSES for f in paper.findings):
        return False
    equations = [block for _, block in paper.blocks() if block.kind == "equation"]
    return paper.format != "pdf" or all(any(equation_numbers(block)) for block in equations)


def _is_missing(mention: Mention, known: set[str]) -> bool:
    if mention.kind not in ("Figure", "Table", "Section", "Equation", "Algorithm") or not mention.number[0].isdigit():
        return False
    tops = {int(number.split(".")[0]) for number in known if number[0].isdigit()}
    top = int(mention.number.split(".")[0])
    whole = len(tops) >= 2 and tops == set(range(1, max(tops) + 1))
    return whole and max(tops) < top <= max(tops) + 20


def _unresolved(mention: Mention) -> RuleHit:
    return RuleHit(
        rule="dangling_label",
        claim=f"A reference to a {mention.kind.lower()} was left unresolved: it is printed as '??'.",
        kind="clarity",
        severity="note",
        evidence=(sentence_evidence(mention.sentence, "shows", around=mention.span),),
        numbers=("??",),
    )


def _missing(mention: Mention, last: Label | None) -> RuleHit:
    evidence = [sentence_evidence(mention.sentence, "shows", around=mention.span)]
    if last is not None:
        evidence.append(quoted(last.section, last.block, last.block.text, "contradicts"))
    named = f"{mention.kind} {mention.number}"
    return RuleHit(
        rule="dangling_label",
        claim=shortened(f"The text refers to {named}, and no {mention.kind.lower()} of the paper has that number."),
        kind="clarity",
        severity="note",
        evidence=tuple(evidence),
        numbers=(mention.number,),
    )


def unused_label(paper: Paper) -> list[RuleHit]:
    """Figures and tables without a reference.

    Returns:
        One hit a caption, in reading order.
    """
    if _is_lossy(paper):
        return []
    mentioned = {(mention.kind, mention.number) for mention in mentions_of(paper)}
    kinds = {kind for kind, _ in mentioned}
    return [
        RuleHit(
            rule="unused_label",
            claim=f"{label.kind} {label.number} is never referred to in the text.",
            kind="clarity",
            severity="note",
            evidence=(quoted(label.section, label.block, label.block.text, "shows"),),
            numbers=(label.number,),
        )
        for label in labels_of(paper)
        if label.kind in kinds and _needs_mention(label) and not _is_mentioned(label, mentioned)
    ]


def _needs_mention(label: Label) -> bool:
    shown = label.section.role in ("abstract", "content", "appendix")
    return shown and label.kind in ("Figure", "Table") and label.number[0].isdigit()


def _is_mentioned(label: Label, mentioned: set[tuple[str, str]]) -> bool:
    return (label.kind, label.number) in mentioned
