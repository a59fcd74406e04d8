"""Formulas of a text as people read them: LaTeX between dollars or brackets becomes letters and signs."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_LONGEST = 400
_FORMULA = re.compile(
    rf"\\\((?P<round>.{{1,{_LONGEST}}}?)\\\)"
    rf"|\\\[(?P<square>.{{1,{_LONGEST}}}?)\\\]"
    rf"|\$\$(?P<double>[^$]{{1,{_LONGEST}}}?)\$\$"
    rf"|(?<![\\$\w])\$(?P<dollar>(?![\s$])[^$\n]{{1,{_LONGEST}}}?(?<![\s\\]))\$(?![\d$])",
    re.DOTALL,
)
# Between two dollars stands a formula and no amount of money: a sign of LaTeX, or letters without a word in them.
_IS_FORMULA = re.compile(r"[\\^_{}=<>]|^[^A-Za-z]*(?:[A-Za-z](?![A-Za-z]{2})[^A-Za-z]*)+$")
_FRACTION = re.compile(r"\\[td]frac(?![A-Za-z])")
_GROUP = re.compile(r"([_^])\{([^{}]{2,})\}")
_SCRIPT = re.compile(r"([_^])(?:\(([0-9+\-]{1,4})\)|([0-9]))")
_LOW = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_HIGH = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def readable(text: str) -> str:
    """The text with its formulas in letters and signs: the hat, Greek letter and index of a formula as ``ρ̂_s``.

    What stands between two dollars and looks like an amount of money stays, and so does what cannot be read.
    """
    return _FORMULA.sub(_read, text) if "$" in text or "\\" in text else text


def _read(match: re.Match[str]) -> str:
    source = next(group for group in match.groups() if group is not None)
    if match["dollar"] is not None and not _IS_FORMULA.search(source):
        return match[0]
    return in_signs(source) or match[0]


def in_signs(source: str) -> str:
    """A formula's LaTeX as one line of letters and signs."""
    source = _FRACTION.sub(r"\\frac", source)
    grouped = _GROUP.sub(lambda found: f"{found[1]}{{({found[2]})}}", source)
    shown = " ".join(_converter().latex_to_text(grouped).split())
    return _SCRIPT.sub(_scripted, shown)


def _scripted(match: re.Match[str]) -> str:
    return (match[2] or match[3]).translate(_LOW if match[1] == "_" else _HIGH)


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", keep_comments=True)
