"""The paper's own macros: as they are defined, and put into the source within bounds that hostile ones cannot pass."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from referee.errors import PaperParseError
from referee.papers.latex.scan import CONTROL_WORD, LIMITS, Braces, names
from referee.papers.pieces import whole

DEFINING = frozenset(
    names("""newcommand renewcommand providecommand DeclareRobustCommand def gdef edef xdef let
    DeclareMathOperator newenvironment renewenvironment NewDocumentCommand RenewDocumentCommand
    ProvideDocumentCommand DeclareDocumentCommand DeclarePairedDelimiter newif""")
)
# What the readers after this step know by name keeps its meaning, whatever a style file makes of it.
_KEPT = frozenset(
    names("""begin end section subsection subsubsection paragraph subparagraph chapter part appendix item label
    ref eqref pageref autoref cref Cref cite citep citet citealp citealt citeauthor citeyear footnote footnotetext
    caption captionof title author date thanks maketitle abstract bibitem bibliography bibliographystyle newblock
    input include includegraphics multicolumn multirow tag notag nonumber par documentclass usepackage textcolor
    color fontsize newtheorem numberwithin setcounter definecolor appendices affil affiliation address email
    keywords""")
)
_KEPT_ENVIRONMENTS = frozenset(
    names("""document abstract itemize enumerate description table figure tabular equation align proof algorithm
    algorithmic thebibliography quote center verbatim CSLReferences""")
)
_PLACEHOLDER = re.compile(r"#+(\d)")
_XPARSE = re.compile(r"\s*(?:(m)|([oO])\s*(?:\{([^{}]*)\})?|(s))")
THE_COUNTER = "refereethe"


@dataclass(frozen=True)
class Macro:
    r"""One definition.

    Attributes:
        body: The replacement, with ``#1`` for arguments.
        optional: One entry an argument: None for a mandatory one, else the default of an optional one.
        star: Whether a star may follow the name.
        original: Of ``\let``: the command it stands for, which is left as it is.
        marks: Of ``\def\x#1/#2;``: the text that stands before the first argument and that ends each one.
    """

    body: str
    optional: tuple[str | None, ...] = ()
    star: bool = False
    original: str | None = None
    marks: tuple[str, ...] = ()

    def filled(self, arguments: list[str]) -> str:
        """The body with its arguments put in."""
        if not arguments:
            return self.body
        by_place = dict(enumerate(arguments, start=1))
        return _PLACEHOLDER.sub(lambda match: by_place.get(int(match[1]), ""), self.body)


@dataclass
class Definitions:
    """Macros, environments and switches by name, as far as the source has defined them."""

    macros: dict[str, Macro] = field(default_factory=dict)
    begins: dict[str, Macro] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)

    def take(self, word: str, braces: Braces, at: int, plain_only: bool = False) -> tuple[int, str]:
        r"""Read the definition whose command ends at ``at``.

        Args:
            word: The defining command.
            braces: The source.
            at: The place after the command.
            plain_only: Leave out definitions with ``@`` or conditionals in them, as a style file's inner ones have.

        Returns:
            The place after it and what stays in the text for it: a note of a counter's new form, or nothing.
        """
        if at < len(braces.text) and braces.text[at] == "*":
            at += 1
        if word in ("newenvironment", "renewenvironment"):
            return self._environment(braces, at, plain_only), ""
        argument = braces.argument(at)
        if argument is None or not argument[0].strip().startswith("\\"):
            return at, ""
        name, at = argument[0].strip()[1:], argument[1]
        if word == "let":
            return self._let(name, braces, at), ""
        if word == "newif":
            self.switches[name.removeprefix("if")] = False
            return at, ""
        macro, at = _READERS.get(word, _command)(braces, at)
        if macro is None or name in _KEPT or (plain_only and re.search(r"@|\\if|\\expandafter|\\csname", macro.body)):
            return at, ""
        if name.startswith("the") and word in ("renewcommand", "def", "gdef") and not macro.optional:
            return at, f"\\{THE_COUNTER}{{{name[3:]}}}{{{macro.body}}}"
        if not (plain_only and name in self.macros):
            self.macros[name] = macro
        return at, ""

    def _let(self, name: str, braces: Braces, at: int) -> int:
        at = braces.skip_blanks(at)
        if braces.text[at : at + 1] == "=":
            at = braces.skip_blanks(at + 1)
        match = CONTROL_WORD.match(braces.text, at)
        if match is None:
            return at + 1
        if name not in _KEPT:
            self.macros[name] = self.macros.get(match[1], Macro("", original=match[1]))
        return match.end()

    def _environment(self, braces: Braces, at: int, plain_only: bool) -> int:
        name = braces.group(at)
        if name is None:
            return at
        optional, place = _arguments(braces, name[1])
        begin = braces.group(place)
        end = braces.group(begin[1]) if begin else None
        if begin is None or end is None:
            return place
        known = name[0] in _KEPT_ENVIRONMENTS or (plain_only and "@" in begin[0] + end[0])
        if not known:
            self.begins[name[0]] = Macro(begin[0], optional)
            self.ends[name[0]] = end[0]
        return end[1]


def _arguments(braces: Braces, at: int) -> tuple[tuple[str | None, ...], int]:
    count = braces.bracket(at)
    if count is None:
        return (), at
    at = count[1]
    number = min(9, whole(count[0].strip(), 0))
    default = braces.bracket(at)
    if default is not None and number:
        return (default[0], *(None for _ in range(number - 1))), default[1]
    return tuple(None for _ in range(number)), at


def _command(braces: Braces, at: int) -> tuple[Macro | None, int]:
    optional, at = _arguments(braces, at)
    body = braces.argument(at)
    return (Macro(body[0], optional), body[1]) if body else (None, at)


def _def(braces: Braces, at: int) -> tuple[Macro | None, int]:
    r"""``\def\x#1#2{...}``, also with other text between its parameters."""
    brace = braces.text.find("{", at, at + 200)
    body = braces.group(brace) if brace >= 0 else None
    if body is None:
        return None, at
    marks = tuple(re.split(r"#\d", braces.text[at:brace].strip()))
    known = not any("#" in mark for mark in marks)
    return (Macro(body[0], (None,) * (len(marks) - 1), marks=marks) if known else None), body[1]


