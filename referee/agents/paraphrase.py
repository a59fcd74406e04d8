"""Whether a sentence may stand for another: what code can see without knowing what either means."""

from __future__ import annotations

import re

from referee.evidence.stems import stems

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nor|neither|avoid\w*|refrain\w*|cannot|forbid\w*|prohibit\w*|rather than|\w+n['’]t"
    r"|abstain\w*|discourag\w*)\b",
    re.IGNORECASE,
)
_LACK = re.compile(r"\b(?:without|instead|lack|unless|ignor|exclud|free of|stop)", re.IGNORECASE)
_FEWEST_CHARS = 8
_SHARE = 0.2


def why_not(says: str, words: str) -> str:
    """Why a paraphrase cannot stand for the words; empty where nothing speaks against it.

    It must be more than a word, share a fifth of its stems with the words, hold no number that they do not hold, and be
    negated only if they are, and if they are.

    Args:
        says: The paraphrase.
        words: What it was made from.
    """
    if len(says) < _FEWEST_CHARS:
        return "the model gave no paraphrase"
    invented = sorted(set(_NUMBER.findall(says)) - set(_NUMBER.findall(words)))
    if invented:
        return f"its paraphrase holds {invented[0]}, which the page does not say"
    own = set(stems(says))
    if len(own & set(stems(words))) < max(1, _SHARE * len(own)):
        return "its paraphrase shares no words with the page's"
    if _negated(says, words) != _negated(words, says):
        return "its paraphrase turned a 'not' around"
    return ""


def _negated(text: str, other: str) -> bool:
    """Whether a text says not, or lacks what the other has: a "lacks" on both sides is part of what they speak of."""
    lacks, others = ({found.lower() for found in _LACK.findall(side)} for side in (text, other))
    return bool(_NOT.search(text) or lacks - others)
