"""What is set apart from running text: the cells of tables, displayed formulas with their numbers, pseudocode."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from referee.papers.latex.counters import Target
from referee.papers.latex.inline import Reading, is_bold, key_text, text_of, tidy
from referee.papers.latex.nodes import arguments, children
from referee.papers.latex.scan import names
from referee.papers.pieces import Piece, filled_up, whole

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
    return filled_up([row for row in rows if any(row)])


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
        spans = (arguments(n)[0] for n in nodes if getattr(n, "macroname", "") == "multicolumn" and arguments(n))
        count = key_text(next(spans, None)).strip()
        cells += [
            _cell(nodes, reading),
            *("" for _ in range(1, min(whole(count, 1), _MOST_COLUMNS))),
        ]
    reading.aside.cells_cut += sum(map(bool, cells[_MOST_COLUMNS:]))
    return cells[:_MOST_COLUMNS]


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
    rows = _numbered_rows(source) if base in _BY_ROW else [source]
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
    target = reading.current if number is None else Target("equation", number)
    if target:
        for key in keys:
            reading.counters.labels.setdefault(key.strip(), target)
    return number


def _numbered_rows(source: str) -> list[str]:
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
    text = " ".join(_SILENT.sub("", _TAG.sub("", _LABEL.sub("", source))).split())
    return "" if _NOISE.match(text) else text


_LINE = {
    "State": "", "STATE": "", "Statex": "", "Require": "Require: ", "REQUIRE": "Require: ", "Ensure": "Ensure: ",
    "ENSURE": "Ensure: ", "Input": "Input: ", "INPUT": "Input: ", "Output": "Output: ", "OUTPUT": "Output: ",
    "Return": "return ", "RETURN": "return ", "KwRet": "return ", "KwIn": "Input: ", "KwOut": "Output: ",
    "KwData": "Data: ", "KwResult": "Result: ", "Print": "print ", "PRINT": "print ", "Repeat": "repeat",
    "REPEAT": "repeat", "Loop": "loop", "LOOP": "loop", "Else": "else", "ELSE": "else",
}  # fmt: skip
_OPENING = {
    "If": "if {}:", "IF": "if {}:", "ElsIf": "else if {}:", "ELSIF": "else if {}:", "ElseIf": "else if {}:",
    "uIf": "if {}:", "lIf": "if {}:", "eIf": "if {}:", "uElseIf": "else if {}:", "For": "for {}:", "FOR": "for {}:",
    "lFor": "for {}:", "ForEach": "for each {}:", "ForAll": "for all {}:", "FORALL": "for all {}:",
    "lForEach": "for each {}:",
    "While": "while {}:", "WHILE": "while {}:", "lWhile": "while {}:", "Until": "until {}", "UNTIL": "until {}",
    "Procedure": "procedure {}", "Function": "function {}", "uElse": "else:", "lElse": "else:",
}  # fmt: skip
_STARTS = frozenset(names("If IF For FOR ForAll FORALL While WHILE Repeat REPEAT Loop LOOP Procedure Function"))
_TURNS = frozenset(names("ElsIf ELSIF Else ELSE ElseIf"))
_ENDS = frozenset(
    names("""EndIf ENDIF EndFor ENDFOR EndWhile ENDWHILE EndProcedure EndFunction EndLoop ENDLOOP Until UNTIL""")
)
_BREAKS = frozenset(("\\", ";", "par"))
_TITLED_BLOCKS = frozenset(
    names("If uIf lIf eIf ElseIf uElseIf lElseIf For lFor ForEach lForEach While lWhile Else uElse lElse")
)


@dataclass
class _Lines:
    """Lines of code while they are collected."""

    reading: Reading
    lines: list[str] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)
    depth: int = 0
    head: str = ""
    remarks: list[str] = field(default_factory=list)

    def flush(self) -> None:
        text = text_of(self.waiting, self.reading) if self.waiting else ""
        whole = " ▷ ".join([f"{self.head}{text}".strip(), *self.remarks]).strip()
        if whole:
            self.lines.append("  " * min(self.depth, 20) + whole)
        self.waiting, self.head, self.remarks = [], "", []

    def walk(self, nodes: list[Any], blocks: bool) -> None:
        for node in nodes:
            name = getattr(node, "macroname", "")
            if name in _BREAKS:
                self.flush()
            elif name in ("Comment", "COMMENT", "tcp", "tcc"):
                self.remarks.extend(text_of(a, self.reading) for a in arguments(node)[-1:] if a is not None)
            elif name in _ENDS or name in _LINE or name in _OPENING:
                self._command(node, name, blocks)
            elif getattr(node, "environmentname", ""):
                self.flush()
                self.walk(children(node), blocks)
                self.flush()
            else:
                self.waiting.append(node)

    def _command(self, node: Any, name: str, blocks: bool) -> None:
        self.flush()
        if (name in _ENDS or name in _TURNS) and not blocks:
            self.depth = max(0, self.depth - 1)
        given = [a for a in arguments(node) if a is not None and not hasattr(a, "chars")]
        if name in _ENDS and name not in _OPENING:
            return
        bodies = given[1:] if blocks and name in _TITLED_BLOCKS else []
        titles = given[: len(given) - len(bodies)]
        title = " ".join(text_of([g], self.reading) for g in titles)
        self.head = _OPENING[name].format(title) if name in _OPENING else f"{_LINE[name]}{title}"
        if name in _OPENING or name in _STARTS | _TURNS:
            self.flush()
        for body in bodies:
            self.depth += 1
            self.walk(children(body), blocks)
            self.flush()
            self.depth -= 1
        if not blocks and name in _STARTS | _TURNS:
            self.depth += 1


def algorithm_lines(nodes: list[Any], reading: Reading, *, blocks: bool) -> str:
    """Pseudocode, a statement a line, indented by two blanks a level.

    Args:
        nodes: What stands inside the environment.
        reading: The paper as read so far.
        blocks: Whether loops hold their statements in braces, as ``algorithm2e`` writes them.
    """
    lines = _Lines(reading)
    lines.walk(nodes, blocks)
    lines.flush()
    return "\n".join(lines.lines)
