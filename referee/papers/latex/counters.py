"""What LaTeX counts and prints: headings, equations and captions, theorem-like environments, items of lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from referee.papers.headings import numeral
from referee.papers.latex.scan import names

_ARTICLE = {
    "part": r"\Roman{part}",
    "chapter": r"\arabic{chapter}",
    "section": r"\arabic{section}",
    "subsection": r"\thesection.\arabic{subsection}",
    "subsubsection": r"\thesubsection.\arabic{subsubsection}",
    "paragraph": r"\thesubsubsection.\arabic{paragraph}",
}
_IEEE = {"section": r"\Roman{section}", "subsection": r"\Alph{subsection}", "subsubsection": r"\arabic{subsubsection}"}
_PARENTS = {"section": "chapter", "subsection": "section", "subsubsection": "subsection", "paragraph": "subsubsection"}
_THE = re.compile(r"\\the([a-zA-Z]+)")
_SHOWN = re.compile(r"\\(arabic|roman|Roman|alph|Alph|fnsymbol|value)\s*\{\s*@?(\w+)\s*\}")
_NUMERALS = {"roman": "lowerRoman", "Roman": "upperRoman", "alph": "lowerLetter", "Alph": "upperLetter"}


@dataclass(frozen=True)
class Target:
    r"""What a ``\label`` names: the kind of thing and its printed number."""

    kind: str
    number: str


@dataclass
class Counters:
    """All counters of one paper, their printed form, and which of them a step of another sets back.

    Attributes:
        style: ``article``, ``book`` (with chapters) or ``ieee`` (Roman sections).
        numbered_depth: Headings up to this level have numbers (article: 3, a subsubsection).
    """

    style: str = "article"
    numbered_depth: int = 3
    values: dict[str, int] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Target] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.formats = {**_ARTICLE, **(_IEEE if self.style == "ieee" else {}), **self.formats}
        self.parents = {**_PARENTS, **self.parents}
        if self.style == "book":
            self.formats["section"] = r"\thechapter.\arabic{section}"
            for name in ("figure", "table", "equation"):
                self.within(name, "chapter")

    def within(self, name: str, parent: str) -> None:
        r"""Count ``name`` anew in every ``parent`` and print both, as ``\numberwithin`` does."""
        self.formats[name] = rf"\the{parent}.\arabic{{{name}}}"
        self.parents[name] = parent

    def step(self, name: str) -> str:
        """One further; counters below it start again. Returns the printed number."""
        self.values[name] = self.values.get(name, 0) + 1
        self._reset_below(name, 0)
        return self.printed(name)

    def set(self, name: str, value: int) -> None:
        """Set a counter, bounded so that its letters and Roman numerals stay short."""
        self.values[name] = max(-1000, min(value, 100_000))

    def printed(self, name: str) -> str:
        """A counter's printed form."""
        return self._render(self.formats.get(name, rf"\arabic{{{name}}}"), 0).strip()

    def start_appendix(self) -> None:
        """Top-level headings are lettered from here on."""
        top = "chapter" if self.style == "book" else "section"
        self.set(top, 0)
        self._reset_below(top, 0)
        self.formats[top] = rf"\Alph{{{top}}}"

    def _reset_below(self, name: str, depth: int) -> None:
        for child, parent in self.parents.items():
            if parent == name and depth < 8:
                self.values[child] = 0
                self._reset_below(child, depth + 1)

    def _render(self, body: str, depth: int) -> str:
        if depth > 6:
            return ""
        body = _SHOWN.sub(lambda m: shown(m[1], self.values.get(m[2], 0)), body)
        body = _THE.sub(lambda m: self._render(self.formats.get(m[1], rf"\arabic{{{m[1]}}}"), depth + 1), body[:200])
        return re.sub(r"\\[a-zA-Z@]+\s*|[{}$]", "", body).replace("\\", "")[:40]


def shown(style: str, value: int) -> str:
    """A number in one of LaTeX's styles (``arabic``, ``roman``, ``Alph``, ...)."""
    return numeral(value, _NUMERALS.get(style, "decimal"))


