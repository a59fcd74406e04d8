"""LaTeX source by characters: braces, arguments, and broken source made whole.

Every brace, environment and formula gets its partner, or loses its mark: a parser that meets an opening brace without
a partner would take the rest of the paper for its argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.errors import PaperParseError


@dataclass(frozen=True)
class LatexLimits:
    r"""Bounds for reading one paper.

    Attributes:
        characters: Of the source after all inputs are joined, and again after macros are expanded.
        inputs: Files read by ``\input`` and its like, counted each time.
        file_bytes: Of one file beside the main one.
        expansions: Uses of the paper's own macros.
        macro_depth: Macros inside macros.
        nesting: Braces and environments inside each other.
    """

    characters: int = 4_000_000
    inputs: int = 500
    file_bytes: int = 20 * 2**20
    expansions: int = 60_000
    macro_depth: int = 40
    nesting: int = 80


LIMITS = LatexLimits()
POINTS = {"pt": 1.0, "bp": 1.004, "mm": 2.845, "cm": 28.45, "in": 72.27, "em": 10.0, "ex": 4.3, "sp": 1 / 65536}
"""TeX's units in points; those of the font at the size of ordinary text."""
NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)"

_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_BLANKS = re.compile(r"[ \t]*(?:\n[ \t]*(?!\s*\n))?")
_BRACKET = re.compile(r"\\.|[{\]\[]", re.DOTALL)
CONTROL_WORD = re.compile(r"\\([a-zA-Z@]+)")
_MOST_IN_BRACKETS = 2000


class Braces:
    """The text with the partner of every opening brace, found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.closing: dict[int, int] = {}
        opened: list[int] = []
        for match in _BRACES.finditer(text):
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                self.closing[opened.pop()] = match.start()

    def skip_blanks(self, at: int) -> int:
        """The place after blanks and at most one line end."""
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at

    def group(self, at: int) -> tuple[str, int] | None:
        """The inside of the braces that open at ``at`` (blanks before them allowed), and the place after them."""
        at = self.skip_blanks(at)
        end = self.closing.get(at)
        return (self.text[at + 1 : end], end + 1) if end is not None else None

    def bracket(self, at: int) -> tuple[str, int] | None:
        """The inside of ``[...]`` at ``at``, and the place after it; braces inside may hold brackets."""
        at = self.skip_blanks(at)
        if self.text[at : at + 1] != "[":
            return None
        place, depth = at + 1, 0
        while (match := _BRACKET.search(self.text, place, at + _MOST_IN_BRACKETS)) is not None:
            place = match.end()
            if match[0] == "{":
                place = self.closing.get(match.start(), match.start()) + 1
            elif match[0] == "[":
                depth += 1
            elif match[0] == "]":
                if depth == 0:
                    return self.text[at + 1 : match.start()], match.end()
                depth -= 1
        return None

    def until(self, at: int, mark: str) -> tuple[str, int] | None:
        """What stands before the next ``mark`` outside of braces, without braces around it, and the place after it."""
        at = place = self.skip_blanks(at)
        mark_or_brace = re.compile(rf"{re.escape(mark)}|\\.|\{{", re.DOTALL)
        while (match := mark_or_brace.search(self.text, place, at + _MOST_IN_BRACKETS)) is not None:
            if match[0] == mark:
                whole = self.closing.get(at) == match.start() - 1
                return self.text[at + whole : match.start() - whole], match.end()
            place = self.closing.get(match.start(), match.start()) + 1 if match[0] == "{" else match.end()
        return None

    def argument(self, at: int) -> tuple[str, int] | None:
        """One TeX argument: a group, a control word, or a single character; None at the end."""
        if (group := self.group(at)) is not None:
            return group
        at = self.skip_blanks(at)
        if at >= len(self.text) or self.text[at] in "{}":
            return None
        word = CONTROL_WORD.match(self.text, at)
        if word:
            return word[0], word.end()
        width = 2 if self.text[at] == "\\" else 1
        return self.text[at : at + width], at + width


def first_command(braces: Braces, name: str) -> str | None:
    r"""The argument of the first ``\name{...}`` or ``\name[...]{...}`` in the text."""
    for match in re.finditer(rf"\\{name}(?![a-zA-Z@])\*?", braces.text):
        at = match.end()
        if (optional := braces.bracket(at)) is not None:
            at = optional[1]
        if (group := braces.group(at)) is not None:
            return group[0]
    return None


def spliced(source: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The source with other text in the place of some of it: from, to, and the text."""
    parts: list[str] = []
    at = 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        parts += [source[at : max(at, start)], text]
        at = max(at, end)
    return "".join(parts) + source[at:]


def names(text: str) -> tuple[str, ...]:
    """The words of ``text``: long lists of commands are easier to read, and to keep sorted, as words than as a list."""
    return tuple(text.split())


