"""Foreign text inside Markdown: it may carry emphasis and lists, but no structure of the document around it.

Headings, rules, quotations, code fences, HTML, links, images and link definitions of a model's text are escaped with
a backslash. A backslash that is already there is counted, so that escaping cannot be undone by one put in front.
"""

from __future__ import annotations

import re

from referee.reports.plain import clean, one_line

_LIVE = re.compile(r"(\\*)(<(?=[A-Za-z/!?])|\](?=[(:\[])|&(?=#|\w+;))")
_EMPHASIS = re.compile(r"(\\*)([*`|]|~~|(?<!\w)_|_(?!\w))")
_START = re.compile(r"((?:\s|[-+*](?=\s)|\d{1,9}[.)](?=\s))*)(#{1,6}(?=\s|$)|>|`{3,}|~{3,})")
_RULE = re.compile(r"\s*(?:-\s*)+$|\s*(?:=\s*)+$|\s*(?:\*\s*)+$|\s*(?:_\s*)+$")
_LIST = re.compile(r"(?:[-+]|\d{1,9}[.)])(?=\s|$)|#{1,6}(?=\s|$)|>|`{3,}|~{3,}|[-=]+$")


def block(text: str) -> str:
    """Paragraphs and lists of a foreign text, as Markdown that opens no structure outside its own place."""
    lines = [_block_line(line.rstrip()) for line in clean(text).strip("\n").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def inline(text: str) -> str:
    """A foreign text on one line, its own Markdown shown and not obeyed."""
    line = _LIVE.sub(_escaped, _EMPHASIS.sub(_escaped, one_line(text)))
    return f"\\{line}" if _LIST.match(line) and not line[0].isdigit() else _numbered(line)


def _block_line(line: str) -> str:
    if _RULE.fullmatch(line):
        indent = len(line) - len(line.lstrip())
        return f"{line[:indent]}\\{line[indent:]}" if line.strip() else line
    started = _START.match(line)
    if started is not None:
        at = started.start(2)
        line = f"{line[:at]}\\{line[at:]}"
    return _LIVE.sub(_escaped, line)


def _escaped(match: re.Match[str]) -> str:
    """One more backslash where an even number of them leaves the mark alive."""
    slashes, mark = match.groups()
    return f"{slashes}{mark}" if len(slashes) % 2 else f"{slashes}\\{mark}"


def _numbered(line: str) -> str:
    return re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", line)
