"""pylatexenc's nodes: which commands take which arguments, which of them are printed, what a node holds.

Argument forms are pylatexenc's: ``*`` a star, ``[`` an optional argument, ``{`` a mandatory one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from pylatexenc.latexwalker import LatexWalker, get_default_latex_context_db
from pylatexenc.macrospec import std_environment, std_macro

from referee.papers.latex.comments import VERBATIM
from referee.papers.latex.scan import names
from referee.papers.latex.units import QUANTITY_FORMS

HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
CITES = frozenset(
    names("""cite citep citet citealt citealp citeauthor citeyear citeyearpar Cite Citep Citet Citealt Citealp
    Citeauthor citenum parencite Parencite textcite Textcite autocite Autocite footcite fullcite smartcite
    citefullauthor onlinecite citeA citeNP shortcite citet* citep* citeauthor* textcquote supercite""")
)
REFS = frozenset(names("ref eqref pageref autoref cref Cref nameref vref labelcref subref Autoref fref sref hyperref"))
TABULARS = frozenset(names("tabular tabular* tabularx tabulary longtable supertabular xltabular tblr longtblr array"))

_ARGUMENTS = {
    "*[{": " ".join((*HEADINGS, "caption includegraphics makecell thead")),
    "*[[{": " ".join(CITES),
    "*{": " ".join((*(REFS - {"hyperref"}), "vspace hspace operatorname tag citetext")),
    "[{": """footnote footnotetext thanks color title author affil address bibitem makebox framebox
    mbox shortstack subfloat subfigure institute email ead cortext fntext nolinebreak hyperref marginpar todo
    cellcolor rowcolor columncolor sidenote address inst role framed""",
    "{": """label index nocite bibliographystyle bibliography pagestyle thispagestyle url path nolinkurl phantom
    hphantom vphantom hypersetup date keywords icmltitle icmlkeywords icmltitlerunning printAffiliationsAndNotice
    input include pagenumbering usebox transparent pdfliteral special pdfinfo graphicspath affiliation orcid
    titlerunning authorrunning subtitle ccsdesc acmConference received titlenote authornote shorttitle
    shortauthors usepackage RequirePackage linespread cline bmhead refereeverb refereeverbatim
    corref listoftodos boldsymbol bm mathbf ensuremath textnormal textsubscript textsuperscript uline hl sout ul
    pagecolor newsavebox newcounter newlength pdfcomment ding addbibresource setcitestyle
    captionsetup theoremstyle icmlEqualContribution aclfinalcopy uppercase lowercase MakeUppercase MakeLowercase
    BeginAccSupp Description tabularnote captionfont DeclareGraphicsExtensions tablenotetext stepcounter refstepcounter
    value setstretch""",
    "[{{": "rotatebox rule textcolor colorbox diagbox crefrange Crefrange",
    "{{": """href fontsize setlength addtolength setcounter addtocounter texorpdfstring icmlauthor icmlaffiliation
    icmlcorrespondingauthor icmlsetsymbol texttransparent numberwithin slashbox backslashbox sbox pdftooltip
    refereethe colorlet nicefrac sfrac crefname Crefname settowidth
    renewfontfamily foreignlanguage markboth hypertarget SetKwInOut SetKwFunction SetKwData
    counterwithin""",
    "{{{": "multicolumn definecolor addcontentsline ifthenelse specialrule",
    "[{[{{": "fcolorbox",
    "{[{": "scalebox",
    "*{{{": "resizebox",
    "{[[{": "raisebox savebox",
    "[[[{{": "parbox",
    "[{[{[{": "multirow",
    "*{[{[": "newtheorem",
    "*{[{": "captionof",
    "[": "item toprule midrule bottomrule addlinespace linebreak pagebreak footnotemark twocolumn listoffigures",
    "*[": "\\",
}
_ENVIRONMENTS = {
    "[": """table table* figure figure* sidewaystable sidewaystable* sidewaysfigure algorithm algorithm*
    algorithmic itemize enumerate description proof tcolorbox mdframed abstract tablenotes
    algorithm2e procedure wrapfloat inparaenum compactitem compactenum shaded listing""",
    "[{": "tabular longtable array supertabular IEEEeqnarray IEEEeqnarray* tblr longtblr",
    "{[{": "tabular* tabularx tabulary xltabular",
    "[{[{": "wrapfigure wraptable",
    "[[[{": "minipage subfigure subtable",
    "{": "multicols spacing thebibliography alignat alignat* adjustbox columns column xalignat",
    "{{": "list adjustwidth textblock CSLReferences CJK CJK*",
}
# ``algorithm2e`` gives its loops a second argument, the body; ``algpseudocode`` has none. Both are told apart by use.
_ALGORITHM = {
    "{": """If ElsIf For ForAll While Until Comment KwIn KwOut KwData KwResult KwRet tcp tcc IF ELSIF FOR FORALL
    WHILE UNTIL COMMENT""",
    "{{": "Function Procedure",
}
_ALGORITHM_BLOCKS = {
    "{": "Comment KwIn KwOut KwData KwResult KwRet tcp tcc Else uElse lElse",
    "{{": "If uIf lIf ElseIf uElseIf lElseIf For lFor ForEach lForEach ForAll While lWhile Function Procedure",
    "{{{": "eIf",
}
_BLOCKS = re.compile(
    r"\\usepackage\s*(?:\[[^\]]*\])?\s*\{algorithm2e\}|\\(?:KwIn|KwOut|KwData|KwResult|uIf|eIf|ForEach)\b"
)
# Arguments that are no text: how many from the end are printed. Whatever is not named here prints all it takes.
_PRINTED_LAST = dict.fromkeys(
    names("""textcolor colorbox fcolorbox scalebox resizebox rotatebox raisebox parbox makebox framebox
    multicolumn multirow texttransparent href hypertarget shortstack makecell thead foreignlanguage captionof
    caption footnote footnotetext thanks operatorname subfloat subfigure marginpar sbox savebox hyperref"""),
    1,
)
_UNPRINTED = frozenset(
    names("""label index nocite bibliographystyle bibliography pagestyle thispagestyle hypersetup pagenumbering
    vspace hspace setlength addtolength setcounter addtocounter color fontsize includegraphics rule usebox
    transparent pdfliteral special pdfinfo graphicspath definecolor colorlet cline specialrule addlinespace
    toprule midrule bottomrule linebreak pagebreak item usepackage RequirePackage addcontentsline newtheorem
    numberwithin counterwithin cellcolor rowcolor columncolor phantom hphantom vphantom pagecolor newsavebox
    newcounter newlength pdfcomment linespread crefname Crefname settowidth markboth addbibresource setcitestyle
    captionsetup theoremstyle icmltitlerunning titlerunning authorrunning shorttitle shortauthors
    printAffiliationsAndNotice icmlsetsymbol nolinebreak footnotemark setstretch stepcounter refstepcounter value
    BeginAccSupp Description
    SetKwInOut SetKwFunction SetKwData input include refereethe listoftodos DeclareGraphicsExtensions""")
)
_DIMENSION = r"-?(?:\d+\.?\d*|\.\d+)?\s*(?:true)?(?:pt|em|ex|cm|mm|in|bp|sp|\\[a-z]+(?:skip|width|height|sep))"
_LENGTHS = re.compile(
    rf"\\(?:vskip|hskip|kern|[a-z]*(?:skip|sep|width|height|indent|margin)|parskip)\s*=?\s*{_DIMENSION}"
    rf"(?:\s*plus\s*{_DIMENSION})?(?:\s*minus\s*{_DIMENSION})?"
)
_RULES = re.compile(
    r"\\vadjust\s*(?:pre\s*)?(?=\{)|\\cmidrule(?:\[[^\]]*\])?(?:\([^)]{0,10}\))?\s*(?:\[[^\]]*\])?\{[^{}]*\}|\\(?:hline|hhline\{[^{}]*\})"
)


def without_lengths(source: str) -> str:
    """The source without TeX's unbraced lengths and without table rules, whose arguments no parser here knows."""
    return _RULES.sub(" ", _LENGTHS.sub(" ", source))


