"""What code checks on a page: that it holds guidelines for reviewers, and that words stand on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from referee.errors import VenueError
from referee.evidence.normalise import Normalised, normalise
from referee.venues.page.blocks import read_blocks
from referee.venues.page.form import form_fields
from referee.venues.page.options import option_groups
from referee.venues.page.page_types import Candidate, GuidelinePage
from referee.venues.page.vocabulary import (
    ACT,
    AUTHOR_SIDE,
    CRITERION,
    FOREIGN,
    JUDGING,
    OBJECT,
    language_name,
    reviewing_words,
    speaks_of_reviewing,
)

NEAR = 92.0
_SHORTEST_NEAR = 24
_SHORTEST = 3
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_MARKERS = re.compile(r"^(?:#{1,6} | *[-*] | *\d{1,3}\. )", re.MULTILINE)
_NEGATIONS = re.compile(r"\b(?:not|no|never|cannot|without|none|nor|neither)\b|n't\b", re.IGNORECASE)


def trace(words: str, page: GuidelinePage) -> str | None:
    """The page's own words for ``words``, or none where they do not stand there.

    Case, quotation marks, dashes, markup and white space do not count. Words of 24 characters or more may differ a
    little (rapidfuzz's partial ratio of at least 92), but never in a number or a negation.

    Returns:
        A stretch of the page's text, white space as single blanks.
    """
    wanted = normalise(words.strip()).text
    if len(wanted) < _SHORTEST:
        return None
    text = _comparable(page.text)
    start = _whole_words(text.text, wanted)
    if start is not None:
        return _own(text, start, start + len(wanted))
    if len(wanted) < _SHORTEST_NEAR:
        return None
    near = fuzz.partial_ratio_alignment(wanted, text.text, score_cutoff=NEAR)
    if near is None or near.dest_end <= near.dest_start:
        return None
    found = _own(text, *_to_word_ends(text.text, near.dest_start, near.dest_end))
    return found if _same_facts(words, found) else None


@lru_cache(maxsize=4)
def _comparable(text: str) -> Normalised:
    """The page's text without line markers, made comparable; kept for the many questions that one page is asked."""
    return normalise(_MARKERS.sub("", text))


def _whole_words(text: str, wanted: str) -> int | None:
    """Where ``wanted`` stands in ``text`` without cutting a word at either end."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before = at == 0 or not (text[at - 1].isalnum() and wanted[0].isalnum() and wanted[0].isascii())
        after = end == len(text) or not (text[end].isalnum() and wanted[-1].isalnum() and wanted[-1].isascii())
        if before and after:
            return at
        at = text.find(wanted, at + 1)
    return None


def _to_word_ends(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to whole words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _own(text: Normalised, start: int, end: int) -> str:
    low, high = text.span(start, end)
    return " ".join(text.source[low:high].split())


def _same_facts(words: str, found: str) -> bool:
    numbers = [sorted(_DIGITS.findall(side)) for side in (words, found)]
    negations = [len(_NEGATIONS.findall(side.replace("’", "'"))) for side in (words, found)]
    return numbers[0] == numbers[1] and negations[0] == negations[1]


LEAST_SHARE = 0.04
LEAST_GUIDING = 4
LEAST_GUIDING_TITLED = LEAST_GUIDING_FOREIGN = 3
LEAST_NAMED = 2
LEAST_ACT_SHARE = 0.006
MOST_AUTHOR_SIDE = 0.6
_FORM_SCALES, _FORM_FIELDS = 2, 3
_SHOWN, _MOST_SHOWN = 80, 5


@dataclass(frozen=True, slots=True)
class Signs:
    """What the rule looks at.

    ``share``: part of the page's words that are words of reviewing, 0 to 1. ``guiding``: candidates, headings aside,
    that name a criterion or a judgement and do not speak to authors. ``author_side``: candidates that speak to authors.
    ``act_words``: "review", "reviewer", "referee" and the like. ``object_words``: "paper", "manuscript", "authors" and
    the like. ``scales``: runs of option lines. ``foreign``: the page is in another language with a word list of ours,
    where ``act_words``, ``object_words`` and ``author_side`` tell nothing. ``titled``: its title names reviewing.
    """

    words: int
    share: float
    candidates: int
    guiding: int
    author_side: int
    act_words: int
    object_words: int
    scales: int
    foreign: bool
    titled: bool = False


def signs(page: GuidelinePage, candidates: Sequence[Candidate]) -> Signs:
    """Count what tells a page of guidelines from another."""
    words = max(1, _word_count(page))
    to_authors = [each for each in candidates if AUTHOR_SIDE.search(each.words)]
    guiding = [each for each in candidates if _guides(each, page.language)]
    return Signs(
        words=words,
        share=reviewing_words(page.text, page.language) / words,
        candidates=len(candidates),
        guiding=len(guiding),
        author_side=len(to_authors),
        act_words=len(ACT.findall(page.text)),
        object_words=len(OBJECT.findall(page.text)),
        scales=len(option_groups(read_blocks(page.text))),
        foreign=page.language in FOREIGN,
        titled=bool(ACT.search(page.title)),
    )


def check_holds_guidelines(page: GuidelinePage, candidates: Sequence[Candidate]) -> None:
    """Refuse a page that holds no guidelines for reviewers; nothing is returned for one that does.

    A page needs 4 % words of reviewing, 4 candidates that name a criterion or a judgement, words for reviewing and for
    papers (fewer of both where its title names reviewing), and clearly fewer candidates that speak to authors; or a
    title that names reviewing and a form of three boxes. The bounds were set on nine real pages and on pages that are
    none: a call for papers, an author's guide, a product's reviews, a travel page and others.

    Raises:
        VenueError: The message names the first sign that is missing, with its number and its bound.
    """
    found = signs(page, candidates)
    # A title that names reviewing above a form is sure, however few words of judging the page has.
    missing = "" if found.titled and len(form_fields(page).fields) >= _FORM_FIELDS else _missing(found)
    if missing and not page.language:
        known = ("English", *map(language_name, sorted(FOREIGN)))
        missing += f", and its language was not recognised (known: {', '.join(known)})"
    if missing:
        counted = [each.words for each in candidates if _guides(each, page.language)]
        read = "; ".join(f"“{words[:_SHOWN]}”" for words in counted[:_MOST_SHOWN])
        raise VenueError(
            f"{page.source!r} holds no guidelines for reviewers, as far as code can tell: {missing}."
            f" Of its {len(candidates)} pieces these counted: {read or 'none'}.",
            hint="Let a stronger --model read it, give another page, or add --force to go on.",
        )


def _missing(found: Signs) -> str:
    """The first sign that is too weak, in words; empty where all are there."""
    if not found.candidates:
        return "nothing on it asks for anything"
    if found.share < LEAST_SHARE:
        return f"{found.share:.1%} of its words are words of reviewing, and {LEAST_SHARE:.0%} are needed"
    least = LEAST_GUIDING_FOREIGN if found.foreign else LEAST_GUIDING_TITLED if found.titled else LEAST_GUIDING
    if found.guiding < least:
        return (
            f"{found.guiding} of its {found.candidates} pieces name a criterion or a judgement, and {least} are needed"
        )
    if found.foreign:
        return ""
    if found.act_words < (1 if found.titled else LEAST_NAMED) or found.object_words < LEAST_NAMED:
        return f"it names reviewing {found.act_words} times and papers or authors {found.object_words} times"
    if found.act_words / found.words < LEAST_ACT_SHARE and found.scales < _FORM_SCALES:
        return f"it names reviewing {found.act_words} times in {found.words} words and shows no form"
    if found.author_side > MOST_AUTHOR_SIDE * found.guiding:
        return f"{found.author_side} of its pieces speak to authors, and {found.guiding} to reviewers"
    return ""


def _guides(candidate: Candidate, language: str) -> bool:
    if language in FOREIGN:
        return speaks_of_reviewing(candidate.words, language)
    if candidate.kind == "heading" or AUTHOR_SIDE.search(candidate.words):
        return False
    return bool(CRITERION.search(candidate.words) or JUDGING.search(candidate.words))


def _word_count(page: GuidelinePage) -> int:
    """Words of the page; Chinese and Japanese words are taken as two characters long."""
    if page.language in ("zh", "ja"):
        return sum(1 for char in page.text if char.isalpha()) // 2
    return len(page.text.split())
