"""An element tree as the page's text: headings, nested items, table rows, text boxes, paragraphs, one a line.

It reads HTML and the extractor's XML alike, so that both ways to the main text end in the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from referee.venues.page.blocks import FENCE

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset({"ul", "ol", "list", "dl", "menu"})
_ITEMS = frozenset({"li", "item", "dd", "dt"})
_TABLES = frozenset({"table"})
_ROWS = frozenset({"tr", "row"})
_CELLS = frozenset({"td", "th", "cell"})
_CODE = frozenset({"pre", "textarea"})
_BREAKS = frozenset({"br", "lb"})
_BOLD = frozenset({"b", "strong"})
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "del", "dfn", "em", "font", "hi", "i", "ins", "kbd", "label", "mark", "q",
     "ref", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "br", "lb"}
)  # fmt: skip
_SKIPPED = frozenset({"script", "style", "noscript", "svg", "template", "graphic", "img", "iframe"})
_SPACE = re.compile(r"\s+")
_MOST_BOLD_WORDS = 12
_DEEPEST = 150


def tree_text(root: Any) -> str:
    """The text of an lxml tree, one block a line; nothing but markup and white space is lost.

    A paragraph that is bold as a whole and short counts as a heading, one level below the last real one.
    """
    writer = _Writer()
    writer.block(root, 0)
    return "\n".join(writer.lines)


class _Writer:
    """Collects lines; runs of inline content become paragraphs where a block begins or ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._runs: list[tuple[str, bool]] = []
        self._level = 1
        self._marker = ""

    def block(self, node: Any, depth: int, indent: int = -1) -> None:
        tag = node.tag
        if not isinstance(tag, str) or tag in _SKIPPED:
            return
        level = _heading_level(node)
        if level:
            self._flush(indent)
            self._heading(level, plain(node))
        elif tag in _TABLES and depth < _DEEPEST:
            self._flush(indent)
            self._table(node, depth)
        elif tag in _CODE or (tag == "code" and "\n" in (node.text or "")):
            self._flush(indent)
            self.lines += [FENCE, *[line for line in _all_text(node).splitlines() if line.strip()], FENCE]
        elif depth >= _DEEPEST:
            self._runs.append((_SPACE.sub(" ", _all_text(node)), False))
        elif tag in _LISTS:
            self._flush(indent)
            self._inside(node, depth, indent + 1)
        else:
            self._inside(node, depth, indent)

    def _inside(self, node: Any, depth: int, indent: int) -> None:
        """Text and children of a node that is no leaf of ours."""
        if node.tag in _ITEMS:
            self._flush(indent)
            self._marker = _marker(node)
        elif node.tag not in _INLINE:
            self._flush(indent)
        self._runs.append(((node.text or "").replace("\n", " "), _is_bold(node)))
        for child in node:
            if isinstance(child.tag, str) and child.tag in _INLINE and not _holds_blocks(child):
                self._runs += _inline(child, _is_bold(child))
            else:
                self.block(child, depth + 1, indent)
            self._runs.append(((child.tail or "").replace("\n", " "), _is_bold(node)))
        if node.tag not in _INLINE:
            self._flush(indent)
        if node.tag in _ITEMS:
            self._marker = ""

    def _heading(self, level: int, text: str) -> None:
        if text:
            self._level = level
            self.lines.append("#" * level + " " + text)

    def _table(self, node: Any, depth: int) -> None:
        """Rows as lines; a table that only lays out a page is read cell by cell."""
        for row in _rows(node):
            cells = [cell for cell in row if cell.tag in _CELLS]
            texts = [plain(cell) for cell in cells]
            if sum(map(bool, texts)) > 1 and not any(_is_layout(cell) for cell in cells):
                self.lines.append(" | ".join(texts))
                continue
            for cell in cells:
                self._inside(cell, depth + 1, -1)

    def _flush(self, indent: int) -> None:
        """Write the collected runs: an item line after a marker, a bold heading, or a paragraph."""
        runs, self._runs = self._runs, []
        for line in _split_lines(runs):
            text = _SPACE.sub(" ", "".join(part for part, _ in line)).strip()
            if not text:
                continue
            if self._marker:
                self.lines.append("  " * max(indent, 0) + self._marker + text)
                self._marker = ""
            elif indent >= 0:
                self.lines.append("  " * (indent + 1) + "- " + text)
            elif _all_bold(line) and _like_heading(text):
                self.lines.append("#" * min(self._level + 1, 6) + " " + text.rstrip(" :"))
            else:
                self.lines.append(text if not text.startswith(("#", FENCE)) else f"\\{text}")


