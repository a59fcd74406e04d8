"""Questions about nodes that more than one kind of block asks."""

from __future__ import annotations

import re
from typing import Any

from referee.papers.latex.comments import VERBATIM
from referee.papers.latex.scan import names
from referee.papers.latex.specs import HEADINGS, arguments, children, printed_arguments

BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
SIZES = dict(zip(names("tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge"),
                  (5.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.4, 17.3, 20.7, 24.9), strict=True))  # fmt: skip
_BLOCK_MACROS = frozenset((*HEADINGS, "par", "captionof", "appendix", VERBATIM))


def inside(node: Any) -> str:
    r"""A display's LaTeX between its marks or its ``\begin`` and ``\end`` with their arguments."""
    source = str(node.latex_verbatim())
    name = getattr(node, "environmentname", "")
    if not name:
        left, right = node.delimiters
        return source.removeprefix(left).removesuffix(right)
    inner = children(node)
    if not inner:
        return ""
    start = inner[0].pos - node.pos
    return source[start : source.rfind(f"\\end{{{name}}}")] if f"\\end{{{name}}}" in source else source[start:]


class TextPart:
    """A part of a text node between two blank lines, in the form the renderer expects."""

    def __init__(self, chars: str) -> None:
        from pylatexenc.latexwalker import LatexCharsNode

        self._kind = LatexCharsNode
        self.chars = chars

    def isNodeType(self, kind: Any) -> bool:  # noqa: N802  # pylatexenc's name
        """Whether the renderer asks for characters."""
        return kind is self._kind


def holds_blocks(node: Any, depth: int = 0) -> bool:
    """Whether something inside ends a paragraph: an environment, a heading, a display, a blank line."""
    if node is None or depth > 80:
        return False
    if getattr(node, "environmentname", "") and getattr(node, "environmentname", "") != "math":
        return True
    if getattr(node, "displaytype", "") == "display" or getattr(node, "macroname", "") in _BLOCK_MACROS:
        return True
    if hasattr(node, "chars"):
        return bool(BLANK_LINE.search(node.chars))
    if getattr(node, "displaytype", ""):
        return False
    inner = printed_arguments(node) if getattr(node, "macroname", "") else children(node)
    return any(holds_blocks(child, depth + 1) for child in inner)


def changes_size(node: Any) -> bool:
    """Whether a group sets its letters larger or smaller."""
    return any(getattr(child, "macroname", "") in SIZES for child in children(node))


def items(nodes: list[Any]) -> list[tuple[Any, list[Any]]]:
    r"""What stands before the first ``\item``, then each item's own label (None) and nodes."""
    items: list[tuple[Any, list[Any]]] = [(None, [])]
    for node in nodes:
        if getattr(node, "macroname", "") == "item":
            items.append((next((a for a in arguments(node) if a is not None), None), []))
        else:
            items[-1][1].append(node)
    return items if _has_text(items[0][1]) else items[1:]


def _has_text(nodes: list[Any]) -> bool:
    """Whether any of the nodes is more than blanks and settings."""
    return any(hasattr(n, "chars") and n.chars.strip() for n in nodes)
