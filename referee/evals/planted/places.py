"""Where the two ends of planted errors stand in a copy of a paper, and where a review's quotations stand in it.

Source: the specification's section 6, "Place".
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from referee.evals.behaviour.cross_references import Target, cross_references
from referee.evidence import QuotationIndex, split_sentences
from referee.evidence.stems import stems
from referee.schemas.paper import Block, Converter, Paper, Section
from referee.schemas.planted import PlantedKey, PlantedRecord
from referee.schemas.point import Quotation

Twin = Literal["planted", "clean"]

_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\n#|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(?P<words>[^\n]+)")
_NUMBERED = re.compile(r"(?:Appendix\s+)?(?P<number>\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)[.:]?\s+(?P<words>.+)", re.IGNORECASE)
_CAPTION = re.compile(r"\W*(?P<kind>Tab(?:le|\.)|Fig(?:ure|\.))\s*(?P<number>[A-Z]?\d+[a-z]?)\s*[.:*]", re.IGNORECASE)
_TAG = re.compile(r"\\tag\{\(?(?P<tag>[\w.]+)\)?\}|\((?P<end>\d{1,3})\)\s*(?:\$\$)?\s*\Z")
# Headings that reviews name by their word alone; others ("Results", "Method") are words of any remark.
_NAMED_ALONE = re.compile(r"abstract|introduction|conclusions?|limitations?|setup", re.IGNORECASE)
_FEWEST_WORDS = 2
_ELLIPSIS = re.compile(r"\s*\[(?:…|\.\.\.)\]\s*|\s*(?:…|\.\.\.)\s*")
_WORDS_OF_A_PART = 4
_ENOUGH_PARAGRAPHS = 30
_COMMON = 0.1


@dataclass(frozen=True)
class Spot:
    """A place in a copy: the paragraph's number, and the numbers of its sentences; none where only it is known."""

    paragraph: int
    sentences: frozenset[int] = frozenset()

    def meets(self, other: Spot) -> bool:
        """Whether both touch one sentence."""
        return self.paragraph == other.paragraph and bool(self.sentences & other.sentences)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, or a whole table, of the Markdown; ``start`` is its offset in characters.

    ``labels`` are what the paper calls it (``Table 2``, equation 4) and the sections that hold it.
    """

    start: int
    text: str
    heading: str = ""
    labels: frozenset[Target] = frozenset()

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each sentence, of a table each line, in characters of the paragraph."""
        parts = self.text.splitlines() if self.text.lstrip().startswith("|") else split_sentences(self.text)
        spans, at = [], 0
        for part in parts:
            at = self.text.index(part, at)
            spans.append((at, at + len(part)))
            at += len(part)
        return tuple(spans)

    def touched(self, start: int, end: int) -> frozenset[int]:
        """The sentences that a range touches; of an empty range the one around it, or else the last before it."""
        found = [n for n, (low, high) in enumerate(self.sentences) if low < max(end, start + 1) and start < high]
        before = [n for n, (low, _) in enumerate(self.sentences) if low <= start]
        return frozenset(found or before[-1:])


@dataclass(frozen=True)
class Ends:
    """Where a record stands in one copy: its edits, its anchors, and by what names a review can point at either."""

    edits: tuple[Spot, ...]
    anchors: tuple[Spot, ...]

    @property
    def all(self) -> tuple[Spot, ...]:
        """Edits and anchors: either end of a contradiction counts."""
        return (*self.edits, *self.anchors)


