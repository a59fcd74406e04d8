"""A Word document's body in reading order: paragraphs, tables, boxes and notes become pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from referee.papers.docx.places import box_hides, row_hides
from referee.papers.docx.styles import Mark, Numbering, Styles, W, local, value
from referee.papers.docx.text import HiddenRuns, Line, Place, TextReader
from referee.papers.docx.theme import Theme
from referee.papers.headings import is_contents, role_by_name
from referee.papers.pieces import Piece, caption_label, cells_text, filled_up, is_caption, whole

_WIDEST = 100
ReadCell = Callable[[Any, Place], str]


def read_cells(table: Any, styles: Styles, theme: Theme, read_cell: ReadCell) -> tuple[tuple[str, ...], ...]:
    """The cells row by row, all rows equally wide; a merged cell has its text at its first place only.

    Args:
        table: The ``w:tbl``.
        styles: To know whether the table's style shades cells.
        theme: The document's colours.
        read_cell: Text of one cell, given what lies behind it.
    """
    unknown = styles.shades(value(table.find(f"{W}tblPr/{W}tblStyle")))
    rows: list[list[str]] = []
    for row in _inside(table, "tr"):
        if row.find(f"{W}trPr/{W}del") is not None:
            continue
        cells: list[str] = [""] * min(whole(value(row.find(f"{W}trPr/{W}gridBefore")), 0), _WIDEST)
        for cell in _inside(row, "tc"):
            shade = theme.fill(cell.find(f"{W}tcPr/{W}shd"))
            place = Place(shade if shade is not None else None if unknown else Place().shade, row_hides(row))
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            cells.append("" if goes_on else read_cell(cell, place))
            cells.extend("" for _ in range(1, min(whole(value(cell.find(f"{W}tcPr/{W}gridSpan")), 1), _WIDEST)))
        rows.append(cells[:_WIDEST])
    return tuple(row for row in filled_up(rows) if any(cell.strip() for cell in row))


def _inside(parent: Any, name: str) -> Iterator[Any]:
    """Children of a name, also those that a content control or a revision wraps."""
    for child in parent:
        found = local(child.tag)
        if found == name:
            yield child
        elif found in ("sdt", "sdtContent", "ins", "customXml", "moveTo"):
            yield from _inside(child, name)


_FORMULA = re.compile(r"\$(?P<tex>[^$]+)\$")
_TAG = re.compile(r"(?:\s|\\quad|#|\\)*\((?P<tag>[A-Z]?\.?\d+(?:\.\d+)*[a-z]?)\)\s*$")
_ALONE = re.compile(r"^\s*(?:\((?P<tag>[^()\s]{1,8})\))?\s*[.,;]?\s*$")
_NUMBERED = re.compile(r"^(?:appendix\s+)?(?P<number>(?:\d+|[A-Z])(?:\.\d+)*)[.:)]?$", re.IGNORECASE)


@dataclass
class Body:
    """What was read: pieces, the title, the front matter by style, and how the paragraphs look."""

    title: str = ""
    pieces: list[Piece] = field(default_factory=list)
    front: list[Piece] = field(default_factory=list)
    looks: dict[int, Line] = field(default_factory=dict)
    styled_headings: int = 0


class BodyReader:
    """Reads one document once."""

    def __init__(
        self, styles: Styles, numbering: Numbering, hidden: HiddenRuns, notes: dict[tuple[str, str], Any]
    ) -> None:
        self._styles = styles
        self._numbering = numbering
        self._theme = hidden.theme
        self._text = TextReader(styles, hidden)
        self._notes = notes
        self._body = Body()
        self._list: list[str] = []
        self._in_references = False
        self._waiting = ""

    def read(self, body: Any, place: Place) -> Body:
        """Read the body element; ``place`` is the page's own colour."""
        self._blocks(body, place)
        self._end_list()
        return self._body

    def _blocks(self, parent: Any, place: Place) -> None:
        for child in parent:
            name = local(child.tag)
            if name == "p":
                self._paragraph(child, place)
            elif name == "tbl":
                self._end_list()
                self._table(child, place)
            elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml"):
                gallery = value(child.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")) or ""
                if not gallery.startswith("Table of"):
                    self._blocks(child, place)

    def _paragraph(self, paragraph: Any, place: Place) -> None:
        line = self._text.read(paragraph, place)
        deleted_end = paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None
        if deleted_end and (line.text or self._waiting):
            self._waiting += line.text + line.after
            return
        line.text, self._waiting = f"{self._waiting}{line.text}", ""
        kind = self._styles.kind(paragraph)
        mark = self._numbering.mark(paragraph) if line.text else None
        if line.text and kind != "contents":
            self._by_kind(kind, line, mark)
        self._after(line, place)

    def _by_kind(self, kind: str, line: Line, mark: Mark | None) -> None:
        text = line.text
        if kind == "title" and not self._body.title and not self._has("heading"):
            self._body.title = " ".join(text.split())
        elif kind == "caption" or is_caption(text):
            self._end_list()
            self._add("caption", " ".join(text.split()), label=caption_label(text))
        elif kind.startswith("heading"):
            self._end_list()
            self._heading(" ".join(text.split()), int(kind[-1]), mark)
        elif kind == "front" and not self._has("heading"):
            self._body.front.append(Piece(kind="paragraph", text=text))
        elif kind in ("abstract", "abstract title") and not self._has("heading"):
            self._end_list()
            self._add("heading", "Abstract")
            if role_by_name(text) != "abstract":
                self._add("paragraph", text)
        elif kind == "code":
            self._code(text)
        elif not self._formulas(line):
            self._text_paragraph(kind, line, mark)

    def _text_paragraph(self, kind: str, line: Line, mark: Mark | None) -> None:
        printed = mark.text if mark else ""
        if self._in_references or kind == "reference":
            self._end_list()
            if not self._in_references:
                self._heading("References", 1, None)
            text = " ".join(line.text.split())
            lead = f"{printed} " if printed and printed != "•" else ""
            self._add("reference", f"{lead}{text}")
        elif mark is not None:
            rows = line.text.split("\n")
            lead = "  " * mark.depth
            self._list.append(f"{lead}{printed} {rows[0]}" if printed else f"{lead}  {rows[0]}")
            self._list.extend(f"{lead}  {row}" for row in rows[1:])
        else:
            self._end_list()
            if role_by_name(line.text) == "abstract" and not self._has("heading"):
                self._add("heading", line.text)
                return
            self._body.looks[len(self._body.pieces)] = line
            self._add("paragraph", line.text)

    def _heading(self, text: str, level: int, mark: Mark | None) -> None:
        if is_contents(text):
            return
        match = _NUMBERED.match(mark.text) if mark else None
        self._body.styled_headings += 1
        self._in_references = role_by_name(re.sub(r"^[\dA-Z.]+\s+", "", text)) == "references"
        self._add("heading", text, level=level, number=match["number"] if match else None)

    def _formulas(self, line: Line) -> bool:
        """Whether a paragraph is nothing but formulas, and perhaps a number: then they are equations."""
        outside = _FORMULA.sub(" ", line.text)
        match = _ALONE.match(outside)
        if not line.formulas or not match:
            return False
        self._end_list()
        for index, tex in enumerate(line.formulas):
            tag = match["tag"] if index == len(line.formulas) - 1 else None
            inner = _TAG.search(tex) if tag is None and line.displayed else None
            if inner and tex[: inner.start()].strip():
                tag, tex = inner["tag"], tex[: inner.start()]
            self._add("equation", tex.strip(), label=f"({tag})" if tag else None)
        return True

    def _code(self, text: str) -> None:
        self._end_list()
        last = self._body.pieces[-1] if self._body.pieces else None
        if last is not None and last.kind == "code":
            self._body.pieces[-1] = replace(last, text=f"{last.text}\n{text}")
        else:
            self._add("code", text)

    def _after(self, line: Line, place: Place) -> None:
        """Text boxes and notes of a paragraph follow it."""
        for box in line.boxes:
            self._end_list()
            self._blocks(box, Place(self._theme.behind(box, place.shade), place.hides or box_hides(box)))
        for kind, note_id, mark in line.notes:
            self._note(kind, note_id, mark)

    def _note(self, kind: str, note_id: str, mark: str | None) -> None:
        note = self._notes.get((kind, note_id))
        if note is None:
            return
        texts = [self._text.read(paragraph, Place()).text for paragraph in note.iter(f"{W}p")]
        text = " ".join(" ".join(texts).split())
        if text:
            self._end_list()
            self._add("footnote", text, label=mark)

    def _table(self, table: Any, place: Place) -> None:
        notes: list[Line] = []
        lines: list[Line] = []

        def read_all(cell: Any, behind: Place) -> str:
            return " ".join(self._text.read(paragraph, behind).text for paragraph in cell.iter(f"{W}p"))

        def read_cell(cell: Any, behind: Place) -> str:
            found = [self._text.read(paragraph, behind) for paragraph in cell.iter(f"{W}p") if _own(paragraph, cell)]
            tables = (read_cells(t, self._styles, self._theme, read_all) for t in cell.iter(f"{W}tbl"))
            inner = [" ".join(" ".join(row) for row in rows) for rows in tables]
            lines.extend(line for line in found if line.text)
            notes.extend(line for line in found if line.notes)
            return " ".join(" ".join([*(line.text for line in found), *inner]).split())

        cells = read_cells(table, self._styles, self._theme, read_cell)
        if not self._layout(cells, lines) and (text := cells_text(cells)):
            self._add("table", text, cells=cells)
        for line in notes:
            self._after(replace(line, boxes=[]), place)

    def _layout(self, cells: tuple[tuple[str, ...], ...], lines: list[Line]) -> bool:
        """A table of one row that holds a formula and its number, or of one cell, only lays out the page."""
        if len(cells) != 1:
            return False
        row = [cell for cell in cells[0] if cell.strip()]
        joined = Line(text=" ".join(row), formulas=[tex for line in lines for tex in line.formulas])
        if self._formulas(joined):
            return True
        if len(cells[0]) == 1:
            for line in lines:
                self._by_kind("", line, None)
            return True
        return False

    def _has(self, kind: str) -> bool:
        return any(piece.kind == kind for piece in self._body.pieces)

    def _add(self, kind: str, text: str, **values: Any) -> None:
        if text.strip():
            text = text if kind == "table" else text.strip()
            self._body.pieces.append(Piece(kind=kind, text=text, **values))  # type: ignore[arg-type]

    def _end_list(self) -> None:
        if self._list:
            self._add("list", "\n".join(self._list))
            self._list = []


def label_tables(pieces: list[Piece]) -> list[Piece]:
    """Name each table after the caption above it, else after the one below it; a caption names one table."""
    labelled = list(pieces)
    taken: set[int] = set()
    for step in (-1, 1):
        for index, piece in enumerate(labelled):
            near = index + step
            if piece.kind != "table" or piece.label or not 0 <= near < len(labelled) or near in taken:
                continue
            caption = labelled[near]
            if caption.kind == "caption" and (caption.label or "").startswith("Table"):
                labelled[index] = replace(piece, label=caption.label)
                taken.add(near)
    return labelled


def _own(paragraph: Any, cell: Any) -> bool:
    """Whether a paragraph stands in this cell itself, not in a table or a box inside it."""
    return next(a for a in paragraph.iterancestors() if a is cell or local(a.tag) in ("tbl", "txbxContent")) is cell