def _operator(braces: Braces, at: int) -> tuple[Macro | None, int]:
    body = braces.group(at)
    return (Macro(f"\\operatorname{{{body[0]}}}"), body[1]) if body else (None, at)


def _paired(braces: Braces, at: int) -> tuple[Macro | None, int]:
    left = braces.argument(at)
    right = braces.argument(left[1]) if left else None
    if left is None or right is None:
        return None, at
    return Macro(f"{left[0]} #1 {right[0]}", (None,), star=True), right[1]


def _document_command(braces: Braces, at: int) -> tuple[Macro | None, int]:
    spec = braces.group(at)
    body = braces.group(spec[1]) if spec else None
    if spec is None or body is None:
        return None, at
    optional: list[str | None] = []
    star, text = False, body[0]
    for match in _XPARSE.finditer(spec[0]):
        if match[4]:
            star = True
            text = re.sub(r"#(\d)", lambda m: f"#{int(m[1]) - 1}" if m[1] != "1" else "", text)
        else:
            optional.append(None if match[1] else (match[3] or ""))
    known = not _XPARSE.sub("", spec[0]).strip()
    return (Macro(text, tuple(optional), star) if known else None), body[1]


_READERS = {
    "def": _def,
    "gdef": _def,
    "edef": _def,
    "xdef": _def,
    "DeclareMathOperator": _operator,
    "DeclarePairedDelimiter": _paired,
    "NewDocumentCommand": _document_command,
    "RenewDocumentCommand": _document_command,
    "ProvideDocumentCommand": _document_command,
    "DeclareDocumentCommand": _document_command,
}


_TOKEN = re.compile(r"\\(?:(?P<word>[a-zA-Z@]+)|.)", re.DOTALL)
_AFTER_WORD = re.compile(r"[ \t]*(?:\n[ \t]*)?(?!\s*\n)|[ \t]*")
_XSPACE = re.compile(r"\\xspace(?![a-zA-Z@])[ \t]*(?:\n(?!\s*\n))?(?P<next>[A-Za-z0-9(\[$\\`]|)")
_ENVIRONMENT = re.compile(r"\s*\{([^{}\\]{1,80})\}")
_SWITCH_END = re.compile(r"(true|false)$")


