r"""LaTeX's counters: what ``\section``, ``equation`` and captions would print as their number."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ARTICLE = {
    "part": r"\Roman{part}",
    "chapter": r"\arabic{chapter}",
    "section": r"\arabic{section}",
    "subsection": r"\thesection.\arabic{subsection}",
    "subsubsection": r"\thesubsection.\arabic{subsubsection}",
    "paragraph": r"\thesubsubsection.\arabic{paragraph}",
}
_IEEE = {"section": r"\Roman{section}", "subsection": r"\Alph{subsection}", "subsubsection": r"\arabic{subsubsection}"}
_PARENTS = {"section": "chapter", "subsection": "section", "subsubsection": "subsection", "paragraph": "subsubsection"}
_THE = re.compile(r"\\the([a-zA-Z]+)")
_SHOWN = re.compile(r"\\(arabic|roman|Roman|alph|Alph|fnsymbol|value)\s*\{\s*@?(\w+)\s*\}")
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True)
class Target:
    r"""What a ``\label`` names: the kind of thing and its printed number."""

    kind: str
    number: str


@dataclass
class Counters:
    """All counters of one paper, their printed form, and which of them a step of another sets back.

    Attributes:
        style: ``article``, ``book`` (with chapters) or ``ieee`` (Roman sections).
        numbered_depth: Headings up to this level have numbers (article: 3, a subsubsection).
    """

    style: str = "article"
    numbered_depth: int = 3
    values: dict[str, int] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Target] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.formats = {**_ARTICLE, **(_IEEE if self.style == "ieee" else {}), **self.formats}
        self.parents = {**_PARENTS, **self.parents}
        if self.style == "book":
            self.formats["section"] = r"\thechapter.\arabic{section}"
            for name in ("figure", "table", "equation"):
                self.within(name, "chapter")

    def within(self, name: str, parent: str) -> None:
        r"""Count ``name`` anew in every ``parent`` and print both, as ``\numberwithin`` does."""
        self.formats[name] = rf"\the{parent}.\arabic{{{name}}}"
        self.parents[name] = parent

    def step(self, name: str) -> str:
        """One further; counters below it start again. Returns the printed number."""
        self.values[name] = self.values.get(name, 0) + 1
        self._reset_below(name, 0)
        return self.printed(name)

    def set(self, name: str, value: int) -> None:
        """Set a counter, bounded so that its letters and Roman numerals stay short."""
        self.values[name] = max(-1000, min(value, 100_000))

    def printed(self, name: str) -> str:
        """A counter's printed form."""
        return self._render(self.formats.get(name, rf"\arabic{{{name}}}"), 0).strip()

    def start_appendix(self) -> None:
        """Top-level headings are lettered from here on."""
        top = "chapter" if self.style == "book" else "section"
        self.set(top, 0)
        self._reset_below(top, 0)
        self.formats[top] = rf"\Alph{{{top}}}"

    def _reset_below(self, name: str, depth: int) -> None:
        for child, parent in self.parents.items():
            if parent == name and depth < 8:
                self.values[child] = 0
                self._reset_below(child, depth + 1)

    def _render(self, body: str, depth: int) -> str:
        if depth > 6:
            return ""
        body = _SHOWN.sub(lambda m: shown(m[1], self.values.get(m[2], 0)), body)
        body = _THE.sub(lambda m: self._render(self.formats.get(m[1], rf"\arabic{{{m[1]}}}"), depth + 1), body[:200])
        return re.sub(r"\\[a-zA-Z@]+\s*|[{}$]", "", body).replace("\\", "")[:40]


def shown(style: str, value: int) -> str:
    """A number as digits, letters (26 at most, else digits) or Roman numerals."""
    if style in ("alph", "Alph") and 1 <= value <= 26:
        letter = chr(ord("a") + value - 1)
        return letter.upper() if style == "Alph" else letter
    if style in ("roman", "Roman") and 1 <= value < 400:
        text, left = "", value
        for size, mark in _ROMAN:
            text += mark * (left // size)
            left %= size
        return text.upper() if style == "Roman" else text
    return str(value)
