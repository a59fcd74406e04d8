"""Pseudocode as plain lines: ``algorithmic``, ``algpseudocode`` and ``algorithm2e``."""

from __future__ import annotations

from typing import Any

from referee.papers.latex.inline import Reading, text_of
from referee.papers.latex.scan import names
from referee.papers.latex.specs import arguments, children

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


class _Lines:
    """Lines of code while they are collected."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.lines: list[str] = []
        self.waiting: list[Any] = []
        self.depth = 0
        self.head = ""
        self.remarks: list[str] = []

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