_DECLARED = re.compile(
    r"\\newtheorem\s*(?P<star>\*)?\s*\{(?P<name>[^{}]+)\}\s*(?:\[(?P<shared>\w+\*?)\])?\s*\{(?P<title>[^{}]*)\}"
    r"\s*(?:\[(?P<within>\w+)\])?"
)
_DECLARED_LATER = re.compile(
    r"\\(?:declaretheorem|spnewtheorem)\s*(?:\[(?P<options>[^\]]*)\])?\s*\{(?P<name>[^{}]+)\}(?:\s*\{(?P<title>[^{}]*)\})?"
)
_CUSTOMARY = {
    name: name.capitalize()
    for name in names("""theorem lemma corollary proposition definition remark example assumption claim conjecture
    fact observation hypothesis property problem question""")
}


@dataclass(frozen=True)
class Theorem:
    """One kind: what is printed ('Lemma'), and the counter it steps (None: it has no numbers)."""

    title: str
    counter: str | None


def theorem_kinds(source: str, counters: Counters) -> dict[str, Theorem]:
    """The theorem-like environments of a source; their counters are set up as declared.

    Customary names that are used but declared nowhere come from the class; they are numbered one by one.
    """
    kinds: dict[str, Theorem] = {}
    for match in _DECLARED.finditer(source):
        name, shared = match["name"].strip(), match["shared"]
        counter = kinds[shared].counter if shared in kinds else (shared or name)
        if match["within"] and not match["star"]:
            counters.within(name, match["within"])
        kinds[name] = Theorem(match["title"].strip() or name.capitalize(), None if match["star"] else counter)
    for match in _DECLARED_LATER.finditer(source):
        options = dict(
            part.split("=", 1) for part in (match["options"] or "").replace(" ", "").split(",") if "=" in part
        )
        name = match["name"].strip()
        title = match["title"] or options.get("name", options.get("title", name.capitalize()))
        sibling = options.get("sibling", options.get("numberlike", ""))
        counter = kinds[sibling].counter if sibling in kinds else (sibling or name)
        if parent := options.get("numberwithin", options.get("parent", options.get("within", ""))):
            counters.within(name, parent)
        kinds.setdefault(name, Theorem(title.strip("{}"), None if options.get("numbered") == "no" else counter))
    for name, title in _CUSTOMARY.items():
        if name not in kinds and f"\\begin{{{name}}}" in source:
            kinds[name] = Theorem(title, name)
    return kinds


_ENUMERATE = (("{}.", "arabic"), ("({})", "alph"), ("{}.", "roman"), ("{}.", "Alph"))
_STYLED = re.compile(r"\\(arabic|roman|Roman|alph|Alph)\s*\*?")
_SHORT = re.compile(r"(?<![A-Za-z\\])([1iIaA])(?![A-Za-z])")
_SHORT_STYLES = {"1": "arabic", "i": "roman", "I": "Roman", "a": "alph", "A": "Alph"}
LISTS = frozenset(names("itemize enumerate description list compactitem compactenum inparaenum asparaenum tablenotes"))
NUMBERED = frozenset(names("enumerate compactenum inparaenum asparaenum"))


def item_mark(kind: str, options: str, depth: int, number: int) -> tuple[str, str]:
    r"""What stands before an item, and the number a reference to it prints.

    Args:
        kind: The list's environment.
        options: Its optional argument, as ``enumitem`` (``label=(\roman*)``) or ``enumerate`` (``(i)``) reads it.
        depth: Numbered lists around it.
        number: The item's place, from 1.
    """
    if kind not in NUMBERED:
        return "-", ""
    label = re.search(r"label\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|[^,]+)", options)
    if label:
        form = re.sub(r"\\(?:textbf|textit|bfseries|itshape|upshape|protect)\b|[{}]", "", label[1])
        mark = _STYLED.sub(lambda m: shown(m[1], number), form).strip()
        return re.sub(r"\\[a-zA-Z]+", "", mark) or "-", mark.strip("().:")
    if options and "=" not in options and (short := _SHORT.search(options)):
        value = shown(_SHORT_STYLES[short[1]], number)
        mark = re.sub(r"[{}\\]", "", options[: short.start()] + value + options[short.end() :])
        return mark.strip(), value
    form, style = _ENUMERATE[min(depth, 3)]
    value = shown(style, number)
    return form.format(value), value