def pairs(text: str) -> dict[str, str]:
    """The words of ``text`` two by two: what a name stands for."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


MATH_ENVIRONMENTS = frozenset(
    names("""equation equation* align align* alignat alignat* gather gather* multline multline* flalign flalign*
    eqnarray eqnarray* displaymath math dmath dmath* IEEEeqnarray IEEEeqnarray* empheq""")
)
_TOKEN = re.compile(
    r"\\(?P<edge>begin|end)\s*\{(?P<name>[^{}\\\n]{0,80})\}"
    r"|\\(?P<heading>chapter|section|subsection|subsubsection|appendix|bibitem)(?![a-zA-Z@])"
    r"|\\(?P<math>[()\[\]])|\\(?:[a-zA-Z@]+|.|\n)|(?P<brace>[{}])|(?P<dollar>\$\$?)|(?P<blank>\n[ \t]*\n\s*)",
    re.DOTALL,
)
_CLOSERS = {")": "(", "]": "["}


@dataclass
class _Open:
    """A mark that waits for its partner."""

    kind: str
    start: int
    end: int

    @property
    def is_math(self) -> bool:
        return self.kind in ("$", "$$", "(", "[") or self.kind.removeprefix("env ") in MATH_ENVIRONMENTS


def balanced(source: str) -> tuple[str, list[str]]:
    r"""Mend what has no partner; the mended source, and what was mended, in words.

    An unmatched brace or ``\end`` is taken out. An environment that is left open is closed before the next heading,
    or where the one around it ends; a formula at the next blank line. A lone ``$`` becomes a dollar sign.

    Raises:
        PaperParseError: Braces and environments are nested deeper than any paper's.
    """
    return _Mender(source).run()


@dataclass
class _Mender:
    source: str
    stack: list[_Open] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)

    def run(self) -> tuple[str, list[str]]:
        for match in _TOKEN.finditer(self.source):
            self._take(match)
            if len(self.stack) > LIMITS.nesting:
                near = " ".join(self.source[max(0, match.start() - 60) : match.start()].split())
                raise PaperParseError(
                    f"Braces and environments lie more than {LIMITS.nesting} deep inside each other, near {near!r}.",
                    hint="Close them, or give the paper as PDF.",
                )
        self._drop_to(0, len(self.source))
        return spliced(self.source, self.edits), self.mended

    def _take(self, match: re.Match[str]) -> None:
        at, end = match.span()
        if match["edge"] == "begin":
            self.stack.append(_Open(f"env {match['name']}", at, end))
        elif match["edge"] == "end":
            self._close(f"env {match['name']}", at, end)
        elif match["brace"] == "{":
            self.stack.append(_Open("{", at, end))
        elif match["brace"] == "}":
            self._close("{", at, end)
        elif match["math"]:
            if match["math"] in _CLOSERS:
                self._close(_CLOSERS[match["math"]], at, end)
            else:
                self.stack.append(_Open(match["math"], at, end))
        elif match["dollar"]:
            self._dollar(match["dollar"], at, end)
        elif match["blank"]:
            self._end_math(at)
        elif match["heading"]:
            # A heading inside an open brace or list is a sign that its end was forgotten, if it has none later on.
            while self.stack and self.stack[-1].kind in _NEVER_AROUND_HEADINGS:
                self._drop_to(len(self.stack) - 1, at)

    def _dollar(self, mark: str, at: int, end: int) -> None:
        """A dollar closes the formula that is open at this level, or opens one; ``$$`` inside ``$`` is two."""
        top = self.stack[-1].kind if self.stack else ""
        if top == mark:
            self.stack.pop()
        elif top == "$" and mark == "$$":
            self.stack[-1] = _Open("$", at + 1, end)
        elif top == "$$":
            self._edit(at, end, "", "a formula between $$ with a single $ in it")
        else:
            self.stack.append(_Open(mark, at, end))

    def _close(self, kind: str, at: int, end: int) -> None:
        place = next((i for i in range(len(self.stack) - 1, -1, -1) if self.stack[i].kind == kind), None)
        if place is not None and kind == "{" and any(o.kind.startswith("env ") for o in self.stack[place + 1 :]):
            place = None
        if place is None:
            name = f"\\end{{{kind[4:]}}}" if kind.startswith("env ") else "a closing brace or bracket"
            self._edit(at, end, "", f"{name} without its beginning")
            return
        self._drop_to(place + 1, at)
        self.stack.pop()

    def _end_math(self, at: int) -> None:
        place = next((i for i, opened in enumerate(self.stack) if opened.is_math), None)
        if place is not None:
            self._drop_to(place, at)

    def _drop_to(self, size: int, at: int) -> None:
        """Mend every mark above ``size`` that is still open at ``at``."""
        while len(self.stack) > size:
            opened = self.stack.pop()
            if opened.kind.startswith("env "):
                name = opened.kind[4:]
                if name != "document":
                    self._edit(at, at, f"\\end{{{name}}}\n\n", f"an environment {name!r} without its end")
            elif opened.kind == "{":
                self._edit(opened.start, opened.end, " ", "an opening brace without its partner")
            elif opened.kind == "$":
                self._edit(opened.start, opened.end, "\\$", "a $ without its partner")
            else:
                self._edit(opened.start, opened.end, "", "a displayed formula without its end")

    def _edit(self, start: int, end: int, text: str, what: str) -> None:
        self.edits.append((start, end, text))
        near = " ".join(self.source[max(0, start - 30) : start + 40].split())
        self.mended.append(f"{what}, near {near!r}")


_NEVER_AROUND_HEADINGS = frozenset(
    f"env {name}"
    for name in (
        *MATH_ENVIRONMENTS,
        "itemize",
        "enumerate",
        "table",
        "table*",
        "figure",
        "figure*",
        "tabular",
        "abstract",
    )
)
