"""Figures, tables and algorithms: their captions with counted numbers, and what is printed inside them."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from referee.papers.latex.counters import Target
from referee.papers.latex.displays import algorithm_lines, table_cells
from referee.papers.latex.inline import key_text, text_of
from referee.papers.latex.nodes import arguments, children, printed_arguments
from referee.papers.pieces import Piece, cells_text

if TYPE_CHECKING:
    from referee.papers.latex.blocks import Blocks  # which reads floats itself and so stands above this module

FLOATS = {
    "table": "Table", "sidewaystable": "Table", "wraptable": "Table", "longtable": "Table", "margintable": "Table",
    "figure": "Figure", "sidewaysfigure": "Figure", "wrapfigure": "Figure", "marginfigure": "Figure",
    "SCfigure": "Figure",
    "algorithm": "Algorithm", "algorithm2e": "Algorithm", "procedure": "Algorithm", "listing": "Listing",
    "xltabular": "Table", "longtblr": "Table",
}  # fmt: skip
_TABLES_THEMSELVES = frozenset(("longtable", "xltabular", "longtblr"))


def read_float(blocks: Blocks, node: Any, name: str) -> None:
    """A float's caption, tables, code and text, in the order of the source.

    Tables in it carry the caption's number, wherever the caption stands; a table without a caption has no label.
    """
    kind = FLOATS[name]
    float_reader = _Float(blocks, kind)
    if name in _TABLES_THEMSELVES:
        float_reader.walk([n for n in _flat(children(node)) if getattr(n, "macroname", "") in ("caption", "label")])
        read_tabular(blocks, node)
    elif kind == "Algorithm":
        float_reader.walk_code(children(node))
    else:
        float_reader.walk(children(node))
    float_reader.finish()


def read_tabular(blocks: Blocks, node: Any) -> None:
    """A table outside or inside a float; one column of text, which only breaks lines, becomes a paragraph."""
    cells = table_cells(node, blocks.reading)
    text = cells_text(cells)
    if text and len(cells[0]) == 1:
        blocks.pieces.append(Piece(kind="paragraph", text=" ".join(row[0] for row in cells), size=blocks.size))
    elif text:
        blocks.pieces.append(Piece(kind="table", text=text, cells=cells))


def read_caption_of(blocks: Blocks, node: Any) -> None:
    r"""``\captionof{table}{...}``: a caption outside of a float."""
    given = arguments(node)
    if len(given) < 4:
        return
    blocks.flush()
    kind = FLOATS.get(key_text(given[1]).strip(), "Figure")
    _caption(blocks, kind, text_of(given[3], blocks.reading), starred=given[0] is not None)


def read_stray_caption(blocks: Blocks, node: Any) -> None:
    r"""A ``\caption`` whose float is unknown: its text stays."""
    given = printed_arguments(node)
    blocks.flush()
    if text := text_of(given, blocks.reading):
        blocks.pieces.append(Piece(kind="caption", text=text))


def _caption(blocks: Blocks, kind: str, text: str, *, starred: bool) -> str | None:
    """Write a caption; returns the label it gives, such as 'Table 2'."""
    if starred:
        if text:
            blocks.pieces.append(Piece(kind="caption", text=text))
        return None
    number = blocks.reading.counters.step(kind.lower())
    blocks.reading.current = Target(kind, number)
    label = f"{kind} {number}"
    blocks.pieces.append(
        Piece(kind="caption", text=f"{label}: {text}".rstrip(": ") if not text else f"{label}: {text}", label=label)
    )
    return label


class _Float:
    """One float while it is read."""

    def __init__(self, blocks: Blocks, kind: str) -> None:
        self.blocks = blocks
        self.kind = kind
        self.start = len(blocks.pieces)
        self.label: str | None = None
        self.parts = 0

    def walk(self, nodes: list[Any]) -> None:
        for node in nodes:
            name = getattr(node, "macroname", "")
            environment = getattr(node, "environmentname", "").removesuffix("*")
            if name == "caption":
                self._take_caption(node)
            elif environment in ("subfigure", "subtable"):
                self._part(node)
            elif name in ("subfloat", "subfigure", "subcaptionbox"):
                self._part_macro(node)
            elif environment in ("minipage", "center", "adjustbox", "threeparttable", "measuredfigure", "small") or (
                hasattr(node, "delimiters") and not hasattr(node, "displaytype")
            ):
                self.walk(children(node))
            elif environment in ("tikzpicture", "picture"):
                continue
            else:
                self.blocks.walk([node])
        self.blocks.flush()

    def walk_code(self, nodes: list[Any]) -> None:
        """An algorithm: caption and label taken out, the rest as lines of code."""
        rest: list[Any] = []
        for node in nodes:
            name = getattr(node, "macroname", "")
            if name == "caption":
                self._take_caption(node)
            elif name == "label":
                self.blocks.reading.label(key_text(arguments(node)[-1])) if arguments(node) else None
            elif name not in (
                "centering",
                "small",
                "footnotesize",
                "DontPrintSemicolon",
                "SetAlgoLined",
                "LinesNumbered",
            ):
                rest.append(node)
        text = algorithm_lines(rest, self.blocks.reading, blocks=self.blocks.block_algorithms)
        if text.strip():
            self.blocks.pieces.append(Piece(kind="code", text=text))

    def finish(self) -> None:
        """Give the float's tables and code the caption's number."""
        own = "table" if self.kind in ("Table", "Figure") else "code"
        self.blocks.pieces[self.start :] = [
            replace(piece, label=self.label) if piece.kind == own and piece.label is None else piece
            for piece in self.blocks.pieces[self.start :]
        ]

    def _take_caption(self, node: Any) -> None:
        given = arguments(node)
        self.blocks.flush()
        text = text_of(printed_arguments(node), self.blocks.reading)
        self.label = _caption(self.blocks, self.kind, text, starred=bool(given) and given[0] is not None) or self.label
        self.blocks.flush()

    def _part(self, node: Any) -> None:
        """A part with a caption of its own: '(a) Left.'; its number is the next caption's with a letter."""
        self._open_part()
        for child in _flat(children(node)):
            if getattr(child, "macroname", "") == "caption":
                self._part_caption(text_of(printed_arguments(child), self.blocks.reading))
            else:
                self.blocks.walk([child])
        self.blocks.flush()

    def _part_macro(self, node: Any) -> None:
        given = arguments(node)
        self._open_part()
        if given and given[0] is not None:
            self._part_caption(text_of(given[0], self.blocks.reading).strip("[]"))
        self.blocks.walk(children(given[-1]) if given and given[-1] is not None else [])
        self.blocks.flush()

    def _open_part(self) -> None:
        self.blocks.flush()
        counters = self.blocks.reading.counters
        name = self.kind.lower()
        number = self.label.split()[-1] if self.label else ""
        if not number:
            value = dict(counters.values)
            number = counters.step(name)
            counters.values = value
        self.blocks.reading.current = Target(self.kind, f"{number}{ascii_lowercase[self.parts % 26]}")
        self.parts += 1

    def _part_caption(self, text: str) -> None:
        if text:
            self.blocks.pieces.append(Piece(kind="caption", text=f"({ascii_lowercase[(self.parts - 1) % 26]}) {text}"))


def _flat(nodes: list[Any]) -> list[Any]:
    """Nodes with plain braces around them taken away."""
    flat: list[Any] = []
    for node in nodes:
        is_group = hasattr(node, "delimiters") and not hasattr(node, "displaytype")
        flat.extend(_flat(children(node)) if is_group else [node])
    return flat