@dataclass
class Expander:
    """Walks through the source once, takes definitions as they come and replaces what they define."""

    switched_off: list[str] = field(default_factory=list)
    known: Definitions = field(default_factory=Definitions)
    circular: set[str] = field(default_factory=set)
    _uses: int = 0
    _written: int = 0

    def learn(self, source: str) -> None:
        """Take a style file's plain definitions; its inner workings are left out."""
        braces = Braces(source)
        at = 0
        while (match := _TOKEN.search(source, at)) is not None:
            at = match.end()
            if match["word"] in DEFINING and match["word"] not in ("let", "newif"):
                at, _ = self.known.take(match["word"], braces, at, plain_only=True)

    def expanded(self, source: str) -> str:
        """The source with every macro of its own replaced.

        Raises:
            PaperParseError: The macros make more text, or lie deeper inside each other, than any paper's do.
        """
        text, _ = self._run(source, frozenset(), 0)
        return _XSPACE.sub(lambda m: f" {m['next']}" if m["next"] else "", text)

    def _run(self, source: str, active: frozenset[str], depth: int) -> tuple[str, str | None]:
        """The replaced text, and a macro's name that stands at the end and still wants its arguments."""
        if "\\" not in source:
            return source, None
        if depth > LIMITS.macro_depth:
            raise _too_much(f"lie more than {LIMITS.macro_depth} deep inside each other")
        braces = Braces(source)
        parts: list[str] = []
        dead = 0
        stack: list[str] = []
        at = 0
        while (match := _TOKEN.search(source, at)) is not None:
            if dead:
                self.switched_off.append(source[at : match.start()])
            else:
                self._write(parts, source[at : match.start()])
            at = match.end()
            word = match["word"]
            if word and (word.startswith("if") or word in ("else", "fi")):
                dead = self._conditional(word, stack, parts, dead)
            elif dead:
                continue
            elif word in DEFINING:
                at, kept = self.known.take(word, braces, at)
                self._write(parts, kept)
            elif word and _SWITCH_END.search(word) and _SWITCH_END.sub("", word) in self.known.switches:
                self.known.switches[_SWITCH_END.sub("", word)] = word.endswith("true")
            elif word in ("begin", "end") and (name := _ENVIRONMENT.match(source, at)):
                at = self._environment(word, name, braces, parts, active, depth)
            elif word in self.known.macros:
                at, pending = self._use(word, braces, at, parts, active, depth)
                if pending:
                    return "".join(parts), pending
            else:
                self._write(parts, match[0])
        if not dead:
            self._write(parts, source[at:])
        return "".join(parts), None

    def _write(self, parts: list[str], text: str) -> None:
        self._charge(len(text))
        if parts and text[:1].isalpha() and re.search(r"\\[a-zA-Z@]+$", parts[-1][-40:]):
            parts.append(" ")
        parts.append(text)

    def _charge(self, characters: int) -> None:
        self._written += characters
        if self._written > 3 * LIMITS.characters:
            raise _too_much(f"make more than {3 * LIMITS.characters} characters")

    def _conditional(self, word: str, stack: list[str], parts: list[str], dead: int) -> int:
        r"""Follow ``\ifdraft ... \else ... \fi`` of a switch made by ``\newif``; other conditionals stay."""
        opens = word.startswith("if")
        switch = self.known.switches.get(word.removeprefix("if")) if opens else None
        if word in ("iff", "ifthenelse") or (switch is None and not stack):
            self._write(parts, "" if dead else f"\\{word}")
            return dead
        if opens:
            stack.append("unknown" if switch is None else ("live" if switch else "dead"))
        elif word == "fi":
            stack.pop()
        elif stack[-1] != "unknown":
            stack[-1] = "live" if stack[-1] == "dead" else "dead"
        return stack.count("dead")

    def _use(
        self, name: str, braces: Braces, at: int, parts: list[str], active: frozenset[str], depth: int
    ) -> tuple[int, str | None]:
        """Replace one use; a name that is left over wants arguments that stand after this text."""
        pending: str | None = name
        while pending is not None:
            if pending in active:
                self.circular.add(pending)
                return at, None
            macro = self.known.macros.get(pending)
            if macro is None or macro.original is not None:
                self._write(parts, f"\\{macro.original if macro and macro.original else pending}")
                return at, None
            self._count(pending)
            read = self._arguments(macro, braces, at, active, depth)
            if read is None:
                return len(braces.text), pending if depth else None
            arguments, after = read
            if not arguments and (blank := _AFTER_WORD.match(braces.text, after)):
                after = blank.end()
            filled = macro.filled(arguments)
            self._charge(len(filled))
            text, left = self._run(filled, active | {pending}, depth + 1)
            self._write(parts, text)
            at, pending = after, left
        return at, None

    def _count(self, name: str) -> None:
        self._uses += 1
        if self._uses > LIMITS.expansions:
            raise _too_much(f"are used more than {LIMITS.expansions} times; the last one was {name!r}")

    def _arguments(
        self, macro: Macro, braces: Braces, at: int, active: frozenset[str], depth: int
    ) -> tuple[list[str], int] | None:
        if macro.star and braces.text[at : at + 1] == "*":
            at += 1
        arguments: list[str] = []
        marks = [mark.strip() for mark in macro.marks] or [""] * (len(macro.optional) + 1)
        at += len(marks[0]) if braces.text.startswith(marks[0], at) else 0
        for default, mark in zip(macro.optional, marks[1:], strict=True):
            read = braces.bracket(at) if default is not None else braces.argument(at)
            read = (braces.until(at, mark) or ("", at)) if mark else read
            if read is None:
                if default is None:
                    return None
                arguments.append(default)
                continue
            text, left = self._run(read[0], active, depth + 1)
            arguments.append(text + (f"\\{left}" if left else ""))
            at = read[1]
        return arguments, at

    def _environment(
        self, word: str, name: re.Match[str], braces: Braces, parts: list[str], active: frozenset[str], depth: int
    ) -> int:
        environment, at = name[1], name.end()
        key = f"environment {environment}"
        if environment not in self.known.begins or key in active:
            self._write(parts, f"\\{word}{{{environment}}}")
            return at
        self._count(environment)
        body, after = self.known.ends[environment], "\n"
        if word == "begin":
            macro = self.known.begins[environment]
            arguments, at = self._arguments(macro, braces, at, active, depth) or ([], at)
            body, after = macro.filled(arguments), " "
        text, left = self._run(body, active | {key}, depth + 1)
        self._write(parts, f"{text}{chr(92) + left if left else ''}{after}")
        return at


def _too_much(cause: str) -> PaperParseError:
    return PaperParseError(
        f"The paper's own macros {cause}.",
        hint="Take out the definitions that call themselves or each other, or give the paper as PDF.",
    )
