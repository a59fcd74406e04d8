"""Running text from nodes: pylatexenc's own rules for accents and symbols, ours for everything a paper adds.

References and citations become marks that are resolved when the whole paper has been read, because they may point
forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text

from referee.papers.latex.comments import VERB, VERBATIM, Aside
from referee.papers.latex.counters import Counters, Target
from referee.papers.latex.nodes import CITES, REFS, arguments, children, printed_arguments
from referee.papers.latex.scan import names, pairs
from referee.papers.latex.units import QUANTITIES, QUANTITY_FORMS, quantity_text

OPEN, BETWEEN, CLOSE = "\ue000", "\ue001", "\ue002"
_SIMPLE_MATH = re.compile(
    r"^(?:[A-Za-z0-9\s.,:;=+*/<>()|'!\[\]-]|\\[%,;! ]|\\(?:times|pm|le|leq|ge|geq|approx|sim)\b)*$"
)
_SPACED = re.compile(r"\s+")
_BEFORE_STOP = re.compile(r"[ \t]+(?=[,;.:!?)\]](?:\s|$))")
_BOLD_SWITCHES = frozenset(names("bf bfseries boldmath"))
_BOLD = frozenset(names("textbf mathbf boldsymbol bm"))
_DINGS = {"51": "✓", "52": "✓", "55": "✗", "56": "✗"}
# The names of journals that classes of astronomy define.
_JOURNALS = pairs("""aj AJ actaa AcA araa ARA&A apj ApJ apjl ApJL apjlett ApJL apjs ApJS apjsupp ApJS ao ApOpt
    apss Ap&SS aap A&A aapr A&ARv aaps A&AS azh AZh baas BAAS bac BAC caa ChA&A cjaa ChJA&A icarus Icarus
    jcap JCAP jrasc JRASC memras MmRAS mnras MNRAS na NewA nar NewAR pra PhRvA prb PhRvB prc PhRvC prd PhRvD
    pre PhRvE prl PhRvL pasa PASA pasp PASP pasj PASJ physscr PhyS qjras QJRAS rmxaa RMxAA skytel S&T
    solphys SoPh sovast SvA ssr SSRv zap ZA nat Nature iaucirc IAUC aplett ApL apspr ApSPR bain BAN fcp FCPh
    gca GeCoA grl GeoRL jcp JChPh jgr JGR jqsrt JQSRT memsai MmSAI nphysa NuPhA physrep PhR planss P&SS
    procspie SPIE psj PSJ maps M&PS""")
_WORDS = _JOURNALS | {
    "quad": " ", "qquad": " ", "ldots": "…", "dots": "…", "cdots": "⋯", "xspace": "", "newline": " ", "checkmark": "✓",
    "cmark": "✓", "xmark": "✗", "textasciitilde": "~", "LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "slash": "/",
    "textbullet": "•", "and": ", ", "quote": "", "tabularnewline": " ", "item": " • ", "par": " ", ",": " ", ";": " ",
    ":": " ", "!": "", "/": "", "-": "", "@": "", "enspace": " ", "thinspace": " ", "ie": "i.e.", "eg": "e.g.",
    "degree": "°", "textdegree": "°", "euro": "€",
    "S": "§", "P": "¶", "eqref": "", "today": "", "relax": "", "protect": "",
    "textasciicircum": "^",
}  # fmt: skip


@dataclass
class Reading:
    """What is known of a paper while its nodes are read."""

    counters: Counters
    aside: Aside
    current: Target | None = None
    footnotes: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)

    def label(self, key: str) -> None:
        """Name the thing that was numbered last."""
        if self.current is not None:
            self.counters.labels.setdefault(key.strip(), self.current)


def text_of(nodes: Iterable[Any] | Any, reading: Reading, *, plain_math: bool = False) -> str:
    """Nodes as one line of text.

    Args:
        nodes: A node or several.
        reading: Takes labels, footnotes and citations met on the way.
        plain_math: Formulas as words and signs (in headings and cells); else as ``$LaTeX$`` where they are more than
            letters, digits and simple signs.
    """
    given = [n for n in nodes if n is not None] if isinstance(nodes, (list, tuple)) else [nodes]
    renderer = _Renderer(math_mode="text" if plain_math else "verbatim")
    renderer.reading = reading
    return tidy(renderer.nodelist_to_text(given))


def tidy(text: str) -> str:
    """Single blanks, none before closing punctuation."""
    return _BEFORE_STOP.sub("", _SPACED.sub(" ", text.replace("\u00a0", " "))).strip()


def is_bold(nodes: Iterable[Any]) -> bool:
    """Whether all that stands in these nodes is set in bold."""
    silent = (n for n in nodes if getattr(n, "macroname", "") not in _QUIET or printed_arguments(n))
    shown = [n for n in silent if getattr(n, "chars", "x").strip()]
    first = shown[0] if shown else None
    name = getattr(first, "macroname", "")
    return name in _BOLD_SWITCHES or (len(shown) == 1 and (name in _BOLD or is_bold(children(first))))


_QUIET = frozenset(names("centering small footnotesize scriptsize tiny cellcolor rowcolor hspace vspace label"))


class _Renderer(LatexNodes2Text):  # type: ignore[misc]
    """pylatexenc's text with our own words for a paper's commands."""

    reading: Reading

    def macro_node_to_text(self, node: Any) -> str:
        name = node.macroname
        if (handler := _HANDLERS.get(name)) is not None:
            return handler(self, node)
        if name in _WORDS:
            return _WORDS[name]
        if self.latex_context.get_macro_spec(name) is None or name in _OURS:
            texts = (self.nodelist_to_text([a]) for a in printed_arguments(node))
            return name if _is_between_commas(node) else " ".join(filter(None, texts))
        return str(super().macro_node_to_text(node))

    def math_node_to_text(self, node: Any) -> str:
        if self.math_mode == "text":
            return str(super().math_node_to_text(node))
        left, right = node.delimiters
        source = str(node.latex_verbatim()).removeprefix(left).removesuffix(right)
        others = (n for n in node.nodelist if getattr(n, "macroname", "") not in QUANTITIES)
        if _SIMPLE_MATH.match(bare := "".join(n.latex_verbatim() for n in others)) and len(bare) < 60:
            return str(super().nodelist_to_text(node.nodelist)).replace("*", "∗") if source.strip() else ""
        return f"${_SPACED.sub(' ', source).strip()}$"

    def environment_node_to_text(self, node: Any) -> str:
        return str(self.nodelist_to_text(node.nodelist)) + " "


def _is_between_commas(node: Any) -> bool:
    """Whether an unknown command without arguments stands between two commas, as a journal's name does."""
    source, end = node.parsing_state.s, node.pos + node.len
    around = source[max(0, node.pos - 9) : node.pos].rstrip()[-1:] + source[end : end + 9].lstrip()[:1]
    return around == ",," and not arguments(node)


