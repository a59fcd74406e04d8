"""Numbers in running text: value, printed precision, unit and place.

Left out, because they measure nothing: citation marks, years, numbers of figures, sections and equations, digits inside
names (``GPT-4``, ``x1``, ``3D``), version numbers and addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Bound = Literal["", "<", ">", "~"]

_SAME_LENGTH = str.maketrans(
    {"$": " ", "\\": " ", "{": " ", "}": " ", "−": "-", "\xa0": " ", "\u2009": " ", "\u202f": " ", "∼": "~", "*": " "}
)
LABEL_WORD = (
    r"(?:Figures?|Figs?\.?|Tables?|Tabs?\.|Sections?|Secs?\.|Equations?|Eqs?\.|Eqn\.?|Appendix|Appendices|Theorems?|"
    r"Lemmas?|Algorithms?|Alg\.|Propositions?|Corollary|Definitions?|Chapters?|Supplementary files?|Listings?|Steps?|"
    r"Lines?|Examples?|Remarks?|Assumptions?|Stages?|Experiments?|Phases?|Panels?|Runs?|Seeds?|Versions?|Pages?|pp?\.|"
    r"Vol\.|No\.|Columns?|Rows?|Layers?|Levels?|Regions?|Grants?|§+|#)"
)
_ONE_LABEL = r"\(?[A-Z]?\d+(?:[.\-–—]\d+)*[a-zA-Z]?\)?"
_NOT_MEASURED = re.compile(
    rf"\b{LABEL_WORD}\s*{_ONE_LABEL}(?:(?:\s*(?:,|and|&|or|to|–|-)\s*)+{_ONE_LABEL}(?![\w%.]))*"
    r"|\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]"
    r"|(?<!10)(?<!10\s)\^\s*[-+]?\s*\d+"
    r"|(?<!\S)[^\s:@]{1,60}(?:://|@)\S+|\bdoi\S*|\b10\.\d{4,5}/\S+"
    r"|\bet al\.?,?\s*\(?(?:19|20)\d\d[a-z]?"
    r"|(?:\b(?:in|since|from|until|of|by|on|and|through|early|late|during)\s|[(,;]\s*)(?:1[6-9]|20)\d\d[a-z]?(?=\s*[-–),;.:]|\s+and\b)(?!\.\d)"
    r"|\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:[-–]\d{1,2})?(?:,?\s+(?:19|20)\d\d)?\b",
    re.IGNORECASE,
)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*,\d)|\d+(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"""
    (?<![\w.^_@#&])(?<![A-Za-z)\]][-'’/])(?<!\d[:,])
    (?P<sign>(?<![\w)\]])[-+]\s?(?=[\d.]))?
    (?P<digits>10(?=\s*\^)|{_DIGITS})
    (?:(?P<exponent>\s*(?:[x×·]|times|cdot)\s*10\s*\^?\s*\(?\s*-?\s*\d{{1,3}}|[eE][-+]?\d{{1,3}}(?!\w)
      |(?<=10)\s*\^\s*\(?\s*-?\s*\d{{1,3}})
     |\s?(?P<scale>million|billion|thousand|[kKMB](?![\w]))
    )?
    (?:\s?(?P<unit>%|percentage\spoints?\b|percent\b|pp\b|per\scent\b|points?\b|-?\s?fold\b|×|x(?!\w)|times\b|ms\b|s\b(?!\.)
      |seconds?\b|minutes?\b|mins?\b|hours?\b|h\b|days?\b|GB\b|MB\b|TB\b|mm\b|cm\b|km\b|kg\b|mg\b|g\b|ml\b|mL\b|μm\b|nm\b|Hz\b|kHz\b|°C))?
    (?![\w^_]|\.\d|/[A-Za-z]|,\d)
    """,
    re.VERBOSE,
)
_SCALES = {"k": 3, "K": 3, "thousand": 3, "M": 6, "million": 6, "B": 9, "billion": 9}
_UNITS = {
    "percent": "%",
    "per cent": "%",
    "percentage point": "pp",
    "percentage points": "pp",
    "point": "pp",
    "points": "pp",
    "fold": "x",
    "-fold": "x",
    "×": "x",
    "times": "x",
    "second": "s",
    "seconds": "s",
    "minute": "min",
    "minutes": "min",
    "mins": "min",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "mL": "ml",
}
_BOUND = re.compile(
    r"(?P<less>[<≤]\s*$|\b(?:at most|up to|less than|below|under|fewer than|within|almost|nearly)\s+(?:an? |the )?$)"
    r"|(?P<more>[>≥]\s*$|\b(?:at least|more than|over|above|exceed(?:s|ing)?|(?:great|high|larg)er than|beyond)\s+$)"
    r"|(?P<near>[~≈]\s*$|\b(?:about|around|approximately|roughly|circa|some|close to|near|ca\.)\s+(?:a |the )?$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as printed.

    ``step`` is one unit of its last printed digit, in the value's own scale: 0.01 for ``3.40``, 100000 for ``8.1M``.
    ``unit`` is ``%``, ``pp``, ``x``, a short name such as ``ms``, or empty. ``bound`` says that the number is a limit
    or an approximation. ``start`` and ``end`` are offsets into the text that was searched.
    """

    value: Decimal
    step: Decimal
    decimals: int
    unit: str
    bound: Bound
    text: str
    start: int
    end: int

    @property
    def low(self) -> Decimal:
        """The least value that is printed like this."""
        return self.value - self.step / 2

    @property
    def high(self) -> Decimal:
        """The greatest value that is printed like this."""
        return self.value + self.step / 2


def plain(text: str) -> str:
    """The text with LaTeX marks and odd blanks as blanks and one kind of minus, at the same length."""
    return text.translate(_SAME_LENGTH)


def find_numerals(text: str) -> Iterator[Numeral]:
    """Every number that measures or counts something, in order.

    Args:
        text: Prose, a caption, or a table cell.

    Yields:
        The numbers; nothing is raised for any string.
    """
    shown = plain(text)
    masked = _NOT_MEASURED.sub(lambda found: " " * len(found.group()), shown)
    for found in _NUMBER.finditer(masked):
        numeral = _numeral(found, masked, text)
        if numeral is not None:
            yield numeral


def _numeral(found: re.Match[str], masked: str, text: str) -> Numeral | None:
    power = _power(found)
    digits = found["digits"].replace(",", "") if not _is_power_of_ten(found) else "1"
    if len(digits) > 24 or abs(power) > 400:
        return None
    decimals = len(digits.partition(".")[2])
    sign = -1 if (found["sign"] or "").startswith("-") else 1
    unit = " ".join((found["unit"] or "").split())
    start, end = found.span()
    return Numeral(
        value=sign * Decimal(digits).scaleb(power),
        step=Decimal(1).scaleb(power - decimals),
        decimals=decimals,
        unit=_UNITS.get(unit, unit),
        bound=_bound(masked[max(0, start - 24) : start]),
        text=text[start:end].strip(),
        start=start,
        end=end,
    )


def _is_power_of_ten(found: re.Match[str]) -> bool:
    return (found["exponent"] or "").lstrip().startswith("^")


def _power(found: re.Match[str]) -> int:
    if found["scale"]:
        return _SCALES[found["scale"]]
    if not found["exponent"]:
        return 0
    exponent = re.sub(r"[\s(]", "", found["exponent"])
    if exponent.startswith("^"):
        return int(exponent[1:])
    return int(re.sub(r"^(?:(?:[x×·]|times|cdot)10\^?|[eE])", "", exponent))


def _bound(before: str) -> Bound:
    found = _BOUND.search(before)
    if found is None:
        return ""
    return "<" if found["less"] else ">" if found["more"] else "~"
