"""From pieces in reading order to the sections, references and abstract of a ``Paper``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.bibliography import completed, looks_like_entry, parse_entry
from referee.papers.floats import part_unheaded, return_floats
from referee.papers.headings import plain_name, role_by_name
from referee.papers.pieces import Entry, OpenSection, Piece
from referee.schemas.paper import Block, Finding, Reference, Repair, Section, SectionRole

_LONG_WORDS = 40
_RUN_IN_ABSTRACT = re.compile(r"^abstract\s*[.:—–-]+\s*(?=\S)", re.IGNORECASE)


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
            abstract nor an introduction follows it (true for PDF).
        front: Authors and affiliations that a reader knows by their markup.

    Returns:
        Sections, the bibliography, the abstract's text, and ``no_headings`` when no heading was there: then all text
        stands in one content section 'Text'. Floats among authors, acknowledgements and references, and running text
        behind the references, stand in sections that are read; ``repairs`` say which.
    """
    first = next((i for i, piece in enumerate(pieces) if piece.kind == "heading"), None)
    if first is None:
        sections = [OpenSection("Text", 1, None, "content", list(pieces))] if pieces else []
        finding = Finding(
            kind="no_headings",
            message="No heading was found; the whole text stands in one section named 'Text'.",
            certainty="high",
        )
        return _close(_with_front(sections, front), (finding,), [])
    lead = _lead_sections(pieces[:first], pieces[first], front_first)
    sections, repairs = part_unheaded([*lead, *_headed_sections(pieces[first:])])
    repairs += return_floats(sections)
    return _close(_with_front(sections, front), (), repairs)


def _with_front(sections: list[OpenSection], front: Sequence[Piece]) -> list[OpenSection]:
    """Authors and affiliations joined to the front matter, which stands before all else and no reviewer is shown."""
    if not front:
        return sections
    had = [piece for section in sections if section.role == "front" for piece in section.pieces]
    others = [section for section in sections if section.role != "front"]
    return [OpenSection("Front matter", 1, None, "front", [*front, *had]), *others]


def lead_front(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Part the short paragraphs between a known title and the first heading (authors, addresses) from the rest.

    They end at the first paragraph of 40 words or with 'Abstract' at its head; without a heading nothing is parted.
    """
    first = next((index for index, piece in enumerate(pieces) if piece.kind == "heading"), 0)
    cut = 0
    while cut < first and not _is_running(pieces[cut]):
        cut += 1
    return list(pieces[:cut]), list(pieces[cut:])


def _is_running(piece: Piece) -> bool:
    if piece.kind not in ("paragraph", "list", "footnote"):
        return True
    words = piece.text.split()
    return len(words) >= _LONG_WORDS or plain_name(words[0]) in ("abstract", "summary")


def _lead_sections(lead: Sequence[Piece], heading: Piece, front_first: bool) -> list[OpenSection]:
    """What stands before the first heading: authors, then an abstract that has no heading of its own."""
    opens_paper = plain_name(heading.text) == "introduction" or heading.number in ("1", "I")
    has_front = front_first or opens_paper or role_by_name(heading.text) == "abstract"
    cut = next((i for i, piece in enumerate(lead) if _is_running_text(piece)), len(lead)) if has_front else 0
    sections = []
    if cut:
        sections.append(OpenSection("Front matter", 1, None, "front", list(lead[:cut])))
    rest = list(lead[cut:])
    if not rest:
        return sections
    if match := _RUN_IN_ABSTRACT.match(rest[0].text):
        rest[0] = replace(rest[0], text=rest[0].text[match.end() :])
        return [*sections, OpenSection("Abstract", 1, None, "abstract", rest)]
    role: SectionRole = "abstract" if opens_paper and front_first else "content"
    return [*sections, OpenSection("Abstract" if role == "abstract" else "Text", 1, None, role, rest)]


def _is_running_text(piece: Piece) -> bool:
    if piece.kind not in ("paragraph", "list"):
        return False
    return len(piece.text.split()) >= _LONG_WORDS or bool(_RUN_IN_ABSTRACT.match(piece.text))


def _headed_sections(pieces: Sequence[Piece]) -> list[OpenSection]:
    sections: list[OpenSection] = []
    before = _Before()
    for piece in pieces:
        if piece.kind == "heading":
            section = OpenSection(piece.text, piece.level, piece.number, before.role_of(piece))
            before.add(section)
            sections.append(section)
        else:
            sections[-1].pieces.append(piece)
    return sections


class _Before:
    """What the sections so far say about the next one's role; a paper of very many headings is still read in time."""

    def __init__(self) -> None:
        self.roles: set[SectionRole] = set()
        self.roman = False
        self.parents: list[OpenSection] = []

    def add(self, section: OpenSection) -> None:
        self.roles.add(section.role)
        self.roman = self.roman or section.number == "I"
        self._leave(section.level)
        self.parents.append(section)

    def role_of(self, heading: Piece) -> SectionRole:
        """By name, then by an appendix letter, then from the section above, then by standing after the references."""
        named = role_by_name(heading.text)
        if named and not (named == "abstract" and "abstract" in self.roles):
            return named
        self._leave(heading.level)
        if self.parents and self.parents[-1].role in ("appendix", "checklist"):
            return self.parents[-1].role
        past_references = "references" in self.roles
        in_appendix = "appendix" in self.roles
        is_letter = heading.number is not None and heading.number[0].isalpha()
        roman = self.roman or heading.number == "I"
        if is_letter and ((heading.level == 1 and not roman) or past_references):
            return "appendix"
        return "appendix" if (past_references or in_appendix) and heading.number is None else "content"

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
            blocks.append(_block(piece, f"b{block_count}"))
            if section.role == "references" and (entry := _entry(piece)) is not None:
                references.append(_reference(piece, entry, f"r{len(references) + 1}"))
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
    abstract = "\n\n".join(section.text for section in sections if section.role == "abstract")
    return Assembled(tuple(sections), tuple(references), abstract, findings, tuple(repairs))


def _entry(piece: Piece) -> Entry | None:
    if piece.kind == "reference":
        return completed(piece.entry, piece.text) if piece.entry else parse_entry(piece.text)
    if piece.kind in ("paragraph", "list") and looks_like_entry(piece.text):
        return parse_entry(piece.text)
    return None


def _reference(piece: Piece, entry: Entry, reference_id: str) -> Reference:
    return Reference(
        id=reference_id,
        text=piece.text,
        label=entry.label,
        authors=entry.authors,
        title=entry.title,
        year=entry.year,
        venue=entry.venue,
        doi=entry.doi,
        page=piece.page,
    )


def _block(piece: Piece, block_id: str) -> Block:
    return Block(
        id=block_id,
        kind=piece.kind,
        text=piece.text,
        page=piece.page,
        box=piece.box,
        cells=piece.cells,
        label=piece.label,
    )
