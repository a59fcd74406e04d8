"""Lists: the mark that each item prints."""

from __future__ import annotations

import re

from referee.papers.latex.counters import shown
from referee.papers.latex.scan import names

_ENUMERATE = (("{}.", "arabic"), ("({})", "alph"), ("{}.", "roman"), ("{}.", "Alph"))
_STYLED = re.compile(r"\\(arabic|roman|Roman|alph|Alph)\s*\*?")
_SHORT = re.compile(r"(?<![A-Za-z\\])([1iIaA])(?![A-Za-z])")
_SHORT_STYLES = {"1": "arabic", "i": "roman", "I": "Roman", "a": "alph", "A": "Alph"}
LISTS = frozenset(names("itemize enumerate description list compactitem compactenum inparaenum asparaenum tablenotes"))
NUMBERED = frozenset(names("enumerate compactenum inparaenum asparaenum"))


def item_mark(kind: str, options: str, depth: int, number: int) -> tuple[str, str]:
    r"""What stands before an item, and the number a reference to it prints.

    Args:
        kind: The list's environment.
        options: Its optional argument, as ``enumitem`` (``label=(\roman*)``) or ``enumerate`` (``(i)``) reads it.
        depth: Numbered lists around it.
        number: The item's place, from 1.
    """
    if kind not in NUMBERED:
        return "-", ""
    label = re.search(r"label\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|[^,]+)", options)
    if label:
        form = re.sub(r"\\(?:textbf|textit|bfseries|itshape|upshape|protect)\b|[{}]", "", label[1])
        mark = _STYLED.sub(lambda m: shown(m[1], number), form).strip()
        return re.sub(r"\\[a-zA-Z]+", "", mark) or "-", mark.strip("().:")
    if options and "=" not in options and (short := _SHORT.search(options)):
        value = shown(_SHORT_STYLES[short[1]], number)
        mark = re.sub(r"[{}\\]", "", options[: short.start()] + value + options[short.end() :])
        return mark.strip(), value
    form, style = _ENUMERATE[min(depth, 3)]
    value = shown(style, number)
    return form.format(value), value