def key_text(node: Any) -> str:
    """An argument as it is written, without its braces."""
    if node is None:
        return ""
    source = str(node.latex_verbatim())
    return source[1:-1] if source[:1] in "{[" and source[-1:] in "}]" else source


def _label(renderer: Any, node: Any) -> str:
    for argument in arguments(node)[-1:]:
        renderer.reading.label(key_text(argument))
    return ""


def _cite(renderer: Any, node: Any) -> str:
    given = arguments(node)
    if len(given) < 4:
        return "[?]"
    notes = [renderer.nodelist_to_text([a]) if a is not None else "" for a in given[1:3]]
    if given[1] is not None and given[2] is None:
        notes = ["", notes[0]]
    keys = [key.strip() for key in key_text(given[3]).split(",") if key.strip()]
    renderer.reading.cited.extend(keys)
    return OPEN + BETWEEN.join(("cite", node.macroname, notes[0], notes[1], ",".join(keys))) + CLOSE


def _nocite(renderer: Any, node: Any) -> str:
    renderer.reading.cited.extend(k.strip() for a in arguments(node)[-1:] for k in key_text(a).split(","))
    return ""


def _footnote(renderer: Any, node: Any) -> str:
    text = tidy(renderer.nodelist_to_text([a for a in arguments(node)[-1:] if a is not None]))
    if text:
        renderer.reading.footnotes.append(text)
    return ""


def verbatim_text(node: Any, reading: Reading) -> str:
    """The verbatim text that was put aside and whose place a node holds."""
    texts = reading.aside.texts
    index = key_text(arguments(node)[0]) if arguments(node) else ""
    return texts[int(index)] if index.isdigit() and int(index) < len(texts) else ""


def _quantity(renderer: Any, node: Any) -> str:
    forms = zip(arguments(node), QUANTITY_FORMS[node.macroname], strict=False)
    given = [key_text(argument) for argument, form in forms if form == "{"]
    return quantity_text(node.macroname, given, renderer.reading.units)


_HANDLERS: dict[str, Callable[[Any, Any], str]] = {
    **dict.fromkeys(CITES, _cite),
    **dict.fromkeys(
        REFS - {"hyperref"},
        lambda _, node: (
            f"{OPEN}{node.macroname}{BETWEEN}{key_text(arguments(node)[-1]) if arguments(node) else ''}{CLOSE}"
        ),
    ),
    **dict.fromkeys(
        ("url", "path", "nolinkurl"),
        lambda _, node: (
            key_text(arguments(node)[-1]).replace("\\%", "%").replace("\\_", "_") if arguments(node) else ""
        ),
    ),
    **dict.fromkeys(("footnote", "footnotetext", "thanks", "sidenote", "tablefootnote"), _footnote),
    **dict.fromkeys((VERB, VERBATIM), lambda renderer, node: verbatim_text(node, renderer.reading)),
    **dict.fromkeys(QUANTITIES, _quantity),
    "label": _label,
    "nocite": _nocite,
    "ding": lambda _, node: _DINGS.get(key_text(arguments(node)[0]), "•") if arguments(node) else "",
    "\\": lambda *_: " ",
}
_OURS = frozenset(
    names("""textsuperscript textsubscript
    textcolor colorbox fcolorbox scalebox resizebox rotatebox raisebox parbox makebox framebox
    multicolumn multirow texttransparent href shortstack makecell thead foreignlanguage captionof caption
    operatorname subfloat subfigure hyperref texorpdfstring index phantom hphantom vphantom hypersetup
    includegraphics vspace hspace setlength addtolength setcounter color fontsize rule item bibliography
    bibliographystyle input include title author date nicefrac sfrac boldsymbol bm ensuremath textnormal uline hl
    sout ul part chapter section subsection subsubsection paragraph subparagraph""")
)