@lru_cache(maxsize=32)
def _walker_context(theorems: tuple[str, ...], blocks: bool) -> Any:
    context = get_default_latex_context_db()
    forms = [*_ARGUMENTS.items(), *(_ALGORITHM_BLOCKS if blocks else _ALGORITHM).items()]
    macros = {name: spec.strip() for spec, listed in forms for name in names(listed)} | QUANTITY_FORMS
    environments = {name: spec for spec, listed in _ENVIRONMENTS.items() for name in names(listed)}
    environments.update(dict.fromkeys(theorems, "["))
    context.add_context_category(
        "referee",
        macros=[std_macro(name, spec) for name, spec in macros.items() if name != "\\"],
        environments=[std_environment(name, spec) for name, spec in environments.items()],
        prepend=True,
    )
    return context


def has_block_algorithms(source: str) -> bool:
    """Whether the paper's pseudocode is ``algorithm2e``'s, whose loops take their statements as an argument."""
    return bool(_BLOCKS.search(source))


def parse(source: str, theorems: Iterable[str] = (), blocks: bool = False) -> list[Any]:
    """The source as pylatexenc's nodes.

    Args:
        source: Balanced LaTeX without macros of its own.
        theorems: Names of theorem-like environments; their optional argument is a title.
        blocks: Whether pseudocode is ``algorithm2e``'s.
    """
    walker = LatexWalker(source, latex_context=_walker_context(tuple(sorted(theorems)), blocks), tolerant_parsing=True)
    return list(walker.get_latex_nodes()[0])


