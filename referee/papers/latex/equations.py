"""Displayed formulas: their LaTeX, cut where LaTeX prints numbers, and those numbers."""

from __future__ import annotations

import re

from referee.papers.latex.counters import Target
from referee.papers.latex.inline import Reading
from referee.papers.latex.scan import names
from referee.papers.pieces import Piece

_BY_ROW = frozenset(names("align alignat flalign gather eqnarray IEEEeqnarray xalignat"))
_LABEL = re.compile(r"\s*\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\s*(\*?)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_SILENT = re.compile(r"\\(?:nonumber|notag)(?![a-zA-Z])")
_TOKEN = re.compile(r"\\\\(?:\*)?(?:\s*\[[^\]\n]{0,20}\])?|\\(?:begin|end)\s*\{[^{}]*\}|\\.|[{}]", re.DOTALL)
_NOISE = re.compile(r"^(?:[\s&,.;]|\\[,;!:]|\\q?quad)*$")


def equation_pieces(name: str, source: str, reading: Reading, is_math_mark: bool = False) -> list[Piece]:
    r"""A display as equations: one for each printed number; what has none goes with the numbered one after it.

    Args:
        name: The environment, with its star; empty for ``\[...\]`` and ``$$...$$``.
        source: What stands inside.
        reading: Counts, and takes the labels.
        is_math_mark: Whether it is set off by marks instead of an environment, and so is never numbered.
    """
    base = name.removesuffix("*")
    numbered = not is_math_mark and not name.endswith("*") and base not in ("displaymath", "math")
    rows = _rows(source) if base in _BY_ROW else [source]
    pieces: list[Piece] = []
    pending: list[str] = []
    for index, row in enumerate(rows):
        number = _number(row, numbered, reading)
        pending.append(row)
        if number is not None or index == len(rows) - 1:
            text = _clean(" \\\\ ".join(pending))
            pending = []
            if text:
                pieces.append(Piece(kind="equation", text=text, label=f"({number})" if number else None))
    return pieces


def _number(row: str, numbered: bool, reading: Reading) -> str | None:
    """The number printed beside a row; its labels then name it."""
    keys = _LABEL.findall(row)
    bare = _LABEL.sub("", row)
    tag = _TAG.search(bare)
    number: str | None = None
    if tag:
        number = re.sub(r"[$\\{}]", "", tag[2]).strip() or None
    elif numbered and not _SILENT.search(bare) and not _NOISE.match(bare):
        number = reading.counters.step("equation")
    elif keys and reading.current is not None:
        for key in keys:
            reading.label(key)
    if number is not None:
        for key in keys:
            reading.counters.labels.setdefault(key.strip(), Target("equation", number))
    return number


def _rows(source: str) -> list[str]:
    r"""Rows parted by ``\\`` that stands in no inner environment or brace."""
    rows: list[str] = []
    depth, start = 0, 0
    for match in _TOKEN.finditer(source):
        mark = match[0]
        if mark == "{" or mark.startswith("\\begin"):
            depth += 1
        elif mark == "}" or mark.startswith("\\end"):
            depth -= 1
        elif mark.startswith("\\\\") and depth <= 0:
            rows.append(source[start : match.start()])
            start = match.end()
    rows.append(source[start:])
    return [row for row in rows if row.strip()] or [""]


def _clean(source: str) -> str:
    """LaTeX without its labels and number commands, on one line."""
    bare = _SILENT.sub("", _TAG.sub("", _LABEL.sub("", source)))
    text = " ".join(bare.split())
    return "" if _NOISE.match(text) else text
