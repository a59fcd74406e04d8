"""The source with the paper's own macros put in, within bounds that hostile definitions cannot pass."""

from __future__ import annotations

import re

from referee.errors import PaperParseError
from referee.papers.latex.definitions import DEFINING, Definitions, Macro
from referee.papers.latex.limits import LIMITS
from referee.papers.latex.scan import Braces

_TOKEN = re.compile(r"\\(?:(?P<word>[a-zA-Z@]+)|.)", re.DOTALL)
_AFTER_WORD = re.compile(r"[ \t]*(?:\n[ \t]*)?(?!\s*\n)|[ \t]*")
_XSPACE = re.compile(r"\\xspace(?![a-zA-Z@])[ \t]*(?:\n(?!\s*\n))?(?P<next>[A-Za-z0-9(\[$\\`]|)")
_ENVIRONMENT = re.compile(r"\s*\{([^{}\\]{1,80})\}")
_SWITCH_END = re.compile(r"(true|false)$")


class Expander:
    """Walks through the source once, takes definitions as they come and replaces what they define."""

    def __init__(self) -> None:
        self.known = Definitions()
        self.circular: set[str] = set()
        self._uses = 0
        self._written = 0

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
            if not dead:
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
        if word.startswith("if"):
            switch = self.known.switches.get(word.removeprefix("if"))
            if word in ("iff", "ifthenelse") or (switch is None and not stack):
                if not dead:
                    self._write(parts, f"\\{word}")
                return dead
            stack.append("unknown" if switch is None else ("live" if switch else "dead"))
        elif not stack:
            if not dead:
                self._write(parts, f"\\{word}")
            return dead
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
        for default in macro.optional:
            read = braces.bracket(at) if default is not None else braces.argument(at)
            if read is None and default is None:
                return None
            if read is None:
                arguments.append(default or "")
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
        if word == "end":
            text, left = self._run(self.known.ends[environment], active | {key}, depth + 1)
            self._write(parts, f"{text}{chr(92) + left if left else ''}\n")
            return at
        macro = self.known.begins[environment]
        arguments, at = self._arguments(macro, braces, at, active, depth) or ([], at)
        text, left = self._run(macro.filled(arguments), active | {key}, depth + 1)
        self._write(parts, f"{text}{chr(92) + left if left else ''} ")
        return at


def _too_much(cause: str) -> PaperParseError:
    return PaperParseError(
        f"The paper's own macros {cause}.",
        hint="Take out the definitions that call themselves or each other, or give the paper as PDF.",
    )