def arguments(node: Any) -> list[Any]:
    """A command's or environment's argument nodes in their order; None for one that was not given."""
    return list(node.nodeargd.argnlist) if node.nodeargd is not None and node.nodeargd.argnlist else []


def printed_arguments(node: Any) -> list[Any]:
    """The arguments whose text a reader sees."""
    name = node.macroname
    given = arguments(node)
    if name in _UNPRINTED or name in CITES or name in REFS - {"hyperref"}:
        return []
    if name in _PRINTED_LAST:
        given = given[-_PRINTED_LAST[name] :]
    if name == "texorpdfstring":
        given = given[:1]
    return [a for a in given if a is not None and not (hasattr(a, "chars") and a.chars == "*")]


def children(node: Any) -> list[Any]:
    """The nodes inside a group, formula or environment; none for the others."""
    return [child for child in (getattr(node, "nodelist", None) or []) if child is not None]


BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
SIZES = dict(zip(names("tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge"),
                  (5.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.4, 17.3, 20.7, 24.9), strict=True))  # fmt: skip
_BLOCK_MACROS = frozenset((*HEADINGS, "par", "captionof", "appendix", VERBATIM))


def inside(node: Any) -> str:
    r"""A display's LaTeX between its marks or its ``\begin`` and ``\end`` with their arguments."""
    source = str(node.latex_verbatim())
    name = getattr(node, "environmentname", "")
    if not name:
        left, right = node.delimiters
        return source.removeprefix(left).removesuffix(right)
    inner = children(node)
    if not inner:
        return ""
    start = inner[0].pos - node.pos
    return source[start : source.rfind(f"\\end{{{name}}}")] if f"\\end{{{name}}}" in source else source[start:]


def holds_blocks(node: Any, depth: int = 0) -> bool:
    """Whether something inside ends a paragraph: an environment, a heading, a display, a blank line."""
    name, formula = getattr(node, "macroname", ""), getattr(node, "displaytype", "")
    if getattr(node, "environmentname", "math") not in ("", "math") or formula == "display" or name in _BLOCK_MACROS:
        return depth <= 80
    if node is None or depth > 80 or formula or hasattr(node, "chars"):
        return bool(BLANK_LINE.search(getattr(node, "chars", "")))
    return any(holds_blocks(child, depth + 1) for child in (printed_arguments(node) if name else children(node)))


def changes_size(node: Any) -> bool:
    """Whether a group sets its letters larger or smaller."""
    return any(getattr(child, "macroname", "") in SIZES for child in children(node))


def items(nodes: list[Any]) -> list[tuple[Any, list[Any]]]:
    r"""What stands before the first ``\item``, then each item's own label (None) and nodes."""
    items: list[tuple[Any, list[Any]]] = [(None, [])]
    for node in nodes:
        if getattr(node, "macroname", "") == "item":
            items.append((next((a for a in arguments(node) if a is not None), None), []))
        else:
            items[-1][1].append(node)
    # More than blanks and settings.
    return items if any(getattr(n, "chars", "").strip() for n in items[0][1]) else items[1:]
