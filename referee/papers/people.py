"""Words that speak of a paper's authors: lists of names, addresses, biographies."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[\d*∗†‡§¶#Ď⋆]+|\$[^$]*\$|\^\{[^}]*\}")
_PARTS = re.compile(r"\s*[,;&·•|]+\s*(?:and\s+)?|\s+and\s+")
_PARTICLES = frozenset(("van", "de", "der", "den", "von", "la", "le", "di", "da", "dos", "del", "bin", "al", "el", "y"))
_PLACE = re.compile(
    r"\b(?:universit|institut|dep(?:artment|t\b)|dipartimento|laborator|fa[ck]ult|lehrstuhl|college|school of|"
    r"research cent|academy|hospital|inc\.|gmbh|\b\d{5}\b)",
    re.IGNORECASE,
)
_PLACES, _ADDRESS_WORDS, _PROSE_SHARE = 3, 25, 0.6
# 'Recall@10' is none.
MAIL = re.compile(r"@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_BIOGRAPHY = re.compile(
    r"^(?:(?:Dr|Prof)\.?\s+)?(?:[A-Z][\w.’'-]*\s+){1,5}(?:\([^)]*\)\s+)?"
    r"(?:received|obtained|earned|was born|holds|graduated|(?:is|was) (?:currently |now )?(?:an?|the|with)\b)"
)
_CAREER = re.compile(
    r"\b(?:B\.?S\.?c?|M\.?S\.?c?|Ph\.?\s?D|degree|professor|student|researcher|scientist|engineer|lecturer|born)\b",
    re.I,
)


def looks_like_names(text: str) -> bool:
    """Whether words are a list of people: at least four names, or two that carry note marks.

    A name has two to five words, all with a capital but for particles ('van'); a single name may have one word.
    """
    names = [part for part in _PARTS.split(_MARKS.sub("", text).strip(" .")) if part.strip()]
    parted = [name.split() for name in names]
    likely = sum(
        2 <= len(words) <= 5 and all(word[:1].isupper() or word in _PARTICLES for word in words) for words in parted
    )
    marked = bool(re.search(r"[a-z.]\s?[\d*∗†‡§¶#]", text))
    return ":" not in text and likely >= 0.75 * len(names) and likely >= (2 if marked else 4)


def names_a_place(text: str) -> bool:
    """Whether words hold an e-mail address, or names of institutes as an author's address does."""
    places = len(_PLACE.findall(text))
    short = len(text.split()) <= _ADDRESS_WORDS and not text.rstrip().endswith(".")
    return bool(MAIL.search(text)) or places >= _PLACES or (short and places > 0)


def is_address(text: str) -> bool:
    """Whether a paragraph names places and is no prose: most of its words have a capital or are numbers."""
    words = text.split()
    return names_a_place(text) and sum(word.islower() for word in words) < _PROSE_SHARE * len(words)


def is_biography(text: str) -> bool:
    """Whether a paragraph tells an author's career, as journals print it behind the references."""
    return bool(_BIOGRAPHY.match(text) and _CAREER.search(text))
