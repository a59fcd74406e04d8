"""Whether a quotation is in the paper, where, and in which words.

Rules: exact after normalisation; else similar to at least 0.80 (0.92 in mathematics) while numbers, signs and operators
agree exactly. An ellipsis splits a quotation into parts that must be found in order in one section. Only the passage
that comes closest is considered: where it disagrees on a digit, a less similar one does not rescue the quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from referee.evidence.guards import Difference, cuts_nothing, first_difference, is_mathematical, shortfall, substantial
from referee.evidence.normalise import normalise
from referee.evidence.passages import WALL, Aligned, Aligner, Passage, Passages
from referee.schemas.paper import Block, Paper, Section
from referee.schemas.point import Quotation

THRESHOLD = 0.80
MATHS_THRESHOLD = 0.92
MAX_CHARS = 2_000
MAX_PARTS = 8

NotFoundKind = Literal["refused", "absent", "differs"]

_CLOSEST_WORTH_NAMING = 0.6
_MAX_OCCURRENCES = 500
_MAX_SECTION = 60_000
_ELLIPSIS = re.compile(r"\[\s*\.{3,}\s*\]|\(\s*\.{3,}\s*\)|\.{3,}")
_LEADING = re.compile(r"^(?:['\s|]|- |\.\.\.|\[\.\.\.\]|[,;:!?)\]]|\.(?!\d))+")
_TRAILING = re.compile(r"(?:['\s|.,;:!?]|\[\.\.\.\])+$")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_EQUATION = re.compile(r"\[?\s*eq(?:uation|n)?s?\.?\s*\(?([\w.]+)\)?\s*\]?", re.IGNORECASE)
_DOLLAR = re.compile(r"(?<!\\)\$")
_FORMULA_CHARS = 200
_BROKEN = re.compile(r"(\w+)-\s*\n\s*(\w+)")
_DIFFERS = {
    "digits": "digits differ",
    "signs": "signs or operators differ",
    "negation": "one of the two is negated",
    "direction": "the direction differs",
    "names": "one-letter names differ",
}


@dataclass(frozen=True, slots=True)
class NotFound:
    """Why a quotation does not count.

    ``refused``: too short or too long to prove anything; ``absent``: no passage is close enough; ``differs``: the
    closest passage says something else. ``reason`` is written for the reader of the review.
    """

    kind: NotFoundKind
    reason: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A range of the whole text that stands for a quotation or a part of it."""

    start: int
    end: int
    similarity: float


