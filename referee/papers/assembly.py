"""From pieces in reading order to the sections, references and abstract of a ``Paper``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.bibliography import looks_like_entry, parse_entry
from referee.papers.floats import part_unheaded, return_floats
from referee.papers.headings import (
    BARE_ABSTRACT,
    RUN_IN_ABSTRACT,
    is_introduction,
    is_known_name,
    plain_name,
    role_by_name,
)
from referee.papers.people import is_address
from referee.papers.pieces import LONG_WORDS, Entry, OpenSection, Piece
from referee.schemas.paper import Block, Finding, Reference, Repair, Section, SectionRole

_FEWEST_HEADINGS = 3
# What stands behind an abstract under its heading: keywords in the languages of ``headings``, codes, a count of words.
_ABSTRACT_END = re.compile(
    r"(?:^|(?<=[.。!?）)]))[ *_]*(?:key ?-?words?(?: and phrases)?|index terms|ccs concepts|word count"
    r"|jel(?: codes?| classification)*|clinical trial number|关键词|关键字|關鍵詞|キーワード|palabras clave"
    r"|palavras[- ]chave|mots[- ]clés|schlüsselwörter|schlagwörter)[*_]*(?:\s*[.:：—–]|\s*$|(?-i:\s+(?=[A-Z])))",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(r"(?:Notes?|Remarks?|Hinweise?|Anmerkung(?:en)?|Notas?|Remarques?)\s*:")
_LABEL_ALONE = re.compile(r"\[?\d{1,3}[\].)]+")


@dataclass(frozen=True)
class Assembled:
    """Sections in reading order with what was read from them."""

    sections: tuple[Section, ...]
    references: tuple[Reference, ...]
    abstract: str
    findings: tuple[Finding, ...]
    repairs: tuple[Repair, ...]


def assemble(pieces: Sequence[Piece], *, front_first: bool, front: Sequence[Piece] = ()) -> Assembled:
    """Group pieces under their headings and give every section its role.

    Args:
        pieces: In reading order, the title not among them.
        front_first: Whether short text before the first heading is authors and affiliations even when neither an
            abstract nor an introduction follows it (true for PDF, and where a title is known). In files without
            pages, which keep their order, so is all before the abstract's heading, unless it is the text's.
        front: Authors and affiliations that a reader knows by their markup.

    Returns:
        Sections, the bibliography, the abstract's text, and ``no_headings`` when no heading was there: then all text
        stands in one content section 'Text'. Floats among authors, acknowledgements and references, and running text
        behind the references, stand in sections that are read; ``repairs`` say which.
    """
    heads = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    if not heads:
        sections = [OpenSection("Text", 1, None, "content", list(pieces))] if pieces else []
        finding = Finding(
            kind="no_headings",
            message="No heading was found; the whole text stands in one section named 'Text'.",
            certainty="high",
        )
        return _close(_with_front(sections, front), (finding,), [])
    names = [pieces[index].text for index in heads]
    first = heads[0]
    lead = _lead_sections(pieces[:first], pieces[first], front_first)
    named = next((index for index in heads if is_known_name(pieces[index].text)), 0)
    if front_first and named and role_by_name(pieces[named].text) == "abstract" and pieces[named].page is None:
        lead, first = [OpenSection("Front matter", 1, None, "front", list(pieces[:named]))], named
    sections, repairs = part_unheaded([*lead, *_headed_sections(pieces[first:])])
    repairs += return_floats(sections)
    unknown = Finding(
        kind="unknown_headings",
        message=f"None of the {len(names)} headings ({names[0]!r}, ...) is one that is known in English, Chinese, "
        "Japanese, Spanish, Portuguese, French or German; abstract, references and thanks are read as text.",
        certainty="medium",
    )
    is_known = len(names) < _FEWEST_HEADINGS or any(map(is_known_name, names))
    return _close(_with_front(sections, front), () if is_known else (unknown,), repairs)


def _with_front(sections: list[OpenSection], front: Sequence[Piece]) -> list[OpenSection]:
    """Authors and affiliations joined to the front matter, which stands before all else and no reviewer is shown."""
    if not front:
        return sections
    had = [piece for section in sections if section.role == "front" for piece in section.pieces]
    others = [section for section in sections if section.role != "front"]
    return [OpenSection("Front matter", 1, None, "front", [*front, *had]), *others]


def _lead_sections(lead: Sequence[Piece], heading: Piece, front_first: bool) -> list[OpenSection]:
    """What stands before the first heading: authors, then an abstract that has no heading of its own."""
    opens_paper = is_introduction(heading.text) or heading.number in ("1", "I")
    has_front = front_first or opens_paper or role_by_name(heading.text) == "abstract"
    run_in = [i for i, piece in enumerate(lead) if RUN_IN_ABSTRACT.match(piece.text)]
    running = run_in or [
        i
        for i, piece in enumerate(lead)
        if piece.kind in ("paragraph", "list", "table")
        and len(piece.text.split()) >= LONG_WORDS
        and not is_address(piece.text)
    ]
    cut = next(iter(running), len(lead)) if has_front or run_in else 0
    sections = [OpenSection("Front matter", 1, None, "front", list(lead[:cut]))] if cut else []
    rest = list(lead[cut:])
    if not rest:
        return sections
    if match := RUN_IN_ABSTRACT.match(rest[0].text):
        rest[0] = replace(rest[0], text=rest[0].text[match.end() :])
        return [*sections, OpenSection("Abstract", 1, None, "abstract", rest)]
    if not (opens_paper and front_first):
        return [*sections, OpenSection("Text", 1, None, "content", rest)]
    rest[0] = replace(rest[0], text=BARE_ABSTRACT.sub("", rest[0].text, count=1))
    return [*sections, OpenSection("Abstract", 1, None, "abstract", rest)]


def _headed_sections(pieces: Sequence[Piece]) -> list[OpenSection]:
    sections: list[OpenSection] = []
    before = _Before()
    for piece in pieces:
        if piece.kind == "heading":
            section = OpenSection(piece.text, piece.level, piece.number, before.role_of(piece))
            before.add(section)
            sections.append(section)
        elif sections[-1].role == "references" and _LABEL_ALONE.fullmatch(sections[-1].last_text):
            sections[-1].pieces[-1] = replace(piece, text=f"{sections[-1].last_text} {piece.text}")
        else:
            sections[-1].pieces.append(piece)
    return sections


class _Before:
    """What the sections so far say about the next one's role; a paper of very many headings is still read in time."""

    def __init__(self) -> None:
        self.roles: set[SectionRole] = set()
        self.roman = self.begun = self.anew = False
        self.numbers: set[str] = set()
        self.abstracts: list[str] = []
        self.parents: list[OpenSection] = []

    def add(self, section: OpenSection) -> None:
        self.roles.add(section.role)
        self.numbers.add(section.number or "")
        self.abstracts += [section.heading] if section.role == "abstract" else []
        self.roman = self.roman or section.number == "I"
        self.begun = self.begun or is_introduction(section.heading)
        self._leave(section.level)
        self.parents.append(section)

    def role_of(self, heading: Piece) -> SectionRole:
        """By name, then by an appendix letter, then from the section above, then by standing after the references.

        There, a number that was there before begins a supplement.
        """
        named = role_by_name(heading.text)
        if named and not (named == "abstract" and self._is_late(heading)):
            return named
        self._leave(heading.level)
        if self.parents and self.parents[-1].role in ("appendix", "checklist"):
            return self.parents[-1].role
        past_references = "references" in self.roles
        behind = past_references or "appendix" in self.roles
        self.anew = self.anew or (behind and heading.number in self.numbers)
        is_letter = heading.number is not None and heading.number[0].isalpha()
        roman = self.roman or heading.number == "I"
        if is_letter and ((heading.level == 1 and not roman) or past_references):
            return "appendix"
        return "appendix" if self.anew or (behind and heading.number is None) else "content"

    def _is_late(self, heading: Piece) -> bool:
        """Whether an abstract's name stands where none does: 'Summary' at the end, twice; languages have one each."""
        again = any(plain_name(heading.text) == plain_name(name) for name in self.abstracts)
        behind = "content" in self.roles and ("abstract" in self.roles or heading.number is not None)
        return self.begun or again or behind

    def _leave(self, level: int) -> None:
        """Forget the sections that can be above nothing that follows a heading of this level."""
        while self.parents and self.parents[-1].level >= level:
            self.parents.pop()


