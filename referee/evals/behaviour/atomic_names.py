"""Which polarity the name of a box or heading announces: strengths, weaknesses, both, or something else."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Polarity = Literal["strengths", "weaknesses"]
Announced = Literal["strengths", "weaknesses", "mixed", "aspect", "other"]
POLAR: tuple[Announced, ...] = ("strengths", "weaknesses", "mixed")
"""What the names of boxes with strengths or weaknesses announce."""

_GOOD = (
    r"(?:strengths?|stengths?|pros?|positives?|merits|advantages|strong points"
    r"|positive (?:points|aspects|sides?|comments)"
    r"|reasons (?:to|for) (?:accept\w*|publish\w*)|(?:things|what) (?:that )?i like[d]?)"
)
_BAD = (
    r"(?:weakness(?:es)?|cons?|negatives?|drawbacks?|shortcomings?|disadvantages|weak points"
    r"|negative (?:points|aspects|sides?|comments)|concerns?|issues|problems|critici?sms?|reasons (?:to|for) reject\w*"
    r"|(?:opportunities|areas) for improvement|(?:major|main|key) (?:limitations|points|comments))"
)
_BEFORE = (
    r"(?:(?:the|main|major|key|some|other|additional|paper|summary of|technical|methodological|quality|general|a few"
    r"|several|following|important|potential|critical|significant|clarity|on) )*"
)
_BEHIND = r"(?: (?:of|in|with|for) (?:the|this) (?:paper|work|submission|approach|manuscript|method))?"
_IS_GOOD = re.compile(f"{_BEFORE}(?:minor )?{_GOOD}{_BEHIND}")
_IS_BAD = re.compile(rf"(?:{_BEFORE}{_BAD}|(?:some )?minor (?:weakness(?:es)?|concerns)){_BEHIND}")
_IS_MIXED = re.compile(rf".*\b{_GOOD}\b.*\b{_BAD}\b.*|.*\b{_BAD}\b.*\b{_GOOD}\b.*")
_HAS_GOOD = re.compile(rf"\b{_GOOD}\b")
_HAS_BAD = re.compile(rf"\b{_BAD}\b")
_OTHER = re.compile(
    r"(?:(?:paper|quick|brief|review|short|executive) )*(?:summary|overview|synopsis|abstract)(?: (?:of|and) .*)?"
    r"|(?:.* )?(?:questions?|typos?|remarks|suggestions|nitpicks?|references?|feedback)(?: (?:to|for) .*)?"
    r"|(?:.* )?comments?|minors?(?: .*)?|misc\w*|details?|notes?|update|edit|revision(?: .*)?"
    r"|(?:after|post)[- ]rebuttal|(?:ethic\w*|limitations?)(?: .*)?"
    r"|(?:overall |final )?(?:assessment|recommendation|decision|verdict|rating|score|conclusions?|justification)"
    r"|(?:justification|reasons?|explanation) (?:of|for) (?:the |my )?(?:rating|score|decision|recommendation)"
)
_ASPECT = re.compile(
    r"(?:overall|quality|clarity|originality|significance|novelty|soundness|presentation|contributions?"
    r"|reproducibility|citations|evaluation|experiments?|methods?|results|related work|writing|impact)(?: and .*)?"
)
_PUNCTUATION = re.compile(r"[^\w' -]+|_+")
_LONGEST = 60


@lru_cache(maxsize=4096)
def announced(name: str) -> Announced | None:
    """What a heading or the name of a box announces; None where it is no name that reviews use.

    An ``aspect`` is what may be good or bad, as clarity; ``other`` is what is neither, as a summary.

    Args:
        name: As it stands: ``summary_of_strengths``, ``Reasons to reject``, ``Minor comments``.
    """
    key = _key(name)
    if not key or len(key) > _LONGEST:
        return None
    if _IS_GOOD.fullmatch(key):
        return "strengths"
    if _IS_BAD.fullmatch(key):
        return "weaknesses"
    if _IS_MIXED.fullmatch(key):
        return "mixed"
    if _OTHER.fullmatch(key):
        return "other"
    return "aspect" if _ASPECT.fullmatch(key) else None


@lru_cache(maxsize=4096)
def introduced(line: str) -> Announced | None:
    """What a short line that ends with a colon leads into, as "I have a few concerns:"; None for anything else."""
    key = _key(line)
    if not key or len(key) > _LONGEST:
        return None
    good, bad = _HAS_GOOD.search(key), _HAS_BAD.search(key)
    if good and bad:
        return "mixed"
    return "strengths" if good else "weaknesses" if bad else None


def _key(name: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", name.lower().replace("&", " and ")).split())