class QuotationIndex:
    """Looks up quotations in one paper. Build it once; a lookup takes well under ten milliseconds.

    Args:
        paper: The paper. Everything but the authors' names is searched: prose across blocks and page breaks, tables,
            captions, footnotes, bibliography and title (see ``Passages`` for the ids of what has no section).
    """

    def __init__(self, paper: Paper) -> None:
        self._passages = Passages(paper)
        self._text = self._passages.text
        self._aligner = Aligner(self._text)
        self._equations = {name: match for section, block in paper.blocks() for name, match in _named(section, block)}

    def equation(self, name: str) -> Quotation | None:
        """The equation of that name: ``equation (4)`` by its printed number, or ``equation b12`` by its block's id."""
        named = _EQUATION.fullmatch(name.strip())
        return self._equations.get(named[1].casefold()) if named else None

    def unnumbered(self, name: str) -> NotFound | None:
        """Why an equation that a quotation names is not known; None for a quotation that names none.

        The same words elsewhere, as ``Equation 5`` in a sentence, are no formula.
        """
        if _EQUATION.fullmatch(name.strip()) is None or self.equation(name) is not None:
            return None
        return NotFound("absent", f"{name.strip()!r} names an equation, and the file has none of that number")

    def find(self, quote: str, *, section_id: str | None = None) -> Quotation | NotFound:
        """Look a quotation up.

        Args:
            quote: The quotation as the reviewer gave it; an ellipsis marks what was left out.
            section_id: Where it is said to stand. This section is preferred among equals and searched in full;
                an unknown id is ignored.

        Returns:
            The match in the paper's own words, or the reason why there is none. Nothing is raised for any string.
        """
        if len(quote) > MAX_CHARS:
            return NotFound("refused", f"too long: {len(quote)} characters, at most {MAX_CHARS} are looked up")
        if "›" not in quote:
            quote = quote.replace("‹", "<")  # in prompts a "<" that could open a tag is shown so
        wording = _stripped(normalise(quote).text)
        too_short = shortfall(wording)
        if too_short is not None:
            return NotFound("refused", too_short)
        whole = self._exact(wording, section_id)
        if whole is not None:
            return self._match([whole])
        parts = [part for piece in _ELLIPSIS.split(wording) if (part := _stripped(piece))]
        if len(parts) > 1:
            return self._split(wording, parts, section_id)
        found = self._similar(wording, section_id)
        return found if isinstance(found, NotFound) else self._match([found])

    def words(self, words: str, *, section_id: str | None = None) -> Quotation | None:
        """Words that stand in the paper letter by letter, however few: what a correction says is printed.

        They prove nothing by themselves, and nothing like them counts.
        """
        wording = _stripped(normalise(words).text)
        found = self._exact(wording, section_id) if any(map(str.isalnum, wording)) else None
        return self._match([found]) if found is not None else None

    def heads(self, words: str) -> bool:
        """Whether the words stand in a section's heading, which carries no quotations."""
        wording = _stripped(normalise(words).text)
        return bool(wording) and any(wording in heading for heading in self._passages.headings)

    def _exact(self, wording: str, section_id: str | None) -> _Found | None:
        for passage in self._passages.of(section_id):
            hit = self._occurrence(wording, passage.start, passage.end)
            if hit is not None:
                return hit
        return self._occurrence(wording, 0, len(self._text))

    def _occurrence(self, wording: str, low: int, high: int) -> _Found | None:
        """The first place where the wording stands whole: no word, number or sign cut at its edges."""
        at = low - 1
        for _ in range(_MAX_OCCURRENCES):
            at = self._text.find(wording, at + 1, high)
            if at < 0:
                return None
            if self._uncut(at, at + len(wording)):
                return _Found(at, at + len(wording), 1.0)
        return None

    def _uncut(self, start: int, end: int) -> bool:
        """Whether a range of the whole text stands in one passage and cuts nothing at its edges."""
        if start >= end or WALL in self._text[start:end]:
            return False
        return cuts_nothing(self._passages.at(start), start, end)

    def _similar(self, wording: str, section_id: str | None) -> _Found | NotFound:
        """The closest passage, if it is close enough and agrees where it must."""
        slack = max(40, len(wording) // 2)
        ranges = [(at - slack, at + len(wording) + 2 * slack) for at in self._aligner.places(wording)]
        best = self._closest(wording, ranges)
        if best is None or best.similarity < THRESHOLD:
            hinted = [(p.start, min(p.end, p.start + _MAX_SECTION)) for p in self._passages.of(section_id)]
            best = max(best, self._closest(wording, hinted), key=lambda a: a.similarity if a else -1.0)
        if best is None or best.similarity < _CLOSEST_WORTH_NAMING:
            return NotFound("absent", "not in the paper")
        return self._judged(wording, best)

    def _closest(self, wording: str, ranges: list[tuple[int, int]]) -> Aligned | None:
        found = (
            self._aligner.align(wording, max(0, low), min(len(self._text), high), self._uncut) for low, high in ranges
        )
        return max((a for a in found if a is not None), key=lambda a: (a.similarity, -a.start), default=None)

    def _judged(self, wording: str, best: Aligned) -> _Found | NotFound:
        span = self._text[best.start : best.end]
        passage = self._passages.at(best.start)
        low, high = passage.source_span(best.start, best.end)
        pieces = passage.pieces_of(low, high)
        maths = any(p.kind == "equation" for p in pieces) or is_mathematical(wording) or is_mathematical(span)
        place = f"{passage.label}, p. {pieces[0].page}" if pieces[0].page is not None else passage.label
        if best.similarity < (MATHS_THRESHOLD if maths else THRESHOLD):
            agrees = f"agrees to {int(best.similarity * 100)}%" + (", too little for mathematics" if maths else "")
            return NotFound("absent", f"not in the paper; the closest passage ({place}) {agrees}")
        difference = first_difference(wording, span, mathematics=maths)
        if difference is not None:
            return NotFound("differs", _difference_reason(difference, place))
        return _Found(best.start, best.end, best.similarity)

    def _split(self, wording: str, parts: list[str], section_id: str | None) -> Quotation | NotFound:
        """All parts of an elided quotation, in order, in one section; or the dots are the paper's own."""
        if len(parts) > MAX_PARTS:
            return NotFound("refused", f"split into {len(parts)} parts by ellipses, at most {MAX_PARTS} are looked up")
        for part in parts:
            if not substantial(part, words=2, letters=6):
                return NotFound("refused", f"too short between ellipses to be told apart: {part[:40]!r}")
        for passage in self._likely(max(parts, key=len), section_id):
            found = self._sequence(parts, passage)
            if found is not None:
                return self._match(found)
        whole = self._similar(wording, section_id)
        if isinstance(whole, _Found) and _ELLIPSIS.search(self._text, whole.start, whole.end):
            return self._match([whole])
        for part in parts:
            alone = self._exact(part, section_id) or self._similar(part, section_id)
            if isinstance(alone, NotFound):
                return NotFound(alone.kind, f"{alone.reason} (the part {part[:60]!r})")
        return NotFound("absent", "its parts do not follow one another in one section")

    def _likely(self, part: str, section_id: str | None) -> list[Passage]:
        """Passages that may hold the part, the hinted section first, each once."""
        found: list[Passage] = self._passages.of(section_id)
        found += [passage for passage in self._passages if part in passage.normalised.text][:8]
        found += [self._passages.at(at + len(part) // 2) for at in self._aligner.places(part)]
        return list({passage.start: passage for passage in found}.values())

    def _sequence(self, parts: list[str], passage: Passage) -> list[_Found] | None:
        found: list[_Found] = []
        at = passage.start
        for part in parts:
            hit = self._occurrence(part, at, passage.end) or self._similar_within(part, at, passage.end)
            if hit is None:
                return None
            found.append(hit)
            at = hit.end
        return found

    def _similar_within(self, part: str, low: int, high: int) -> _Found | None:
        slack = max(40, len(part) // 2)
        places = [at for at in self._aligner.places(part) if low - slack <= at < high]
        ranges = [(max(low, at - slack), min(high, at + len(part) + 2 * slack)) for at in places]
        best = self._closest(part, ranges)
        judged = None if best is None else self._judged(part, best)
        return judged if isinstance(judged, _Found) else None

    def _match(self, found: list[_Found]) -> Quotation:
        passage = self._passages.at(found[0].start)
        source = passage.normalised.source
        spans = [_whole_formulas(source, *passage.source_span(f.start, f.end)) for f in found]
        first = passage.pieces_of(*spans[0])[0]
        similarity = min(f.similarity for f in found)
        return Quotation(
            quote=" […] ".join(self._on_one_line(source[low:high]) for low, high in spans),
            status="exact" if similarity == 1.0 else "fuzzy",
            similarity=round(similarity, 4) if similarity == 1.0 else min(round(similarity, 4), 0.9999),
            section_id=passage.section_id,
            section=passage.heading,
            label=first.label,
            page=first.page,
            box=first.box,
        )

    def _on_one_line(self, source: str) -> str:
        """The paper's own wording without line breaks, ligatures and characters that cannot be seen.

        A hyphen at a line's end is kept where the paper hyphenates that word within a line as well.
        """
        seen = _UNSEEN.sub("", _BROKEN.sub(self._mended, source))
        return " ".join(seen.translate(_LIGATURES).split())

    def _mended(self, broken: re.Match[str]) -> str:
        kept = f"{broken[1]}-{broken[2]}"
        if not (broken[1][-1].isalpha() and broken[2][0].islower()):
            return kept
        return kept if any(kept in passage.normalised.source for passage in self._passages) else broken[1] + broken[2]


def _named(section: Section, block: Block) -> Iterator[tuple[str, Quotation]]:
    if block.kind == "equation":
        match = Quotation(
            quote=block.text,
            status="exact",
            section_id=section.id,
            section=section.heading,
            page=block.page,
            box=block.box,
        )
        yield from ((name.strip("()").casefold(), match) for name in (block.id, block.label) if name)


def _whole_formulas(source: str, low: int, high: int) -> tuple[int, int]:
    """A range with the whole of a formula that it begins or ends in, whose dollar signs are no part of the wording."""
    start = source.rfind("\n\n", 0, low) + 1
    signs = [match.start() for match in _DOLLAR.finditer(source, start, high + _FORMULA_CHARS)]
    pairs = zip(signs[::2], signs[1::2], strict=False)
    for first, last in pairs:
        if last - first > _FORMULA_CHARS or "\n\n" in source[first:last]:
            continue
        if first < low <= last:
            low = first
        if first < high <= last:
            high = last + 1
    return low, high


def _stripped(wording: str) -> str:
    return _TRAILING.sub("", _LEADING.sub("", wording))


def _difference_reason(difference: Difference, place: str) -> str:
    quoted, found = difference.quoted or "nothing", difference.found or "nothing"
    return f"{_DIFFERS[difference.kind]}: {quoted} against {found} in the closest passage ({place})"