def plain(node: Any) -> str:
    """A node's text on one line."""
    return _SPACE.sub(" ", "".join(text for text, _ in _inline(node, False))).strip()


def _inline(node: Any, bold: bool) -> Iterator[tuple[str, bool]]:
    """Text runs below a node, each with whether it is bold; line breaks are kept as such.

    The walk keeps its own stack, since a page may nest deeper than Python may call.
    """
    stack: list[tuple[Any, bool, bool]] = [(node, bold, False)]
    while stack:
        current, is_bold, leaving = stack.pop()
        if leaving:
            yield current, is_bold
            continue
        if not isinstance(current.tag, str) or current.tag in _SKIPPED:
            continue
        if current.tag in _BREAKS:
            yield "\n", is_bold
            continue
        inner = is_bold or _is_bold(current)
        if current.tag not in _INLINE:
            yield " ", inner
        yield (current.text or "").replace("\n", " "), inner
        for child in reversed(current):
            stack.append(((child.tail or "").replace("\n", " "), inner, True))
            stack.append((child, inner, False))


def _split_lines(runs: list[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    """Runs cut at the line breaks that a break element left; white space of the source is one blank."""
    line: list[tuple[str, bool]] = []
    for text, bold in runs:
        if text == "\n":
            yield line
            line = []
        else:
            line.append((text, bold))
    yield line


def _heading_level(node: Any) -> int:
    """1 to 6 for ``h1`` or the extractor's ``head``, 0 for another element."""
    if node.tag == "head" and node.get("rend"):
        return _HEADINGS.get(node.get("rend"), 3)
    return _HEADINGS.get(node.tag, 0)


def _is_bold(node: Any) -> bool:
    return node.tag in _BOLD or (node.tag == "hi" and node.get("rend") == "#b")


def _all_bold(line: list[tuple[str, bool]]) -> bool:
    return all(bold or not text.strip(" :") for text, bold in line)


def _like_heading(text: str) -> bool:
    return len(text.split()) <= _MOST_BOLD_WORDS and not text.endswith((".", ",", ";", "!")) and text[:1].isalnum()


def _marker(node: Any) -> str:
    parent, own = node.getparent(), node.get("value", "")
    if own.isdigit() and len(own) < 4:
        return f"{int(own)}. "
    if parent is None or not (parent.tag == "ol" or (parent.tag == "list" and parent.get("rend") == "ol")):
        return "- "
    first = parent.get("start", "1")
    place = 1 + sum(1 for before in node.itersiblings(preceding=True) if before.tag in _ITEMS)
    return f"{place - 1 + (int(first) if first.isdigit() and len(first) < 4 else 1)}. "


def _rows(table: Any) -> Iterator[Any]:
    """The table's own rows, not those of a table inside it."""
    for child in table:
        if child.tag in _ROWS:
            yield child
        elif child.tag in ("tbody", "thead", "tfoot"):
            yield from (row for row in child if row.tag in _ROWS)


def _is_layout(cell: Any) -> bool:
    return any(child.tag in _TABLES or _heading_level(child) for child in cell.iter() if isinstance(child.tag, str))


def _holds_blocks(node: Any) -> bool:
    return any(isinstance(child.tag, str) and child.tag not in _INLINE | _SKIPPED for child in node.iter())


def _all_text(node: Any) -> str:
    return "".join(node.itertext())