def _close(open_sections: Sequence[OpenSection], findings: tuple[Finding, ...], repairs: Sequence[Repair]) -> Assembled:
    sections: list[Section] = []
    references: list[Reference] = []
    block_count = 0
    for index, section in enumerate(open_sections, start=1):
        blocks = []
        for piece in section.pieces:
            block_count += 1
            blocks.append(
                Block(
                    id=f"b{block_count}",
                    kind=piece.kind,
                    text=piece.text,
                    page=piece.page,
                    box=piece.box,
                    cells=piece.cells,
                    label=piece.label,
                )
            )
            if section.role == "references" and (entry := _entry(piece, section.pieces)) is not None:
                references.append(
                    Reference(
                        id=f"r{len(references) + 1}",
                        text=piece.text,
                        label=entry.label,
                        authors=entry.authors,
                        title=entry.title,
                        year=entry.year,
                        venue=entry.venue,
                        doi=entry.doi,
                        page=piece.page,
                    )
                )
        sections.append(
            Section(
                id=f"s{index}",
                heading=section.heading,
                level=max(1, section.level),
                number=section.number,
                role=section.role,
                blocks=tuple(blocks),
            )
        )
    texts = [section.text for section in sections if section.role == "abstract"]
    abstract = "\n\n".join(filter(None, (_ABSTRACT_END.split(text, maxsplit=1)[0].strip() for text in texts)))
    return Assembled(tuple(sections), tuple(references), abstract, findings, tuple(repairs))


def _entry(piece: Piece, section: Sequence[Piece]) -> Entry | None:
    """What an entry holds; none for other text, as a PDF has among entries that were cut out of its pages."""
    if _REMARK.match(piece.text):
        return None
    if piece.kind == "reference" and any(map(str.isalpha, piece.text)):
        return piece.entry or parse_entry(piece.text)
    cut = piece.page is not None and any(one.kind == "reference" for one in section)
    if piece.kind in ("paragraph", "list") and not cut and looks_like_entry(piece.text):
        return parse_entry(piece.text)
    return None
