"""From nodes to pieces in reading order: paragraphs, headings, lists, displays, theorems, code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pylatexenc.latexwalker import LatexCharsNode

from referee.papers.headings import role_by_name
from referee.papers.latex import floats
from referee.papers.latex.comments import VERBATIM
from referee.papers.latex.counters import LISTS, NUMBERED, Target, Theorem, item_mark
from referee.papers.latex.displays import algorithm_lines, equation_pieces
from referee.papers.latex.inline import Reading, key_text, text_of, tidy, verbatim_text
from referee.papers.latex.macros import THE_COUNTER
from referee.papers.latex.nodes import (
    BLANK_LINE,
    HEADINGS,
    SIZES,
    TABULARS,
    arguments,
    changes_size,
    children,
    holds_blocks,
    inside,
    items,
    printed_arguments,
)
from referee.papers.latex.scan import MATH_ENVIRONMENTS, names
from referee.papers.pieces import LONG_WORDS, Piece, list_pieces, shortened

BIBLIOGRAPHY_PLACE = "\ue010"
_RUN_IN = ("paragraph", "subparagraph")
_DRAWINGS = frozenset(names("tikzpicture pgfpicture picture axis circuitikz forest tikzcd filecontents lrbox"))
_FRONT_ENVIRONMENTS = frozenset(names("icmlauthorlist keyword keywords IEEEkeywords CCSXML"))


@dataclass
class Blocks:
    """Walks through the nodes once and writes pieces."""

    reading: Reading
    theorems: dict[str, Theorem]
    block_algorithms: bool
    pieces: list[Piece] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)
    size: float = 10.0
    numbered_lists: int = 0
    abstract_end: int = 0
    lead: str = ""

    def read(self, nodes: list[Any]) -> list[Piece]:
        """Pieces of the whole paper, front matter commands left out."""
        self.walk(nodes)
        self.flush()
        for at, piece in enumerate(self.pieces[self.abstract_end :], self.abstract_end):
            if piece.kind == "heading" or not self.abstract_end:
                break
            if piece.kind == "paragraph" and len(piece.text.split()) >= LONG_WORDS:
                self.pieces.insert(at, Piece(kind="heading", text="Introduction", size=12.0))
                break
        return self.pieces

    def walk(self, nodes: list[Any]) -> None:
        """Go through nodes of one level; the text they leave waits for the paragraph's end."""
        for node in nodes:
            if node is None:
                continue
            name = getattr(node, "macroname", "")
            environment = getattr(node, "environmentname", "")
            if environment:
                self._environment(node, environment)
            elif getattr(node, "displaytype", "") == "display":
                self.display("", inside(node))
            elif name:
                self._macro(node, name)
            elif hasattr(node, "delimiters") and not hasattr(node, "displaytype"):
                self._group(node)
            elif hasattr(node, "chars"):
                self._chars(node)
            else:
                self.waiting.append(node)

    def flush(self, kind: str = "paragraph") -> None:
        """End the paragraph: its text, then the footnotes met in it."""
        nodes, self.waiting = self.waiting, []
        text = text_of(nodes, self.reading) if nodes else ""
        if self.lead and text:
            text, self.lead = f"{self.lead} {text}", ""
        if any(char.isalnum() for char in text) or (text and text[0] == "\ue000"):
            self.pieces.append(Piece(kind=kind, text=text, size=self.size))  # type: ignore[arg-type]
        self._footnotes()

    def _footnotes(self) -> None:
        notes, self.reading.footnotes = self.reading.footnotes, []
        self.pieces += [Piece(kind="footnote", text=note, size=8.0) for note in notes]

    def _chars(self, node: Any) -> None:
        parts = BLANK_LINE.split(node.chars)
        for index, part in enumerate(parts):
            if index:
                self.flush()
            self.waiting.append(LatexCharsNode(chars=part) if len(parts) > 1 else node)

    def _group(self, node: Any) -> None:
        size = self.size
        if holds_blocks(node) or changes_size(node):
            self.walk(children(node))
            if self.size != size:
                self.flush()
            self.size = size
        else:
            self.waiting.append(node)

    def _macro(self, node: Any, name: str) -> None:
        if name in HEADINGS:
            self._heading(node, name)
        elif name in SIZES:
            if self.waiting and tidy(text_of(self.waiting, self.reading)):
                self.flush()
            self.size = SIZES[name]
        elif (handler := _MACROS.get(name)) is not None:
            handler(self, node)
        elif any(holds_blocks(a) or changes_size(a) for a in printed_arguments(node)):
            for argument in printed_arguments(node):
                self._group(argument)
        else:
            self.waiting.append(node)

    def _heading(self, node: Any, name: str) -> None:
        self.flush()
        given = arguments(node)
        title = text_of(given[-1], self.reading, plain_math=True) if given else ""
        starred = bool(given) and given[0] is not None
        if not title:
            return
        counters = self.reading.counters
        levels = HEADINGS[1:] if counters.style == "book" else HEADINGS[2:]
        level = levels.index(name) + 1 if name in levels else 1
        depth = HEADINGS.index(name) - 1
        number = counters.step(name) if not starred and depth <= counters.numbered_depth else None
        if number is not None:
            kind = "appendix" if name == "section" and number[:1].isalpha() and counters.style != "ieee" else "section"
            self.reading.current = Target(kind, number)
        if name in _RUN_IN:
            self.lead = title
        else:
            self.pieces.append(Piece(kind="heading", text=title, level=level, number=number, size=12.0))
        self._footnotes()

    def _environment(self, node: Any, name: str) -> None:
        base = name.removesuffix("*")
        outer, size, lists = self.reading.current, self.size, self.numbered_lists
        if name == "math":
            self.waiting.append(node)
            return
        if name in MATH_ENVIRONMENTS:
            self.display("equation" if name == "empheq" else name, inside(node))
            return
        if base == "subequations":
            self._subequations(node)
            return
        self.flush()
        if name in self.theorems or base == "proof":
            self._theorem(node, name)
        elif name in LISTS:
            self._list(node, name)
        elif base in floats.FLOATS:
            floats.read_float(self, node, base)
        elif name in TABULARS:
            floats.read_tabular(self, node)
        elif base in ("algorithmic", "algorithmicx", "algpseudocode"):
            self._code(algorithm_lines(children(node), self.reading, blocks=self.block_algorithms))
        elif role_by_name(base) == "abstract":
            self.pieces.append(Piece(kind="heading", text=base.capitalize(), level=1, size=12.0))
            self._inside(node)
            self.abstract_end = len(self.pieces)
        elif base == "thebibliography":
            self.bibliography(node)
        elif base == "CSLReferences":
            self._entries(node)
        elif base == "titlepage":
            at = len(self.pieces)
            self._inside(node)
            self.pieces[at:] = [part for piece in self.pieces[at:] for part in shortened(piece)]
        elif base == "appendices":
            self.reading.counters.start_appendix()
            self._inside(node)
        elif base not in _DRAWINGS and name not in _FRONT_ENVIRONMENTS:
            self._inside(node)
        self.size, self.numbered_lists, self.lead = size, lists, ""
        self.reading.current = outer if base not in ("appendices", "document") else self.reading.current

    def _inside(self, node: Any) -> None:
        self.walk(children(node))
        self.flush()

    def _entries(self, node: Any) -> None:
        """What pandoc writes for a bibliography: an entry a paragraph, under a heading of the author's or its own."""
        at = len(self.pieces)
        self._inside(node)
        entries = [replace(piece, kind="reference") for piece in self.pieces[at:]]
        headings = [piece.text for piece in self.pieces[:at] if piece.kind == "heading"]
        own = [] if headings and role_by_name(headings[-1]) == "references" else [Piece("heading", "References")]
        self.pieces[at:] = [*own, *entries]

    def _subequations(self, node: Any) -> None:
        counters = self.reading.counters
        self.flush()
        number = counters.step("equation")
        outer, form = self.reading.current, counters.formats.get("equation")
        value = counters.values["equation"]
        self.reading.current = Target("equation", number)
        counters.set("equation", 0)
        counters.formats["equation"] = number + r"\alph{equation}"
        self._inside(node)
        counters.set("equation", value)
        counters.formats["equation"] = form or r"\arabic{equation}"
        self.reading.current = outer

    def display(self, name: str, source: str) -> None:
        """A displayed formula; the paragraph around it goes on after it as a piece of its own."""
        self.flush()
        self.pieces += equation_pieces(name, source, self.reading, is_math_mark=not name)

    def _code(self, text: str, label: str | None = None) -> None:
        if text.strip():
            self.pieces.append(Piece(kind="code", text=text.strip("\n"), label=label))

    def _theorem(self, node: Any, name: str) -> None:
        kind = self.theorems.get(name)
        title = kind.title if kind else "Proof"
        number = self.reading.counters.step(kind.counter) if kind and kind.counter else ""
        if number:
            self.reading.current = Target(title, number)
        given = [a for a in arguments(node) if a is not None]
        note = text_of(given[0], self.reading).strip("[] ") if given else ""
        head = f"{title} {number}".strip()
        if note:
            head = note if name == "proof" else f"{head} ({note})"
        before = len(self.pieces)
        self.lead = f"{head}."
        self._inside(node)
        self.lead = ""
        if len(self.pieces) > before and number and self.pieces[before].kind == "paragraph":
            self.pieces[before] = replace(self.pieces[before], label=f"{title} {number}")

    def _list(self, node: Any, name: str) -> None:
        """One ``list`` piece for each run of items; a display or table inside an item stands between two of them."""
        given = [a for a in arguments(node) if a is not None]
        options = key_text(given[0]) if given else ""
        depth, self.numbered_lists = self.numbered_lists, self.numbered_lists + (name in NUMBERED)
        read: list[tuple[str, list[Piece]]] = []
        number = 0
        for label, nodes in items(children(node)):
            if label is None and not number and not tidy(text_of(nodes, self.reading)):
                continue
            number += 1
            mark, reference = item_mark(name, options, depth, number)
            if label is not None:
                mark = text_of(label, self.reading) or "-"
            if reference:
                self.reading.current = Target("item", reference)
            outer, self.pieces = self.pieces, []
            self.walk(nodes)
            self.flush()
            read.append((mark, self.pieces))
            self.pieces = outer
        found = list_pieces(read)
        self.pieces += [replace(piece, size=self.size) if piece.kind == "list" else piece for piece in found]

    def _verbatim(self, node: Any) -> None:
        self.flush()
        self._code(verbatim_text(node, self.reading))

    def _appendix(self, _: Any) -> None:
        self.flush()
        self.reading.counters.start_appendix()

    def _set_counter(self, node: Any) -> None:
        name, value = (key_text(a).strip() for a in arguments(node)[:2]) if len(arguments(node)) >= 2 else ("", "")
        if re.fullmatch(r"-?\d{1,6}", value):
            added = self.reading.counters.values.get(name, 0) if node.macroname == "addtocounter" else 0
            self.reading.counters.set(name, int(value) + added)

    def _step_counter(self, node: Any) -> None:
        self.reading.counters.step(key_text(arguments(node)[0]).strip()) if arguments(node) else None

    def bibliography(self, _: Any) -> None:
        """Mark the place of the bibliography; only the first one counts."""
        self.flush()
        if all(piece.text != BIBLIOGRAPHY_PLACE for piece in self.pieces):
            self.pieces.append(Piece(kind="paragraph", text=BIBLIOGRAPHY_PLACE))

    def _counter_form(self, node: Any) -> None:
        if len(given := arguments(node)) == 2:
            self.reading.counters.formats[key_text(given[0])] = key_text(given[1])


_MACROS: dict[str, Callable[[Blocks, Any], None]] = {
    "par": lambda self, _: self.flush(),
    "\\": lambda self, node: self.waiting.append(node),
    "captionof": lambda self, node: floats.read_caption_of(self, node),
    "caption": lambda self, node: floats.read_stray_caption(self, node),
    VERBATIM: Blocks._verbatim,
    "appendix": Blocks._appendix,
    "setcounter": Blocks._set_counter,
    "addtocounter": Blocks._set_counter,
    "stepcounter": Blocks._step_counter,
    "refstepcounter": Blocks._step_counter,
    THE_COUNTER: Blocks._counter_form,
    "bibliography": Blocks.bibliography,
    "printbibliography": Blocks.bibliography,
    **dict.fromkeys(
        names("""title author date maketitle affil affiliation address institute email keywords icmltitle
        icmlauthor icmlaffiliation icmlcorrespondingauthor icmlkeywords printAffiliationsAndNotice
        icmltitlerunning ead orcid cortext fntext titlerunning authorrunning bibliographystyle input include
        shorttitle shortauthors ccsdesc received authornote titlenote subtitle institution"""),
        lambda *_: None,
    ),
}
