r"""JSON objects in a model's text: reasoning left out, and mended where they can be read in one way only.

Mended are raw control characters in strings, backslashes that begin no JSON escape, and commas before a closing
bracket. json-repair (0.64.6) was tried for this. It also closes objects that were cut off, keeps the last of two
values of a key and the last of two objects, drops words (``"x" "y"``), reads NaN, and decodes ``\theta`` as a tab: it
chooses where a reply has no single reading, so it is not used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from referee.schemas.foreign import Unreadable, json_value


class UnusableReply(ValueError):
    """A reply that is no valid instance; the message is fit to be shown to the model that wrote it.

    ``fields`` are those that do not fit. ``once`` is whether the model gets only one more try.
    """

    def __init__(self, message: str, fields: tuple[str, ...] = (), *, once: bool = False) -> None:
        super().__init__(message)
        self.fields = fields
        self.once = once


@dataclass(frozen=True)
class FoundJson:
    """JSON in a text: as it stands there, and its value or what keeps it from being read."""

    text: str
    value: Any = None
    problem: UnusableReply | None = None


_NAMES = "(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad|internal_monologue)"
_OPENS = rf"<{_NAMES}(?:\s[^<>]*)?>|\[THINK\]|◁think▷"
_CLOSES = rf"</{_NAMES}\s*>|\[/THINK\]|◁/think▷"
_MARK = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|[{{]", re.IGNORECASE)
_CLOSING = re.compile(_CLOSES, re.IGNORECASE)
_MOST_BROKEN = 8  # each costs a look at the rest of the text
_FENCE = re.compile("```")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_BEGINS_AS_OBJECT = re.compile(r'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})', re.DOTALL)
_MENDED = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_NO_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)', re.DOTALL)


def objects_in(text: str) -> list[FoundJson]:
    """The outermost JSON objects of a text that stand outside of its reasoning, in their order.

    A text that is JSON as a whole counts as that, whatever it holds. Objects within a broken one are parts of it and
    are not looked for; behind one that has no end, the text counts again from the next end of reasoning or code fence.
    """
    try:
        return [FoundJson(text, _decoded(text))]
    except Unreadable as error:
        if error.problem != "syntax":
            return [FoundJson(text, problem=UnusableReply(error.message))]
    found: list[FoundJson] = []
    at = broken = 0
    while broken < _MOST_BROKEN and (mark := _MARK.search(text, at)):
        at = mark.end()
        if mark["opens"]:
            closing = _CLOSING.search(text, at)
            at = closing.end() if closing else len(text)
        elif mark["closes"]:  # its opening stood in the template: all before it is reasoning
            found.clear()
        elif _BEGINS_AS_OBJECT.match(text, mark.start()):
            one, at = _object_at(text, mark.start())
            found.append(one)
            broken += one.problem is not None
    return found


def without_reasoning(text: str) -> str:
    """A text without its blocks of reasoning, for one in which no object was found."""
    opened = re.sub(rf"(?:{_OPENS}).*?(?:{_CLOSES}|\Z)", "", text, flags=re.DOTALL | re.IGNORECASE)
    return _CLOSING.split(opened)[-1].strip()


def _object_at(text: str, start: int) -> tuple[FoundJson, int]:
    """The object that begins there, and where to read on."""
    end = _end_of(text, start)
    part = text[start:end]
    try:
        return FoundJson(part, _decoded(_mended(part), strict=False)), end or len(text)
    except Unreadable as error:
        syntax = error.problem == "syntax"
        problem = UnusableReply(f"The reply is no valid JSON: {error.__cause__}." if syntax else error.message)
    resumed = _CLOSING.search(text, start, end or len(text)) or (_FENCE.search(text, start) if end is None else None)
    return FoundJson(part, problem=problem), resumed.start() if resumed else end or len(text)


def _end_of(text: str, start: int) -> int | None:
    """Where the bracket at ``start`` is closed; null where it is not."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += token[0] in ("{", "[")
        depth -= token[0] in ("}", "]")
        if not depth:
            return token.end()
    return None


def _mended(text: str) -> str:
    """Commas before a closing bracket taken away, and backslashes doubled that begin no escape."""
    return _MENDED.sub(lambda part: "" if part[0] == "," else _NO_ESCAPE.sub(_escape, part[0]), text)


def _escape(found: re.Match[str]) -> str:
    return found[0] if found[1] else r"\\"


def _decoded(text: str, *, strict: bool = True) -> Any:
    """Decode; raises ``Unreadable``."""
    return json_value(text, "The reply", keys_once=True, strict=strict)


# Commands whose first letter JSON decodes to a control character, and those of them whose rest is a word or a letter.
_COMMANDS = re.compile(
    r"""
    theta|tau|times|text|textbf|textit|texttt|textrm|textsf|textsc|textnormal|textstyle|textsuperscript|
    textsubscript|tfrac|tbinom|tilde|tan|tanh|to|top|tt|triangle|triangleq|triangleleft|triangleright|therefore|
    thickapprox|thicksim|tag|tiny|twoheadrightarrow|thinspace|rho|right|rightarrow|rightleftharpoons|
    rightharpoonup|rightsquigarrow|rangle|rbrace|rbrack|rceil|rfloor|rvert|rVert|rm|ref|root|rtimes|rule|nabla|
    natural|ncong|ne|nearrow|neg|neq|newline|nexists|ngeq|ngtr|ni|nleq|nless|nmid|nolimits|nonumber|norm|
    normalfont|normalsize|not|notin|nparallel|nprec|nsim|nsubseteq|nsupseteq|nsucc|nu|num|nwarrow
    """,
    re.VERBOSE,
)
_DOUBTFUL = re.compile("tan|to|tt|rangle|rfloor|rm|rule|ne|neg|ni|nu")
_LETTERS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_DECODED = re.compile(r"[\b\f][a-z]+|[\n\r\t][A-Za-z]+")
_MATHEMATICS = re.compile(r"\$|\\[A-Za-z(\[]|[_^]\{")
_OPENS_FORMULA, _CLOSES_FORMULA = re.compile(r"\\[(\[]"), re.compile(r"\\[)\]]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def mended_prose(data: Any) -> Any:
    r"""Decoded JSON with LaTeX commands as they were meant, and no control character but tabs and line breaks.

    A model that writes ``\theta`` with one backslash into JSON has written a tab and ``heta``. What a field named
    ``code`` holds stays as it is.
    """
    if isinstance(data, dict):
        return {key: value if key == "code" else mended_prose(value) for key, value in data.items()}
    if isinstance(data, list):
        return [mended_prose(value) for value in data]
    return _prose(data) if isinstance(data, str) and not data.isprintable() else data


def _prose(text: str) -> str:
    r"""A string with the backslashes that decoding took from its commands.

    A line break counts as ``\n`` only before a whole command's name in a string with mathematics; where the rest of
    the name could be a word, only within a formula.
    """
    text = _DECODED.sub(lambda found: _command(found, mathematics=False), text)
    if _MATHEMATICS.search(text):
        text = _DECODED.sub(lambda found: _command(found, mathematics=True), text)
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _command(found: re.Match[str], *, mathematics: bool) -> str:
    name = _LETTERS[found[0][0]] + found[0][1:]
    sure = _COMMANDS.fullmatch(name) and not _DOUBTFUL.fullmatch(name) and (mathematics or name[0] != "n")
    begins_a_line = name == "neq" and found.string.startswith(".", found.end())  # with "eq."
    if name[0] in "bf" or (sure and not begins_a_line):
        return f"\\{name}"
    return f"\\{name}" if mathematics and _DOUBTFUL.fullmatch(name) and _in_formula(found) else found[0]


def _in_formula(found: re.Match[str]) -> bool:
    """Whether it stands between the signs of a formula; in a text without any, whether a line would not break there."""
    before = found.string[: found.start()]
    if "$" in found.string:
        return before.count("$") % 2 == 1
    if _OPENS_FORMULA.search(found.string):
        return len(_OPENS_FORMULA.findall(before)) > len(_CLOSES_FORMULA.findall(before))
    return before.endswith(tuple(" ({[=,+-*/<>^_|&"))
