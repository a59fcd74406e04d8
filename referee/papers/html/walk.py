"""One walk over a page's paper: elements in reading order become pieces, whichever markup they are written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from referee.papers.headings import role_by_name
from referee.papers.html.elements import (
    ABSTRACT,
    BIBLIOGRAPHY,
    EQUATIONS,
    FRONT,
    entry_of,
    heading_of,
    is_marked,
    note_mark,
    read_cells,
    read_equations,
)
from referee.papers.html.text import Line, note_text, tex_of, text_of
from referee.papers.html.tree import drop, has_class, is_block
from referee.papers.pieces import Piece, caption_label, cells_text, is_caption, list_pieces, whole

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# The level of a heading that the page only implies; it becomes that of its highest heading.
TOP = 0
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"ul", "ol", "dl"})
_NUMBER_AT_END = re.compile(r"\s*(?:\\qquad|\\quad|\\hspace\{[^}]*\})?\s*(?:\\tag\{(?P<tag>[^}]+)\})\s*$")
# TeX that a script would set on the page, between the marks such scripts look for.
_TEX_DISPLAY = re.compile(r"\\\[(?P<tex>.+)\\\]|\$\$(?P<dollars>[^$]+)\$\$", re.DOTALL)
_TEX_INLINE = re.compile(r"\\\(((?:(?!\\\().)+?)\\\)")


@dataclass
class Walk:
    """Reads one paper.

    Attributes:
        pieces: In reading order.
        front: Authors, dates.
        end_notes: Notes that stand at the page's end, away from their calls.
    """

    pieces: list[Piece] = field(default_factory=list)
    front: list[Piece] = field(default_factory=list)
    end_notes: list[Piece] = field(default_factory=list)
    _notes: list[tuple[str, HtmlElement]] = field(default_factory=list)
    _run_in: str = ""
    _label: str | None = None
    _in_references: bool = False

    def read(self, element: HtmlElement) -> None:
        """Read what an element holds: text between blocks becomes paragraphs, blocks are read one by one."""
        line = Line(notes=self._notes)
        line.add(element.text)
        for child in element:
            if is_block(child) or _is_display(child):
                self._close(line)
                self._block(child)
                line = Line(notes=self._notes)
            else:
                line.add_element(child)
            line.add(child.tail)
        self._close(line)

    def _close(self, line: Line) -> None:
        text = line.text()
        # Punctuation between a displayed formula and its paragraph's end belongs to the formula.
        ends_formula = re.fullmatch(r"[.,;:]", text) and self.pieces and self.pieces[-1].kind == "equation"
        if text and not ends_formula:
            self._paragraph(text)
        self._flush_notes()

    def _paragraph(self, text: str) -> None:
        headed = any(piece.kind == "heading" for piece in self.pieces)
        if role_by_name(text) == "abstract" and not (headed and self.pieces[-1].kind != "heading"):
            if not headed:
                self._heading(text, TOP, None)
            return
        if match := _TEX_DISPLAY.fullmatch(text):
            self._add_formula(match["tex"] or match["dollars"])
            return
        text = _TEX_INLINE.sub(r"$\1$", text)
        text = f"{self._run_in} {text}".strip()
        self._run_in = ""
        if self._in_references:
            self.pieces.append(Piece(kind="reference", text=text))
        elif is_caption(text):
            self._label = caption_label(text)
            self.pieces.append(Piece(kind="caption", text=text, label=self._label))
        else:
            self.pieces.append(Piece(kind="paragraph", text=text))

    def _flush_notes(self) -> None:
        while self._notes:
            mark, content = self._notes.pop(0)
            if text := note_text(content):
                self.pieces.append(Piece(kind="footnote", text=text, label=mark or None))

    def _block(self, element: HtmlElement) -> None:
        """Read one block by what it is; containers are read through."""
        tag = str(element.tag)
        if is_marked(element, FRONT):
            self._front(element)
        elif tag in _HEADINGS or has_class(element, "ltx_title"):
            self._title(element)
        elif has_class(element, *EQUATIONS):
            equations = (Piece(kind="equation", text=text, label=tag) for text, tag in read_equations(element))
            self.pieces += [piece for piece in equations if piece.text]
        elif tag == "math" or _is_display(element):
            # Outside of an equation table its number may stand in it as a tag.
            if tex := tex_of(element if element.tag == "math" else next(element.iter("math"))):
                self._add_formula(tex)
        elif tag == "table" or has_class(element, "ltx_tabular"):
            self._table(element)
        elif tag == "figure" or has_class(element, "ltx_figure", "ltx_table", "ltx_float"):
            self._figure(element)
        elif tag in ("figcaption", "caption") or has_class(element, "ltx_caption"):
            self._caption(element)
        elif tag == "svg":
            for box in element.iter("foreignobject"):
                self.read(box)
        elif tag == "pre" or has_class(element, "ltx_listing"):
            self._code(element)
        elif tag in _LISTS:
            self._list(element)
        else:
            self._container(element)

    def _container(self, element: HtmlElement) -> None:
        if mark := note_mark(element):
            if text := text_of(element).rstrip("\u21a9\ufe0e "):
                self.end_notes.append(Piece(kind="footnote", text=text, label=mark))
            return
        if has_class(element, "csl-entry", "ltx_bibitem") or element.get("role") == "doc-biblioentry":
            self._reference(element, None)
            return
        has_title = any(e.tag in _HEADINGS or has_class(e, "ltx_title") for e in element.iterdescendants())
        last = self.pieces[-1] if self.pieces else None
        headed = last is not None and last.kind == "heading" and role_by_name(last.text) == "abstract"
        if is_marked(element, ABSTRACT) and not has_title and not headed:
            self._heading("Abstract", TOP, None)
        elif is_marked(element, BIBLIOGRAPHY) and not has_title and not self._in_references:
            self._heading("References", TOP, None)
        self.read(element)

    def _front(self, element: HtmlElement) -> None:
        whole, inner = text_of(element), Walk()
        inner.read(element)
        texts = [p.text for p in inner.pieces] or [whole]
        self.front.extend(Piece(kind="paragraph", text=text) for text in texts if text)

    def _title(self, element: HtmlElement) -> None:
        heading, run_in = heading_of(element, self._notes)
        if not heading.text:
            return
        if run_in:
            self._run_in = f"{self._run_in} {heading.text}".strip()
            return
        self._heading(heading.text, heading.level, heading.number)
        self._flush_notes()

    def _heading(self, text: str, level: int, number: str | None) -> None:
        if self._run_in:
            self._paragraph("")
        self._in_references = role_by_name(text) == "references"
        self.pieces.append(Piece(kind="heading", text=text, level=level, number=number))

    def _add_formula(self, tex: str) -> None:
        match = _NUMBER_AT_END.search(tex)
        label = f"({match['tag'].strip('()')})" if match else None
        if match:
            tex = tex[: match.start()]
        self.pieces.append(Piece(kind="equation", text=tex, label=label))

    def _table(self, element: HtmlElement) -> None:
        if not has_class(element, "ltx_tabular") and (inner := _layout(element)):
            for cell in inner:
                self.read(cell)
            return
        caption = element.find("caption")
        if caption is not None:
            self._caption(caption)
        label = self._label if (self._label or "").startswith("Table") else None
        cells = read_cells(element, self._notes)
        if text := cells_text(cells):
            self.pieces.append(Piece(kind="table", text=text, cells=cells, label=label))
        if caption is not None:
            self._label = None
        self._flush_notes()

    def _figure(self, element: HtmlElement) -> None:
        """A float: its caption names the tables in it, whether it stands above or below them."""
        outer = self._label
        own = [e for e in element if e.tag == "figcaption" or has_class(e, "ltx_caption")]
        self._label = caption_label(text_of(own[0])) if own else outer
        self.read(element)
        self._label = outer

    def _caption(self, element: HtmlElement) -> None:
        if text := text_of(element, self._notes):
            label = caption_label(text)
            self._label = label or self._label
            self.pieces.append(Piece(kind="caption", text=text, label=label))
        self._flush_notes()

    def _code(self, element: HtmlElement) -> None:
        if element.tag == "pre":
            text = "".join(str(part) for part in element.itertext()).strip("\n")
        else:
            lines = [e for e in element.iter() if has_class(e, "ltx_listingline")]
            text = "\n".join(text_of(line) for line in lines) or text_of(element)
        if text.strip():
            self.pieces.append(Piece(kind="code", text=text, label=self._label))

    def _list(self, element: HtmlElement) -> None:
        """Items line by line; a displayed formula or a table in an item stands between two lists."""
        references = self._in_references or has_class(element, "ltx_biblist") or is_marked(element, BIBLIOGRAPHY)
        if has_class(element, "ltx_toclist"):
            return
        count = whole(element.get("start"), 1)
        read: list[tuple[str, list[Piece]]] = []
        for item in element:
            if item.tag not in ("li", "dt", "dd", "div") or (item.tag == "div" and element.tag != "dl"):
                continue
            if note_mark(item):
                self._container(item)
                continue
            if references:
                self._reference(item, f"{count}. " if element.tag == "ol" else None)
            else:
                mark, outer, self.pieces = _marker(item, element, count), self.pieces, []
                self.read(item)
                read.append((mark, self.pieces))
                self.pieces = outer
            count += 1
        for piece in list_pieces(read):
            text = f"{self._run_in} {piece.text}".strip() if piece.kind == "list" else piece.text
            self._run_in = "" if piece.kind == "list" else self._run_in
            self.pieces.append(replace(piece, text=text))

    def _reference(self, item: HtmlElement, number: str | None) -> None:
        if not self._in_references:
            self._heading("References", TOP, None)
        text, entry = entry_of(item, number)
        if text:
            self.pieces.append(Piece(kind="reference", text=text, entry=entry))


def _is_display(element: HtmlElement) -> bool:
    """A formula set on a line of its own: MathML's block display, or a holder of nothing else."""
    if element.tag == "math":
        return bool(element.get("display") == "block" or element.get("mode") == "display")
    if element.tag != "span" or not has_class(element, "display", "math-display"):
        return False
    return next(element.iter("math"), None) is not None


