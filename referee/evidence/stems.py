"""Words reduced to stems, so that ``ablations``, ``ablated`` and ``ablation`` are one.

The stemmer is our own and small: endings are taken off by one table, longest first and at most twice, where three
letters with a vowel stay, four under the longer endings. It joins more than a dictionary would (``general`` and
``generation``); for a search that must not miss a word, that is the safe side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:\.\d+)?")
_ENDING_LIST = (
    "ational ations ation ators ator ative atively ating ated ates ate ability abilities able ably ibility ible "
    "ances ance ances ancy ences ence ency encies ently antly ents ent ants ant iveness ives ive ively ivity "
    "ments ment mental ness nesses ings ing ingly edly ed es s ies ied y ion ions ional ionally isation isations "
    "ization izations ise ises ised ising ize izes ized izing iser isers izer izers istic "
    "istics istical istically ist ists ism isms ical ically ics ic al ally als ity ities ly er ers or ors est "
    "ous ously ful fully less age ages e iable iance iances iant iants ier iest ily"
)
_ENDINGS = tuple(sorted(set(_ENDING_LIST.split()), key=lambda ending: (-len(ending), ending)))
_VOWEL = re.compile(r"[aeiouy]")
_SHORT_ENDINGS = frozenset(("s", "es", "e", "ed", "ing", "ings", "y", "ies", "ied"))
_FAMILIES = re.compile(
    r"^(?P<stem>analy(?=[sz])|vari(?=e|a[nb]|at|ous)|vary|us(?=e[sd]?$|ing$)|seed(?=s|ed|ing|$)|compar|theor(?=y|ies|et)|hypothes(?=[ei]s))"
)
_IRREGULAR = {"matrices": "matrix", "indices": "index", "criteria": "criterion"}
_STOPWORD_LIST = (
    "a an the of to in on at by for from with without as is are was were be been being has have had do does did and or "
    "but nor so than then that this these those it its their our we us they he she his her which who whom what when "
    "where while whereas also only just very more most less least about into over under between among per each all any "
    "both such same other there here can may might will would could should not no yes if because since through during "
    "against up down out off again further once how why own s t i.e e.g etc respectively however thus therefore"
)
STOPWORDS = frozenset(_STOPWORD_LIST.split())
"""Words that carry no meaning of their own."""


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of one word, in lower case.

    Args:
        word: A word; anything else is returned in lower case as it is.

    Returns:
        The stem, never empty for a word that is not.
    """
    lower = word.casefold().replace("’", "'").removesuffix("'s")
    if not lower.isalpha():
        return lower or word
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    family = _FAMILIES.match(lower)
    if family is not None:
        return family["stem"].replace("vary", "vari")
    if len(lower) > 4:
        lower = lower.replace("our", "or").replace("licenc", "licens")
    return _without_ending(_without_ending(lower))


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < (3 if ending in _SHORT_ENDINGS else 4) or not _VOWEL.search(rest):
            continue
        if ending != "s" or rest[-1] not in "ais":
            return _smoothed(rest)
    return word


def _smoothed(rest: str) -> str:
    """A doubled last consonant (``running``) and a last ``i`` or ``e`` (``denied``, ``codes``) are taken off."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
        return rest[:-1]
    return rest[:-1] if len(rest) > 3 and rest[-1] in "ei" else rest


def stems(text: str) -> Iterator[str]:
    """The stems of a text's words and numbers in order, without those that carry no meaning."""
    for found in WORD.finditer(text):
        if found.group().casefold() not in STOPWORDS:
            yield stem(found.group())
