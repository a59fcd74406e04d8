r"""What LaTeX itself never prints: comments, ``\iffalse`` blocks, ``comment`` environments, text after the end, and
words that commands drop or keep for programs.

Verbatim text is put aside first, so that no later step mistakes it for commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from referee.papers.hidden.addresses import orders_a_model
from referee.papers.latex.scan import NUMBER, POINTS

VERBATIM = "refereeverbatim"
VERB = "refereeverb"
_VERBATIM_NAMES = r"verbatim\*?|[BL]?Verbatim\*?|lst\w+|minted|alltt|pyverbatim|filecontents\*?"
_TOKENS = re.compile(
    rf"\\begin\s*\{{(?P<verbatim>{_VERBATIM_NAMES})\}}"
    r"|\\begin\s*\{(?P<comment>comment)\}"
    r"|\\(?:verb|lstinline)\*?(?P<mark>[^a-zA-Z\s*{\[])(?:(?P<inline>[^\n]*?)(?P=mark))?"
    r"|\\(?:url|path|nolinkurl|href)\s*\{(?P<link>[^{}\n]*)\}"
    r"|\\(?:.|\n)"
    r"|%(?P<remark>[^\n]*)(?:\n[ \t]*)?"
)
_BRANCHES = re.compile(r"\\(?P<word>if[a-zA-Z@]*|else|fi)(?![a-zA-Z@])|\\\\")
# These take arguments in braces and have no \fi.
_NOT_OPENING = re.compile(
    r"iff|ifthenelse|ifdef(?!ined$).*|ifundef|if(?:bool|toggle|blank|strempty|strequal|number|cs.+|package.+|class.+)"
)
_SWITCH = re.compile(r"\\if(?:false|true|num|dim|odd|x)(?![a-zA-Z@])|\\if(?![a-zA-Z@])")
_IF_ZERO = re.compile(r"\s*0\s*(?!\s*0)")
# Tests of literals alone, which every run of TeX decides alike; what stands in registers or macros is not decided here.
_UNIT = r"(pt|cm|mm|in|bp|sp)"
_COMPARED = re.compile(rf"\s*({NUMBER})\s*{_UNIT}?\s*([<=>])\s*({NUMBER})(?(2)\s*{_UNIT}|(?![\d.]))\s?")
_NUMBER = re.compile(r"\s*(-?\d+)(?![\d.])\s?")
_SIGNS = re.compile(r"\s*([^\\{}\s#%])\s*([^\\{}\s#%])")


@dataclass
class Aside:
    """Verbatim texts that were put aside, what was found broken on the way, and what is not printed, by its kind."""

    texts: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    cells_cut: int = 0
    remarks: list[str] = field(default_factory=list)
    switched_off: list[str] = field(default_factory=list)
    after_the_end: list[str] = field(default_factory=list)

    def keep(self, text: str) -> int:
        """Put a text aside; returns its number."""
        self.texts.append(text)
        return len(self.texts) - 1


def printed_source(source: str, aside: Aside) -> str:
    r"""The source without what never reaches the page; verbatim text becomes ``\refereeverbatim{number}``."""
    text = _drop_branches(_one_pass(source, aside), aside)
    for stop in ("\\endinput", "\\end{document}"):
        at = re.search(re.escape(stop) + r"(?![a-zA-Z@])", text)
        if at:
            aside.after_the_end.append(text[at.end() :])
            text = text[: at.start()] + (stop if "document" in stop else "")
    return text


def _one_pass(source: str, aside: Aside) -> str:
    parts: list[str] = []
    at = 0
    unclosed: set[str] = set()
    last: int | None = None
    while (match := _TOKENS.search(source, at)) is not None:
        parts.append(source[at : match.start()])
        at = match.end()
        name = match["verbatim"] or match["comment"]
        if name and name not in unclosed:
            end = source.find(f"\\end{{{name}}}", at)
            if end < 0:
                unclosed.add(name)
                aside.broken.append(f"an environment {name!r} without its end")
                end = len(source) if name == "comment" else at
            if match["comment"]:
                aside.remarks.append(source[at:end].strip())
                last = None
            if match["verbatim"] and not name.startswith("filecontents"):
                parts.append(f"\n\n\\{VERBATIM}{{{aside.keep(_code(name, source[at:end]))}}}\n\n")
            at = min(len(source), end + len(f"\\end{{{name}}}")) if end > at else at
        elif match["mark"]:
            inline = match["inline"]
            parts.append(match["mark"] if inline is None else f"\\{VERB}{{{aside.keep(inline)}}}")
        elif match["remark"] is not None:
            if last is not None and not source[last : match.start()].strip():
                aside.remarks[-1] += f" {match['remark'].strip()}"
            else:
                aside.remarks.append(match["remark"].strip())
            last = match.end()
            parts.append("\n" if source[at : at + 1] == "\n" else "")
        elif not name:
            parts.append(match[0].replace("%", "\\%") if match["link"] is not None else match[0])
    return "".join(parts) + source[at:]


def _code(name: str, text: str) -> str:
    """The code itself: options and, for ``minted``, the language stand on the first line."""
    head, line_end, rest = text.partition("\n")
    if name in ("lstlisting", "minted", "Verbatim", "BVerbatim", "LVerbatim"):
        head = re.sub(r"^\s*(?:\[[^\]]*\])?\s*(?:\{[^}]*\})?", "", head) if name == "minted" else head
        head = re.sub(r"^\s*\[[^\]]*\]", "", head)
    return f"{head}{line_end}{rest}".strip("\n") or " "


def _drop_branches(text: str, aside: Aside) -> str:
    r"""Without the dead branches of ``\iffalse``, ``\iftrue``, ``\if0`` and tests of literals; others stay."""
    if not _SWITCH.search(text):
        return text
    parts: list[str] = []
    at = 0
    stack: list[str] = []
    for match in _BRANCHES.finditer(text):
        word = match["word"]
        if not word or _NOT_OPENING.fullmatch(word):
            continue
        printed = "dead" not in stack
        (parts if printed else aside.switched_off).append(text[at : match.start()])
        at, known = _take_branch(word, text, match.end(), stack)
        if printed and not known:
            parts.append(match[0])
    if "dead" in stack:
        aside.broken.append("a block that is switched off without its end")
        return "".join(parts)
    return "".join(parts) + text[at:]


def _take_branch(word: str, text: str, end: int, stack: list[str]) -> tuple[int, bool]:
    """Follow one conditional word; returns the place after it and whether it is one that is decided here."""
    if (decided := _decided(word, text, end)) is not None:
        holds, after = decided
        stack.append("live" if holds else "dead")
        return after, True
    if word.startswith("if"):
        stack.append("unknown")
        return end, False
    if not stack:
        return end, False
    known = stack[-1] != "unknown"
    if word == "fi":
        stack.pop()
    elif known:
        stack[-1] = "live" if stack[-1] == "dead" else "dead"
    return end, known


def _decided(word: str, text: str, end: int) -> tuple[bool, int] | None:
    """Whether a test of literals holds, and the place behind it; None for a test that only TeX itself can decide."""
    if word in ("iftrue", "iffalse"):
        return word == "iftrue", end
    if word == "if" and (zero := _IF_ZERO.match(text, end)):
        return False, zero.end()
    if word == "ifodd" and (one := _NUMBER.match(text, end)):
        return int(one[1]) % 2 == 1, one.end()
    if word in ("if", "ifx") and (signs := _SIGNS.match(text, end)):
        return signs[1] == signs[2], signs.end()
    if word in ("ifnum", "ifdim") and (two := _COMPARED.match(text, end)):
        first, second = (float(two[at]) * POINTS[two[at + 1] or "pt"] for at in (1, 4))
        return {"<": first < second, "=": first == second, ">": first > second}[two[3]], two.end()
    return None


def document_body(text: str) -> tuple[str, str]:
    r"""Preamble and what stands between ``\begin{document}`` and its end; all of it where there is none."""
    begin = re.search(r"\\begin\s*\{document\}", text)
    end = re.search(r"\\end\s*\{document\}", text)
    body = text[begin.end() if begin else 0 : end.start() if end else len(text)]
    return (text[: begin.start()] if begin else ""), body


def inner_text(text: str) -> str:
    """What an input file adds: a sub-file with a preamble of its own adds only its body."""
    return document_body(text)[1] if "\\begin{document}" in text else text


_INSIDE = r"\{(?P<text>(?:[^{}]|\{[^{}]*\})*+)\}"
_FOR_PROGRAMS = re.compile(
    rf"\\(?P<name>hypersetup|pdfinfo|index|sindex|label|BeginAccSupp|Description)\s*(?:\[[^\]{{}}]*\]\s*)?{_INSIDE}"
)
_PROPERTY = re.compile(r"\bpdf(?P<key>[a-z]+)\s*=\s*\{(?P<text>[^{}]*)\}")
_NAMES = ("title", "author", "creator", "producer")
_DROPPING = re.compile(
    r"\\(?:(?:re|provide)?(?:newcommand|command)\*?|def)\s*\{?\s*\\(?P<own>[a-zA-Z]+)\s*\}?\s*(?:\[1\]|#1)\s*\{\s*\}"
)
_ALTERNATIVE = re.compile(r"\\includegraphics\s*\[(?:[^\][{}]|\{[^{}]*\})*?\balt\s*=\s*\{(?P<text>[^{}]*)\}")
_PLACES: Mapping[str, str] = {
    "hypersetup": "its PDF properties",
    "pdfinfo": "its PDF properties",
    "BeginAccSupp": "alternative texts",
    "Description": "alternative texts",
    "index": "entries of an index",
    "sindex": "entries of an index",
    "label": "its labels",
}
_FEWEST_WORDS_OF_A_LABEL = 4
_COMMANDS = re.compile(r"\\[a-zA-Z@]+\*?|[{}$]")


def words_unprinted(source: str) -> Iterator[tuple[str, str]]:
    """Texts that commands drop, or keep for programs, each with its place; labels only where they are sentences, and
    title and names only where they order a model about.
    """
    for match in _FOR_PROGRAMS.finditer(source):
        name, text = match["name"], match["text"]
        if name == "hypersetup":
            properties = [(one["key"], one["text"]) for one in _PROPERTY.finditer(text)]
            text = " ".join(words for key, words in properties if key not in _NAMES or orders_a_model(words))
        if name != "label" or len(text.split()) >= _FEWEST_WORDS_OF_A_LABEL:
            yield _PLACES[name], _COMMANDS.sub(" ", text)
    for match in _ALTERNATIVE.finditer(source):
        yield "alternative texts", match["text"]
    for own in dict.fromkeys(_DROPPING.findall(source)):
        for match in re.finditer(rf"\\{own}\s*{_INSIDE}", source):
            yield "notes that a command of its own drops", _COMMANDS.sub(" ", match["text"])


def drop_named_environments(text: str) -> str:
    r"""Without the environments that the source itself excludes by ``\excludecomment{name}``."""
    for name in set(re.findall(r"\\excludecomment\s*\{(\w+)\}", text)):
        text = re.sub(rf"\\begin\{{{name}\}}.*?(?:\\end\{{{name}\}}|\Z)", "", text, flags=re.DOTALL)
    return text