def _layout(table: HtmlElement) -> list[HtmlElement]:
    """The cells of a table that lays out the page: one cell, or cells that hold headings or figures."""
    cells = list(table.iter("td", "th"))
    if (table.get("role") or "") in ("presentation", "none") or len(cells) == 1:
        return cells
    heads = any(next(cell.iter(*_HEADINGS, "figure"), None) is not None for cell in cells)
    outer = [cell for cell in cells if next(cell.iterancestors("table")) is table]
    return outer if heads else []


def _marker(item: HtmlElement, parent: HtmlElement, count: int) -> str:
    """What is printed before an item; LaTeXML's tag, which stands in the item itself, is taken out of it."""
    tag = next((e for e in item if has_class(e, "ltx_tag_item")), None)
    if tag is not None:
        printed = text_of(tag)
        drop(tag)
        return printed
    if parent.tag == "dl":
        return ""
    return f"{count}." if parent.tag == "ol" else "•"


def with_end_notes(pieces: Sequence[Piece], notes: Sequence[Piece]) -> list[Piece]:
    """Put each note behind the piece that calls it ('[^2]'); notes that none calls come last."""
    placed = list(pieces)
    for note in reversed(notes):
        call = f"[^{note.label}]"
        at = next((index for index, piece in enumerate(placed) if call in piece.text), len(placed) - 1)
        placed.insert(at + 1, note)
    return placed
