"""Text as MAGE's classifier was shown it: one line of plain ASCII without addresses and odd signs.

Its published code cleans a text before it is classified, and the classifier has seen no other: breaks of lines become
blanks, quotation marks, dashes and spaced punctuation are made plain, addresses of pages, of mail and telephone numbers
go, letters lose their accents, signs other than common punctuation go, as do brackets and quotation marks in a row.

Source: the behaviour of ``preprocess`` in the repository of "MAGE: Machine-generated Text Detection in the Wild"; the
specification's section 5. Deviations: letters of other scripts go where the published code spells them in Latin ones,
and what counts as an address or a telephone number is found by shorter patterns.
"""

from __future__ import annotations

import re
import unicodedata

MAGE_CLEANING = "mage-text/1"
"""Changed with the rule; it stands among what made a score."""

_SHORT_FIRST_LINE = re.compile(r"^[^\n]{0,3}\n")
_MODEL_TOKENS = re.compile(r"<pad>|</?s>|<unk>|<\|endoftext\|>")
_SPELLED = str.maketrans(
    {
        **dict.fromkeys("„“”«»", '"'),
        **dict.fromkeys("‘’‚´`", "'"),
        **dict.fromkeys("‐‑‒–−", "-"),
        "—": " - ",
        "…": "...",
        "\u00a0": " ",
        "ß": "ss",
        "æ": "ae",
        "Æ": "AE",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
    }
)
_SPACING = (
    (re.compile(r" ?\("), " ("),
    (re.compile(r"\) ?(?![ .,!?:;)])"), ") "),
    (re.compile(r"''"), '"'),
    (re.compile(r"(\d) %"), r"\1%"),
    (re.compile(r" +(?=[,.?!;:)])"), ""),
    (re.compile(r"\( +"), "("),
    (re.compile(r" (?=n't\b|'(?:s|re|ve|ll|d|m)\b)"), ""),
    (re.compile(r"(?<= )i(?= |')"), "I"),
    # English puts a comma or a full stop within quotation marks.
    (re.compile(r'"([,.]+)'), r'\1"'),
)
_ADDRESSES = (
    re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE),
    re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}"),
    re.compile(r"(?<![\w.,])(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)[ ]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w.,]\d|\d)"),
)
_UNCOMMON = re.compile(r"[^ A-Za-z0-9.?!,:;\-\[\]{}()'\"]")
_IN_A_ROW = re.compile(r"[-\[\]{}()'\"]{2,}")


def mage_text(text: str) -> str:
    """The text on one line as MAGE's classifier reads it; empty where nothing of it is left."""
    line = " ".join(_SHORT_FIRST_LINE.sub("", re.sub(r"\n+", "\n", text)).split())
    line = _MODEL_TOKENS.sub("", line).translate(_SPELLED)
    for pattern, plain in _SPACING:
        line = pattern.sub(plain, line)
    for address in _ADDRESSES:
        line = address.sub("", line)
    plain = unicodedata.normalize("NFKD", line).encode("ascii", "ignore").decode()
    return " ".join(_IN_A_ROW.sub("", _UNCOMMON.sub("", plain)).split())