class CopyText:
    """A copy's Markdown as the matcher reads it.

    Args:
        text: The Markdown.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.paragraphs = tuple(_labelled(list(_paragraphs(text))))
        self._index = QuotationIndex(_as_paper(self.paragraphs))
        self._known: dict[str, tuple[Spot, ...]] = {}

    @property
    def words(self) -> int:
        """Words of the copy."""
        return len(self.text.split())

    @cached_property
    def common_stems(self) -> frozenset[str]:
        """Stems of words in more than a tenth of the paragraphs, of which there are enough to say so."""
        if len(self.paragraphs) < _ENOUGH_PARAGRAPHS:
            return frozenset()
        counts = Counter(stem for paragraph in self.paragraphs for stem in set(stems(paragraph.text)))
        return frozenset(stem for stem, n in counts.items() if n > _COMMON * len(self.paragraphs))

    def spot(self, start: int, end: int) -> Spot:
        """The place of a range of the Markdown."""
        number = max(0, sum(paragraph.start <= start for paragraph in self.paragraphs) - 1)
        paragraph = self.paragraphs[number]
        return Spot(number, paragraph.touched(start - paragraph.start, end - paragraph.start))

    def find(self, quote: str) -> tuple[Spot, ...]:
        """Where a quotation stands; empty where it is not in the copy.

        Parts around an ellipsis are looked up one by one, and where the whole is nowhere, its sentences are.
        """
        if quote not in self._known:
            found = [spot for part in _ELLIPSIS.split(quote) if part.strip() for spot in self._found(part)]
            if not found and len(parts := split_sentences(quote)) > 1:
                found = [spot for part in parts if len(part.split()) >= _WORDS_OF_A_PART for spot in self._found(part)]
            self._known[quote] = tuple(found)
        return self._known[quote]

    def names(self, spot: Spot, said: str) -> bool:
        """Whether a text names the label or the section that holds a place."""
        paragraph = self.paragraphs[spot.paragraph]
        named = cross_references(said)
        return any(
            target == label or (label.kind == target.kind == "section" and label.number.startswith(f"{target.number}."))
            for target in (*named.core, *named.extra)
            for label in paragraph.labels
        ) or _names_heading(paragraph.heading, said)

    def _found(self, part: str) -> tuple[Spot, ...]:
        found = self._index.find(part)
        if not isinstance(found, Quotation):
            return ()
        number = int(found.section_id)
        paragraph = self.paragraphs[number]
        lines = [" ".join(paragraph.text[low:high].split()) for low, high in paragraph.sentences]
        start = " ".join(lines).find(found.quote)
        if start < 0:
            return (Spot(number),)
        low, touched = 0, set()
        for at, line in enumerate(lines):
            if low < start + len(found.quote) and start < low + len(line):
                touched.add(at)
            low += len(line) + 1
        return (Spot(number, frozenset(touched)),)


def ends_of(record: PlantedRecord, key: PlantedKey, copy: CopyText, twin: Twin) -> Ends:
    """Where a record's edits and anchors stand in one of the twins."""
    edits = sorted({(e.start, e.end, len(e.after)) for r in key.records for e in r.edits})
    if twin == "clean":
        own = [(edit.start, edit.end) for edit in record.edits]
        proofs = [(_back(anchor.start, edits), _back(anchor.end, edits)) for anchor in record.anchors]
    else:
        moved = [(_forth(edit.start, edits), len(edit.after)) for edit in record.edits]
        own = [(start, start + length) for start, length in moved]
        proofs = [(anchor.start, anchor.end) for anchor in record.anchors]
    return Ends(tuple(copy.spot(*span) for span in own), tuple(copy.spot(*span) for span in proofs))


def _forth(offset: int, edits: Sequence[tuple[int, int, int]]) -> int:
    """An offset of the clean copy, in the planted one."""
    return offset + sum(length - (end - start) for start, end, length in edits if start < offset)


def _back(offset: int, edits: Sequence[tuple[int, int, int]]) -> int:
    """An offset of the planted copy, in the clean one; inside an edit its beginning."""
    shift = 0
    for start, end, length in edits:
        if start + shift + length <= offset:
            shift += length - (end - start)
        elif start + shift < offset:
            return start
    return offset - shift


def _paragraphs(text: str) -> Iterator[Paragraph]:
    heading, number = "", ""
    for found in _PARAGRAPH.finditer(text):
        piece, start = found.group(), found.start()
        title = _HEADING.match(piece)
        if title:
            words = title["words"].strip()
            numbered = _NUMBERED.fullmatch(words)
            heading, number = (numbered["words"], numbered["number"]) if numbered else (words, "")
            piece, start = piece[title.end() :], start + title.end()
        if piece.strip():
            start += len(piece) - len(piece.lstrip())
            yield Paragraph(start, piece.strip(), heading, frozenset(_section_labels(number)))


def _section_labels(number: str) -> Iterator[Target]:
    if number:
        yield Target("section", number.lower())
    if number[:1].isalpha():
        yield Target("appendix", number.lower())


def _labelled(paragraphs: list[Paragraph]) -> Iterator[Paragraph]:
    """The paragraphs with their captions' labels; a table takes that of the caption beside it, before or behind."""
    own = [_own_labels(paragraph.text) for paragraph in paragraphs]
    for number, paragraph in enumerate(paragraphs):
        labels = own[number]
        if not labels and paragraph.text.startswith(("|", "!")):
            beside = [own[n] for n in (number - 1, number + 1) if 0 <= n < len(own)]
            labels = next((found for found in beside if found), frozenset())
        yield Paragraph(paragraph.start, paragraph.text, paragraph.heading, paragraph.labels | labels)


def _own_labels(text: str) -> frozenset[Target]:
    if caption := _CAPTION.match(text):
        kind = "table" if caption["kind"].lower().startswith("tab") else "figure"
        return frozenset((Target(kind, caption["number"].lower()),))
    return frozenset(Target("equation", (tag["tag"] or tag["end"]).lower()) for tag in _TAG.finditer(text))


def _names_heading(heading: str, said: str) -> bool:
    words = " ".join(heading.split())
    if not _NAMED_ALONE.fullmatch(words) and len(words.split()) < _FEWEST_WORDS:
        return False
    return re.search(rf"\b{re.escape(words.rstrip('s'))}s?\b", said, re.IGNORECASE) is not None


def _as_paper(paragraphs: Sequence[Paragraph]) -> Paper:
    """The copy as the look-up takes it: each paragraph a section under its number, so that a match says which it is."""
    text = "\n\n".join(paragraph.text for paragraph in paragraphs)
    return Paper(
        paper_id=hashlib.sha256(text.encode()).hexdigest(),
        title="",
        format="text",
        sections=tuple(
            Section(
                id=str(number),
                heading=paragraph.heading,
                level=1,
                blocks=(Block(id=f"b{number}", kind="paragraph", text=paragraph.text),),
            )
            for number, paragraph in enumerate(paragraphs)
        ),
        converter=Converter(name="none", version="0"),
    )
