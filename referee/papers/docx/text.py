"""The text of one paragraph: runs that are seen, formulas, notes; deleted and hidden text and comments are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from referee.papers.docx.equations import tex_of
from referee.papers.docx.places import paragraph_hides, run_hides
from referee.papers.docx.styles import MC, Styles, W, is_on, local, value
from referee.papers.docx.theme import Theme
from referee.papers.headings import numeral
from referee.papers.hidden.css import Colour, colour
from referee.papers.hidden.visibility import LEAST_CONTRAST, HiddenWords, contrast
from referee.papers.pieces import script_text

_SMALLEST, _USUAL = 2.0, 11.0
_NARROWEST = 10
_HIGHLIGHTS = {
    "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000",
    "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0", "black": "000000", "blue": "0000ff",
    "cyan": "00ffff", "green": "00ff00", "magenta": "ff00ff", "red": "ff0000", "yellow": "ffff00", "white": "ffffff",
}  # fmt: skip


@dataclass
class Place:
    """What lies behind a run: the shade of its cell, or that a table style shades cells in a way not read here.

    ``hides`` says why nothing is seen at this place, or is empty.
    """

    shade: Colour | None = (255, 255, 255, 1)
    hides: str = ""


class HiddenRuns:
    """Decides for each run, and keeps what was hidden."""

    def __init__(self, styles: Styles, theme: Theme) -> None:
        self._styles = styles
        self.theme = theme
        self.words = HiddenWords("file", between="")

    def reason(self, run: Any, paragraph: Any | None, place: Place) -> str:
        """Why a run cannot be seen ('marked as hidden', 'font size 1.0 pt', ...), or nothing."""

        def read(name: str) -> Any | None:
            return self._styles.run_property(run, paragraph, name)

        size, width = value(read("sz")) or "", (value(read("w")) or "").rstrip("%")
        points = int(size) / 2 if size.isdigit() else _USUAL
        return (
            ("marked as hidden" if is_on(read("vanish")) else "")
            or place.hides
            or ("" if paragraph is None else paragraph_hides(paragraph, self._styles))
            or (f"font size {points:.1f} pt" if points < _SMALLEST else "")
            or run_hides(run, paragraph, self._styles, points)
            or (f"letters set {width}% wide" if width.isdigit() and int(width) < _NARROWEST else "")
            or self._unseen(run, paragraph, place)
        )

    def _unseen(self, run: Any, paragraph: Any | None, place: Place) -> str:
        """Why the letters' own colour shows nothing, or nothing."""
        unfilled, filled = self.theme.letters(run)
        ink = filled or self.theme.ink(self._styles.run_property(run, paragraph, "color"))
        behind = self._behind(run, paragraph, place)
        alike = ink is not None and behind is not None and contrast(ink, behind) < LEAST_CONTRAST
        return "letters without a fill" if unfilled else "colour of its background" if alike else ""

    def _behind(self, run: Any, paragraph: Any | None, place: Place) -> Colour | None:
        marked = value(self._styles.run_property(run, paragraph, "highlight"))
        if marked and marked != "none":
            return colour(f"#{_HIGHLIGHTS.get(marked, 'ffff00')}")
        around = None if paragraph is None else self._styles.paragraph_property(paragraph, "shd")
        fills = map(self.theme.fill, (self._styles.run_property(run, paragraph, "shd"), around))
        return next((fill for fill in fills if fill is not None), place.shade)


# Elements whose children are read; what is named nowhere here, as "del" and "instrText", is no text.
_THROUGH = frozenset(
    [
        "ins",
        "moveTo",
        "hyperlink",
        "fldSimple",
        "smartTag",
        "sdt",
        "sdtContent",
        "customXml",
        "dir",
        "bdo",
        "ruby",
        "rubyBase",
        "oMathPara",
    ]
)
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_TEXT_BOX = f"{W}txbxContent"


