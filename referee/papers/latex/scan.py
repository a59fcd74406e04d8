"""Reading LaTeX source by characters: braces, arguments, names."""

from __future__ import annotations

import re

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


def names(text: str) -> tuple[str, ...]:
    """The words of ``text``: long lists of commands are easier to read, and to keep sorted, as words than as a list."""
    return tuple(text.split())
