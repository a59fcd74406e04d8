"""Formulas of a text as people read them: LaTeX between dollars or brackets becomes letters and signs."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_LONGEST = 400
_FORMULA = re.compile(
    r"(?P<code>`+)(?:(?!`).)+(?P=code)"
    rf"|\\\((?P<round>.{{1,{_LONGEST}}}?)\\\)"
    rf"|\\\[(?P<square>.{{1,{_LONGEST}}}?)\\\]"
    rf"|\$\$(?P<double>[^$]{{1,{_LONGEST}}}?)\$\$"
    rf"|(?<![\\$\w])\$(?P<dollar>(?![\s$])[^$\n]{{1,{_LONGEST}}}?(?<![\s\\]))\$(?![\d$])",
    re.DOTALL,
)
# Of what could be no formula: a sign of TeX, or letters without a word in them; and no two words in a row.
_IS_FORMULA = re.compile(r"[\\^_{}=<>]|^[^A-Za-z]*(?:[A-Za-z](?![A-Za-z]{2})[^A-Za-z]*)+$")
_IS_TEX = re.compile(r"[\\^_{}=<>]")
_HAS_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}\s+[A-Za-z]{2,}(?![A-Za-z}])")
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_FRACTION = re.compile(r"\\[td]?frac(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
_SIZED = re.compile(r"\\(?:left|right)(?![A-Za-z])\.?")
_SUM = re.compile(r"[\w)}]\s*[-+=<>±]|\\(?:pm|mp)(?![A-Za-z])")
_PRODUCT = re.compile(r"\s|·|/|\\(?:cdot|times)(?![A-Za-z])")
_GROUP = re.compile(r"([_^])\{([^{}]{2,})\}")
_SCRIPT = re.compile(r"([_^])(?:\(([0-9+\-]{1,4})\)|([0-9]))")
_LOW = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_HIGH = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
# From \title on: what would show another formula's text, today's date, or a letter without its tilde.
_UNREADABLE = re.compile(
    r"\\(?:begin|end|input|include|title|author|date|maketitle|today|widetilde)(?![A-Za-z])|&|\\\\|%"
)


def readable(text: str) -> str:
    """The text with its formulas in letters and signs: the hat, Greek letter and index of a formula as ``ρ̂_s``.

    What stands between two dollars and looks like money or words stays, as do code and formulas that cannot be read.
    """
    return _FORMULA.sub(_read, text) if "$" in text or "\\" in text else text


def _read(match: re.Match[str]) -> str:
    if match["code"]:
        return match[0]
    source = next(group for group in match.groups()[1:] if group is not None)
    if not (_IS_TEX if match["square"] else _IS_FORMULA).search(source) or _HAS_WORDS.search(source):
        return match[0]
    return in_signs(source) or match[0]


def in_signs(source: str) -> str:
    """A formula's LaTeX as one line of letters and signs; empty where it holds what cannot be shown so."""
    if _UNREADABLE.search(source) or not all(_is_known(name) for name in _COMMAND.findall(source)):
        return ""
    source, before = _SIZED.sub("", source), ""
    while source != before:
        before, source = source, _FRACTION.sub(_divided, source)
    if re.search(r"\\[td]?frac", source):
        return ""
    grouped = _GROUP.sub(lambda found: f"{found[1]}{{({found[2]})}}", source.replace("\\|", "‖").replace("*", "∗"))
    try:
        shown = " ".join(_converter().latex_to_text(grouped).split())
    except (
        Exception
    ):  # whatever pylatexenc raises over a macro without its arguments: the formula is shown as it stands
        return ""
    return _SCRIPT.sub(_scripted, shown)


def _divided(match: re.Match[str]) -> str:
    """A fraction on one line: a sum gets brackets, and so does a product below."""
    above, below = ((match[1] or match[2] or "").strip(), (match[3] or match[4] or "").strip())
    above = f"({above})" if _SUM.search(above) else above
    return f"{above}/({below})" if _SUM.search(below) or _PRODUCT.search(below) else f"{above}/{below}"


def _is_known(command: str) -> bool:
    if command in ("frac", "tfrac", "dfrac", "left", "right", "|"):
        return True
    spec = _converter().latex_context.get_macro_spec(command)
    return spec is not None and bool(spec.macroname)


def _scripted(match: re.Match[str]) -> str:
    return (match[2] or match[3]).translate(_LOW if match[1] == "_" else _HIGH)


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", strict_latex_spaces="based-on-source")