@dataclass
class Line:
    """What one paragraph holds.

    Attributes:
        text: Its visible text, formulas as ``$...$``, notes as ``[^1]``.
        formulas: The displayed formulas in it, as they stand in ``text``.
        notes: Kind, id and printed mark of the notes called in it, in order.
        boxes: Text boxes anchored in it.
        bold: Whether all of its letters are bold.
        size: The largest font size in points; 0 where unknown.
        centred: Whether it is set in the middle.
        after: The blank at its end, which counts where the next paragraph is joined to it.
    """

    text: str = ""
    formulas: list[str] = field(default_factory=list)
    displayed: bool = False
    notes: list[tuple[str, str, str | None]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    bold: bool = True
    size: float = 0.0
    centred: bool = False
    after: str = ""


class TextReader:
    """Reads paragraphs of one document; notes are numbered in the order of their calls."""

    def __init__(self, styles: Styles, hidden: HiddenRuns) -> None:
        self._styles = styles
        self._hidden = hidden
        self._counts = {"footnote": 0, "endnote": 0}

    def read(self, paragraph: Any, place: Place) -> Line:
        """Read one ``w:p``."""
        line = Line()
        self._children(paragraph, paragraph, place, line)
        self._hidden.words.end()
        line.centred = value(self._styles.paragraph_property(paragraph, "jc")) == "center"
        line.after = " " if line.text[-1:].isspace() else ""
        rows = (" ".join(row.split()) for row in line.text.split("\n"))
        line.text = "\n".join(row for row in rows if row)
        return line

    def _children(self, parent: Any, paragraph: Any, place: Place, line: Line) -> None:
        for child in parent:
            name = local(child.tag)
            if name == "r":
                self._run(child, paragraph, place, line)
            elif name == "oMath":
                self._formula(child, line, displayed=local(parent.tag) == "oMathPara")
            elif name == "AlternateContent":
                self._children(_chosen(child), paragraph, place, line)
            elif name in _THROUGH:
                self._children(child, paragraph, place, line)

    def _formula(self, element: Any, line: Line, *, displayed: bool) -> None:
        if tex := tex_of(element):
            line.formulas.append(tex)
            line.displayed = line.displayed or displayed
            line.text += f"${tex}$"

    def _run(self, run: Any, paragraph: Any, place: Place, line: Line) -> None:
        text = "".join(self._piece(child, paragraph, place, line) for child in run)
        if not text:
            return
        if reason := self._hidden.reason(run, paragraph, place):
            self._hidden.words.add(text, reason)
            return
        if text.strip():
            self._hidden.words.end()
            line.bold = line.bold and is_on(self._styles.run_property(run, paragraph, "b"))
            size = value(self._styles.run_property(run, paragraph, "sz")) or ""
            line.size = max(line.size, int(size) / 2 if size.isdigit() else 0.0)
        raised = value(self._styles.run_property(run, paragraph, "vertAlign"))
        line.text += _scripted(text, raised, line.text)

    def _piece(self, child: Any, paragraph: Any, place: Place, line: Line) -> str:
        """The text one child of a run stands for."""
        name = local(child.tag)
        if name == "t" or name in _SIGNS:
            return _SIGNS.get(name) or child.text or ""
        if name in ("footnoteReference", "endnoteReference"):
            return self._note(child, name.removesuffix("Reference"), line)
        if name in ("drawing", "pict", "object", "AlternateContent"):
            top = _chosen(child) if name == "AlternateContent" else child
            line.boxes.extend(box for box in top.iter(_TEXT_BOX) if _is_outermost(box, top))
            return ""
        if name in _THROUGH:
            inner = Line()
            self._children(child, paragraph, place, inner)
            return inner.text
        return ""

    def _note(self, call: Any, kind: str, line: Line) -> str:
        """Footnotes are '1', endnotes 'i', as Word numbers them; a mark that the author typed is text already."""
        if call.get(f"{W}customMarkFollows") in ("1", "true"):
            line.notes.append((kind, call.get(f"{W}id") or "", None))
            return ""
        self._counts[kind] += 1
        mark = numeral(self._counts[kind], "decimal" if kind == "footnote" else "lowerRoman")
        line.notes.append((kind, call.get(f"{W}id") or "", mark))
        return f"[^{mark}]"


def _chosen(alternate: Any) -> Any:
    """One branch of an alternative: the first choice, which newer programs show."""
    return next(alternate.iterchildren(f"{MC}Choice"), alternate)


def _is_outermost(box: Any, top: Any) -> bool:
    """Not a box inside a box, and not the same box written twice for older programs."""
    between = takewhile(lambda above: above is not top, box.iterancestors())
    return not any(above.tag == _TEXT_BOX or local(above.tag) == "Fallback" for above in between)


def _scripted(text: str, raised: str | None, before: str) -> str:
    """Text as it is raised or lowered; calls of notes and text at a line's start stay as they are."""
    if raised not in ("superscript", "subscript") or "[^" in text or not before.strip():
        return text
    inside = text.strip()
    scripted = script_text(inside, "^" if raised == "superscript" else "_")
    return text if scripted == inside else f"{scripted}{' ' if text.endswith(' ') else ''}"
