"""The rule that refuses a page without guidelines for reviewers. No model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import VenueError
from referee.venues.page.blocks import read_blocks
from referee.venues.page.language import language_name
from referee.venues.page.options import option_groups
from referee.venues.page.page_types import Candidate, GuidelinePage
from referee.venues.page.vocabulary import (
    ACT,
    AUTHOR_SIDE,
    CRITERION,
    FOREIGN,
    JUDGING,
    OBJECT,
    reviewing_words,
    speaks_of_reviewing,
)

LEAST_SHARE = 0.04
LEAST_GUIDING = 4
LEAST_GUIDING_TITLED = LEAST_GUIDING_FOREIGN = 3
LEAST_NAMED = 2
LEAST_ACT_SHARE = 0.006
MOST_AUTHOR_SIDE = 0.6
_FORM_SCALES = 2


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
    papers (fewer of both where its title names reviewing), and clearly fewer candidates that speak to authors. The
    bounds were set on nine real pages and on pages that are none: a call for papers, an author's guide, a product's
    reviews, a travel page and others.

    Raises:
        VenueError: The message names the first sign that is missing, with its number and its bound.
    """
    missing = _missing(signs(page, candidates))
    if missing and not page.language:
        known = ("English", *map(language_name, sorted(FOREIGN)))
        missing += f", and its language was not recognised (known: {', '.join(known)})"
    if missing:
        raise VenueError(
            f"{page.source!r} holds no guidelines for reviewers: {missing}.",
            hint="Give the page that tells reviewers what to look for, or write the venue file by hand.",
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
