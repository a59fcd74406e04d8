r"""Tables as cells: ``tabular`` and its kin, with ``\multicolumn``, ``\multirow`` and rules of every sort."""

from __future__ import annotations

import re
from typing import Any

from referee.papers.latex.inline import Reading, is_bold, key_text, text_of, tidy
from referee.papers.latex.specs import TABULARS, arguments, children

_MOST_COLUMNS = 200
_REPEATED_HEAD = ("endhead", "endfoot", "endlastfoot")
_SCRIPT = re.compile(r"\s*[_^]\s*(?=[±(∓])")
Cells = tuple[tuple[str, ...], ...]


def table_cells(node: Any, reading: Reading) -> Cells:
    r"""The cells of a ``tabular``-like environment, all rows equally long, rows without text left out.

    A cell over several columns keeps its text in the first of them and leaves the others empty, so does one over
    several rows. A number set in bold is marked ``**94.5**``. Line breaks and nested tables in a cell become blanks.
    """
    rows = [_row(row, reading) for row in _rows(_without_repeats(children(node)))]
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    return tuple((*row, *("" for _ in range(width - len(row)))) for row in rows)


def _without_repeats(nodes: list[Any]) -> list[Any]:
    r"""A ``longtable`` prints its head again on each page: what stands between the first head and ``\endhead`` goes."""
    first = next((i for i, n in enumerate(nodes) if getattr(n, "macroname", "") == "endfirsthead"), None)
    marks = [i for i, n in enumerate(nodes) if getattr(n, "macroname", "") in _REPEATED_HEAD]
    if not marks:
        return nodes
    if first is not None and first < marks[-1]:
        return nodes[:first] + nodes[marks[-1] + 1 :]
    return nodes[: marks[0]] + nodes[marks[-1] + 1 :]


def _rows(nodes: list[Any]) -> list[list[list[Any]]]:
    rows: list[list[list[Any]]] = [[[]]]
    for node in _opened(nodes, 0):
        name = getattr(node, "macroname", "")
        if name in ("\\", "tabularnewline", "cr"):
            rows.append([[]])
        elif getattr(node, "specials_chars", "") == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(node)
    return rows


def _opened(nodes: list[Any], depth: int) -> list[Any]:
    r"""Braces around whole cells or rows (``{\bf a & b}``) taken away, so that their columns count."""
    flat: list[Any] = []
    for node in nodes:
        is_group = hasattr(node, "delimiters") and node.delimiters == ("{", "}")
        splits = is_group and any(getattr(n, "specials_chars", "") == "&" for n in children(node))
        flat.extend(_opened(children(node), depth + 1) if splits and depth < 4 else [node])
    return flat


def _row(row: list[list[Any]], reading: Reading) -> list[str]:
    cells: list[str] = []
    for nodes in row:
        span = _span(nodes)
        cells.append(_cell(nodes, reading))
        cells.extend("" for _ in range(span - 1))
    return cells[:_MOST_COLUMNS]


def _span(nodes: list[Any]) -> int:
    for node in nodes:
        if getattr(node, "macroname", "") == "multicolumn" and arguments(node):
            count = key_text(arguments(node)[0]).strip()
            return min(int(count), _MOST_COLUMNS) if count.isdigit() else 1
    return 1


def _cell(nodes: list[Any], reading: Reading) -> str:
    shown = [node for node in nodes if getattr(node, "macroname", "") not in ("caption", "label")]
    for node in nodes:
        if getattr(node, "macroname", "") == "label" and arguments(node):
            reading.label(key_text(arguments(node)[-1]))
    text = tidy(_SCRIPT.sub(" ", text_of(shown, reading, plain_math=True)))
    bold = any(char.isdigit() for char in text) and is_bold(_innermost(shown))
    return f"**{text}**" if bold else text


def _innermost(nodes: list[Any]) -> list[Any]:
    """Inside a spanning cell and a formula, where the bold command stands."""
    shown = [n for n in nodes if getattr(n, "chars", "x").strip()]
    while len(shown) == 1:
        node = shown[0]
        if getattr(node, "macroname", "") in ("multicolumn", "multirow", "makecell") and arguments(node):
            shown = children(arguments(node)[-1])
        elif hasattr(node, "displaytype"):
            shown = children(node)
        else:
            break
        shown = [n for n in shown if getattr(n, "chars", "x").strip()]
    return shown


def is_tabular(node: Any) -> bool:
    """Whether the node is an environment of rows and columns outside of formulas."""
    return getattr(node, "environmentname", "") in TABULARS
