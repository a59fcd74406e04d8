"""Text made comparable, with the way back to the original.

Two spellings of one passage become the same string: compatibility forms and ligatures (NFKC), case, quotation marks,
dashes, soft and line-break hyphens, white space, and the ASCII and LaTeX spellings of operators. Every character of
the result knows which part of the source it came from, so that the paper's own wording can be shown.

Decisions that are not obvious:

- A minus sign, an en dash and a hyphen become the same ``-``: converters and models mix them freely. Whether a ``-``
  is a sign is decided later from its neighbours (``guards``). An em dash is punctuation and becomes `` - ``.
- A hyphen between two runs of at least two letters is dropped, with any white space after it: ``self-supervised``,
  ``self-⏎supervised`` and ``selfsupervised`` agree, and ``x-y`` stays a difference.
- Superscript digits keep a caret (``10⁵`` is ``10^5``, never ``105``); subscript digits become plain ones.
- Relations and sums stand between single blanks (``p<0.05`` is ``p < 0.05``); ``/`` and ``^`` stand without.
- Dollar signs go, unless escaped: they delimit mathematics far more often than they name a currency.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache

_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›"
_HYPHENS = "‐‑‒–﹣-"
_SPECIAL = {
    **dict.fromkeys(_QUOTES, "'"),
    **dict.fromkeys(_HYPHENS, "-"),
    **dict.fromkeys("—―⸺", " - "),
    "−": "−",
    "∼": "~",
    "∕": "/",
    "⁄": "/",
    "∗": "*",
    "⋅": "·",
}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_PIECE = re.compile(r"[\x00-\x7f]+(?![\u0300-\u036f])|[⁰¹²³⁴-⁹⁺⁻]+|.[\u0300-\u036f]*", re.DOTALL)
_ASCII_FOLD = {ord(c): v for c, v in _SPECIAL.items() if c.isascii()} | dict.fromkeys(range(32), " ") | {127: " "}
_ASCII_FOLD |= {c: chr(c + 32) for c in range(ord("A"), ord("Z") + 1)}

_LETTER = r"[^\W\d_]"
_LATEX = {
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "approx": "≈",
    "sim": "~",
    "pm": "±",
    "mp": "∓",
    "times": "×",
    "div": "÷",
    "cdot": "·",
    "propto": "∝",
    "in": "∈",
    "to": "→",
    "rightarrow": "→",
    "ldots": "...",
    "dots": "...",
}
_DIGRAPHS = {"<=": "≤", ">=": "≥", "!=": "≠", "+/-": "±", "+-": "±", "->": "→"}
_STEPS: tuple[tuple[re.Pattern[str], str | dict[str, str]], ...] = (
    # What only vanishes goes first and white space is collapsed at once: later steps then see single blanks and stay
    # linear on a page of nothing but blanks.
    (re.compile(r"(?<!\\)\$"), ""),
    (re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)"), ""),
    (re.compile(r"\s{2,}|[^\S ]"), " "),
    (re.compile(r"\\(" + "|".join(sorted(_LATEX, key=len, reverse=True)) + r")(?![a-z])"), _LATEX),
    (re.compile(r"\\([%&_#$])"), r"\1"),
    (re.compile(r"([\^_])\{([^{}]{1,20})\}"), r"\1\2"),
    (re.compile(r"\.\s\.\s?\.|\.\.\s\."), "..."),
    (re.compile(rf"(?:(?<={_LETTER}{{2}})|(?<!{_LETTER}))'{{2,}}"), "'"),
    (re.compile(r"-{3,}"), " - "),
    (re.compile(r"--"), "-"),
    (re.compile(r"(?<=\w)-\s+(?=\w)(?!(?:and|or|to|vs|versus)\b)"), "-"),
    (re.compile(rf"(?<={_LETTER}{{2}})-(?={_LETTER}{{2}})"), ""),
    (re.compile(r"−"), "-"),
    (re.compile(r"(<=|>=|!=|\+/-|\+-|->)"), _DIGRAPHS),
    (re.compile(r"(?<=\d)(?:\s+x\s+|x)(?=\d)"), "×"),
    (re.compile(r"\s*([=<>≤≥≠≈~±∓×+÷∝≡≪≫∈∉→])\s*"), r" \1 "),
    (re.compile(r"\s*([/^])\s*"), r"\1"),
    (re.compile(rf"(?:(?<=[\d)\]])|(?<=\b[^\W\d_ai]))\s+-\s+(?=[\d(]|{_LETTER}\b)"), "-"),
    (re.compile(r"(?<![^\s(\[{,;:/^])-\s+(?=\.?\d)"), "-"),
    (re.compile(r"(?<!\S)[|&](?!\S)"), " "),
    (re.compile(r"(?<=\d)\s+%"), "%"),
    (re.compile(r"\s+([,;:!?)\]}])"), r"\1"),
    (re.compile(r"\s+\.(?!\d)"), "."),
    (re.compile(r"([(\[{])\s+"), r"\1"),
    (re.compile(r"\s{2,}|[^\S ]"), " "),
    (re.compile(r"^ | $"), ""),
)


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised text; ``starts[i]`` and ``ends[i]`` bound the source of its character ``i``."""

    source: str
    text: str
    starts: array[int]
    ends: array[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The source offsets behind ``text[start:end]``, without white space at either end.

        Args:
            start: First character, counted in ``text``.
            end: One past the last character; greater than ``start``.

        Returns:
            Offsets into ``source``; it is a half-open range.
        """
        low, high = self.starts[start], self.ends[end - 1]
        piece = self.source[low:high]
        return low + len(piece) - len(piece.lstrip()), high - len(piece) + len(piece.rstrip())


def normalise(source: str) -> Normalised:
    """Make a text comparable, keeping the way back.

    Args:
        source: Any text; it may hold line breaks and control characters.

    Returns:
        The normalised text (empty for a text of white space) with its map to ``source``.
    """
    result = _folded(source)
    for pattern, replacement in _STEPS:
        result = _replaced(result, pattern, replacement)
    return result


def _folded(source: str) -> Normalised:
    """Character by character: case, compatibility forms, marks and dashes."""
    if source.isascii():
        offsets = array("q", range(len(source)))
        return Normalised(source, source.translate(_ASCII_FOLD), offsets, array("q", range(1, len(source) + 1)))
    texts: list[str] = []
    starts, ends = array("q"), array("q")
    for match in _PIECE.finditer(source):
        piece = match.group()
        if piece.isascii():
            texts.append(piece.translate(_ASCII_FOLD))
            starts.extend(range(match.start(), match.end()))
            ends.extend(range(match.start() + 1, match.end() + 1))
            continue
        folded = _fold(piece)
        texts.append(folded)
        starts.extend([match.start()] * len(folded))
        ends.extend([match.end()] * len(folded))
    return Normalised(source, "".join(texts), starts, ends)


@lru_cache(maxsize=4096)
def _fold(piece: str) -> str:
    """One base character with its marks, or a run of superscript digits."""
    if piece in _SPECIAL:
        return _SPECIAL[piece]
    if piece[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻":
        return "^" + piece.translate(_SUPERSCRIPT)
    category = unicodedata.category(piece[0])
    if category in ("Cf", "Cs", "Cn", "Co"):
        return ""
    if category in ("Cc", "Zl", "Zp"):
        return " "
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", piece).casefold())
    if unicodedata.decomposition(piece[0]).startswith("<fraction>"):
        return " " + folded.replace("⁄", "/")
    return "".join(_SPECIAL.get(char, char) for char in folded)


def _replaced(before: Normalised, pattern: re.Pattern[str], replacement: str | dict[str, str]) -> Normalised:
    """``re.sub`` that keeps the map: what is put in points at all that it replaced."""
    texts: list[str] = []
    starts, ends = array("q"), array("q")
    last = 0
    for match in pattern.finditer(before.text):
        low, high = match.span()
        new = match.expand(replacement) if isinstance(replacement, str) else replacement[match.group(1)]
        texts += (before.text[last:low], new)
        starts += before.starts[last:low]
        ends += before.ends[last:low]
        starts.extend([before.starts[low]] * len(new))
        ends.extend([before.ends[high - 1]] * len(new))
        last = high
    if not texts:
        return before
    texts.append(before.text[last:])
    starts += before.starts[last:]
    ends += before.ends[last:]
    return Normalised(before.source, "".join(texts), starts, ends)
