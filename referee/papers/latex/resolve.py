"""Marks become what LaTeX prints: numbers for references, labels or names and years for citations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from referee.papers.latex.counters import Target
from referee.papers.latex.inline import BETWEEN, CLOSE, OPEN, tidy
from referee.papers.latex.references import Source, Style
from referee.papers.latex.scan import names
from referee.papers.pieces import Piece, cells_text

_MARK = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_LEFT_OVER = re.compile(f"[{OPEN}{BETWEEN}{CLOSE}]")
_CLEVER = {
    "section": "section", "appendix": "appendix", "equation": "eq.", "Figure": "fig.", "Table": "table",
    "Algorithm": "algorithm", "item": "item",
}  # fmt: skip
_AUTO = {"section": "section", "appendix": "Appendix", "equation": "Equation", "item": "item"}
_IN_TEXT = frozenset(names("citet Citet textcite Textcite citealt Citealt onlinecite"))
_NO_BRACKETS = frozenset(names("citealp Citealp citealt Citealt citenum onlinecite"))


class Resolver:
    """Knows all labels and works of a paper."""

    def __init__(self, labels: Mapping[str, Target], sources: list[Source], style: Style) -> None:
        self.labels = labels
        self.sources = {source.key: source for source in sources}
        self.style = style

    def pieces(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces with every mark resolved; what points nowhere prints ``??`` or ``[?]``, as in LaTeX."""
        done = []
        for piece in pieces:
            if OPEN in piece.text or any(OPEN in cell for row in piece.cells for cell in row):
                cells = tuple(tuple(self.text(cell) for cell in row) for row in piece.cells)
                text = cells_text(cells) if cells else self.text(piece.text)
                piece = replace(piece, text=text, cells=cells)
            if piece.text.strip():
                done.append(piece)
        return done

    def text(self, text: str) -> str:
        """One text with its marks resolved; a citation's note may hold marks itself."""
        for _ in range(4):
            text, count = _MARK.subn(self._mark, text)
            if not count:
                break
        lines = (re.sub(r"[ \t]+(?=[,;.:)\]])", "", line) for line in _LEFT_OVER.sub("", text).split("\n"))
        return "\n".join(lines)

    def _mark(self, match: re.Match[str]) -> str:
        parts = match[1].split(BETWEEN)
        if parts[0] == "cite" and len(parts) == 5:
            return self._cite(*parts[1:])
        return self._ref(parts[0], parts[1] if len(parts) > 1 else "")

    def _ref(self, command: str, keys: str) -> str:
        if command in ("pageref", "nameref"):
            return "??"
        targets = [self.labels.get(key.strip()) for key in keys.split(",")]
        numbers = [target.number if target else "??" for target in targets]
        kind = next((target.kind for target in targets if target), "")
        if command == "eqref":
            return ", ".join(f"({number})" for number in numbers)
        if command.lower() in ("cref", "autoref", "fref", "vref") and kind:
            return self._named(command, kind, numbers)
        return ", ".join(numbers)

    def _named(self, command: str, kind: str, numbers: list[str]) -> str:
        """'Figure 3', 'Sections 2 and 3' as cleveref and hyperref put the kind before the number."""
        if command.lower() == "autoref":
            name = _AUTO.get(kind, kind)
        else:
            name = _CLEVER.get(kind, kind.lower())
            if command[0].isupper():
                name = {"eq.": "Equation", "fig.": "Figure"}.get(name, name.capitalize())
        if kind == "equation" and command.lower() == "cref":
            numbers = [f"({number})" for number in numbers]
        if len(numbers) > 1:
            plural = {"eq.": "eqs.", "fig.": "figs.", "appendix": "appendices"}.get(name, f"{name}s")
            return f"{plural} {', '.join(numbers[:-1])} and {numbers[-1]}"
        return f"{name} {numbers[0]}"

    def _cite(self, command: str, before: str, after: str, keys: str) -> str:
        works = [self.sources.get(key) for key in keys.split(",") if key]
        base = command.rstrip("*")
        if base.lower() in ("citeauthor", "citefullauthor"):
            return ", ".join(work.authors if work else "?" for work in works)
        if base in ("citeyear", "citeyearpar"):
            years = ", ".join(work.year if work else "?" for work in works)
            return f"({years})" if base == "citeyearpar" else years
        in_text = base in _IN_TEXT or (base in ("cite", "Cite") and self.style.natbib and not self._by_label(works))
        if self._by_label(works):
            return self._labels(works, before, after, in_text, base)
        return self._names(works, before, after, in_text, base in _NO_BRACKETS)

    def _by_label(self, works: list[Source | None]) -> bool:
        known = [work for work in works if work]
        return any(work.label for work in known) if known else self.style.numeric

    def _labels(self, works: list[Source | None], before: str, after: str, in_text: bool, base: str) -> str:
        if in_text:
            return ", ".join(f"{work.authors} [{work.label}]".strip() if work else "[?]" for work in works)
        inner = ", ".join((work.label or "?") if work else "?" for work in works)
        if base in _NO_BRACKETS:
            return inner
        return tidy(f"[{before} {inner}{', ' if after else ''}{after}]").replace("[ ", "[")

    def _names(self, works: list[Source | None], before: str, after: str, in_text: bool, bare: bool) -> str:
        note = f", {after}" if after else ""
        if in_text and not bare:
            said = [f"{w.authors} ({w.year}{note if w is works[-1] else ''})" if w else "?" for w in works]
            return ", ".join(said)
        joint = "; ".join(
            (f"{w.authors} {w.year}" if in_text else f"{w.authors}, {w.year}") if w else "?" for w in works
        )
        whole = f"{before} {joint}{note}".strip()
        return whole if bare else f"({whole})"
