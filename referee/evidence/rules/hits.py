"""What a rule reports: one sentence, the places that show it, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from referee.evidence.ledger import LedgerEntry, sentence_spans
from referee.schemas.paper import Block, Box, Paper, Section

Kind = Literal["error", "contradiction", "unsupported", "statistics", "clarity"]
Severity = Literal["major", "minor", "note"]
Role = Literal["shows", "contradicts"]

MAX_CLAIM = 300
MAX_QUOTE_WORDS = 60

# Longer than this is no sentence but a listing or a table without lines.
_MAX_SENTENCE = 3000
_PROSE = frozenset({"paragraph", "list", "caption", "footnote"})
_READ = frozenset({"abstract", "content", "appendix"})


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """A quotation, word for word from one block (white space apart), and its place."""

    quote: str
    role: Role
    section_id: str
    section: str
    block_id: str
    page: int | None
    box: Box | None


@dataclass(frozen=True, slots=True)
class RuleHit:
    """Something that arithmetic or counting shows about a paper; it accuses nobody.

    ``claim`` is one sentence of at most 300 characters. ``kind`` and ``severity`` use the words of a review point; a
    ``contradiction`` has two pieces of evidence, and where both numbers stand in one sentence that sentence is quoted
    once. ``numbers`` are as printed, in the order of the claim.
    """

    rule: str
    claim: str
    kind: Kind
    severity: Severity
    evidence: tuple[RuleEvidence, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of prose with its place; ``start`` is its offset in the block's text."""

    text: str
    start: int
    section: Section
    block: Block


def sentences_of(paper: Paper, *, kinds: frozenset[str] = _PROSE) -> Iterator[Sentence]:
    """Every sentence of abstract, sections and appendix, in reading order; what is too long to be one is left out."""
    for section, block in paper.blocks():
        if section.role in _READ and block.kind in kinds:
            for start, end in sentence_spans(block.text):
                if end - start <= _MAX_SENTENCE:
                    yield Sentence(block.text[start:end], start, section, block)


def quoted(section: Section, block: Block, text: str, role: Role, *, around: tuple[int, int] = (0, 0)) -> RuleEvidence:
    """Evidence from a block, cut to sixty words around the range that matters."""
    return RuleEvidence(_cut(text, around), role, section.id, section.heading, block.id, block.page, block.box)


def sentence_evidence(sentence: Sentence, role: Role, *, around: tuple[int, int] = (0, 0)) -> RuleEvidence:
    """A sentence as evidence."""
    return quoted(sentence.section, sentence.block, sentence.text, role, around=around)


def entry_evidence(entry: LedgerEntry, role: Role) -> RuleEvidence:
    """The sentence or table row of a ledger entry as evidence."""
    at = entry.sentence.find(entry.text)
    around = (max(at, 0), max(at, 0) + len(entry.text))
    return RuleEvidence(
        _cut(entry.sentence, around), role, entry.section_id, entry.section, entry.block_id, entry.page, entry.box
    )


def shortened(claim: str) -> str:
    """A claim within its bound, cut at a word."""
    if len(claim) <= MAX_CLAIM:
        return claim
    return claim[: MAX_CLAIM - 1].rsplit(" ", 1)[0] + "…"


def figure(value: float) -> str:
    """A computed number in print: three digits, no exponent where it can be helped."""
    shown = f"{value:.3g}"
    if "e" not in shown:
        return shown
    return f"{value:.2e}" if abs(value) < 1 else f"{value:.0f}"


def _cut(text: str, around: tuple[int, int]) -> str:
    words = text.split()
    if len(words) <= MAX_QUOTE_WORDS:
        return " ".join(words)
    first = len(text[: around[0]].split())
    last = max(first + 1, len(text[: around[1]].split()))
    start = max(0, min(first - 20, last + 20 - MAX_QUOTE_WORDS, len(words) - MAX_QUOTE_WORDS))
    if last - start > MAX_QUOTE_WORDS:
        start = first
    return " ".join(words[start : start + MAX_QUOTE_WORDS])
