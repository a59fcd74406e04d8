"""What a reviewer of one section does for each guideline, and the points that a guideline is cut into.

A point is one clause of the guideline. Whether steps serve it, a model is asked (``agents.guideline_guard``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, get_args

from referee.evidence.stems import STOPWORDS
from referee.schemas.venue import Guideline, VenueForm

SectionType = Literal[
    "introduction",
    "related",
    "method",
    "theory",
    "experiments",
    "results",
    "discussion",
    "limitations",
    "conclusion",
    "other",
]
SECTION_TYPES: tuple[SectionType, ...] = get_args(SectionType)
ANY = "any"
REVIEW = "review"
_GENERAL = "general-"


@dataclass(frozen=True)
class SectionPrompt:
    """Steps for the reviewer of one section.

    ``section_types`` holds names of ``SECTION_TYPES``; ``any`` stands for all of them, ``review`` for steps about the
    review as a whole, which go to whoever composes it. Empty means that nobody has said yet: it has to be mapped.
    ``text`` is the guideline's own text; general guidance has none.
    """

    id: str
    guideline_id: str
    steps: tuple[str, ...]
    section_types: tuple[str, ...]
    text: str = ""

    @property
    def is_about_the_review(self) -> bool:
        """Whether it concerns the review's form and no section."""
        return self.section_types == (REVIEW,)

    def render(self) -> str:
        """Its steps, one a line."""
        return "\n".join(f"- {step}" for step in self.steps)


def section_prompts(form: VenueForm) -> tuple[SectionPrompt, ...]:
    """One prompt for each guideline of a form, in its order; none for a form without guidelines.

    A guideline of the same id as a known one gets the known steps, whatever its wording. Any other gets steps built
    from its text, and empty ``section_types``.
    """
    return tuple(_prompt(guideline) for guideline in form.guidelines)


def general_prompts() -> tuple[SectionPrompt, ...]:
    """What every section is read for where no guideline concerns it.

    Source: *ReviewEval* section 3.6: clarity and completeness, relevance to the aims, logic and support, contribution.
    """
    return tuple(_known(key) for key in _entries() if key.startswith(_GENERAL))


@lru_cache(maxsize=1)
def known_guidelines() -> frozenset[str]:
    """The ids of guidelines that have steps of their own."""
    return frozenset(key for key in _entries() if not key.startswith(_GENERAL))


def _prompt(guideline: Guideline) -> SectionPrompt:
    if guideline.id in known_guidelines():
        return replace(_known(guideline.id), text=guideline.text)
    steps = (
        f"Read the section for this rule of the venue: {guideline.text}",
        "Find the sentences of the section that bear on the rule, those that meet it and those that do not.",
        "Where the section falls short, name the sentence and what would settle it.",
        "Where the rule does not concern this section, say nothing about it.",
    )
    return SectionPrompt(guideline.id, guideline.id, steps, (), guideline.text)


def _known(guideline_id: str) -> SectionPrompt:
    entry = _entries()[guideline_id]
    return SectionPrompt(guideline_id, guideline_id, tuple(entry["steps"]), tuple(entry["section_types"]))


@lru_cache(maxsize=1)
def _entries() -> dict[str, dict[str, Any]]:
    """Guideline id to its entry; guidelines that want the same of a reviewer share one."""
    text = resources.files("referee.venues").joinpath("guideline_prompts.toml").read_text(encoding="utf-8")
    return {guideline: entry for entry in tomllib.loads(text)["prompt"] for guideline in entry["guidelines"]}


_CUT = re.compile(
    r"[.;:!?](?=\s|$)|[()\[\]•]|\n|,\s+(?:and|or|but|not)\b|,\s|\s(?:and|but|or)\s+(?:whether|asks?|says?|that|does|do)\s"
    r"|\s(?:whether|where|rather than)\s"
)
# What every guideline speaks of says nothing about which one it is.
_FILLER_LIST = (
    "review reviews reviewer reviewers reviewing paper papers submission submissions manuscript author authors section "
    "sections say says said state states judge judges ask asks give gives given come comes make makes consider see "
    "sees please whether should must need needs point points thing things well good regard regarded does way"
)
_EMPTY = STOPWORDS | frozenset(_FILLER_LIST.split())
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class _Clause:
    text: str
    words: frozenset[str]


def guideline_points(guideline: Guideline) -> tuple[str, ...]:
    """The clauses of a guideline's text, then those of the page's own words that the text does not hold.

    Returns:
        All of them, in their order, none of them a part of another. A text without any content word has
        none.
    """
    points: list[_Clause] = []
    for source in (guideline.text, guideline.words):
        known = [point.words for point in points]
        for point in _without_parts(_clauses(source)):
            if not any(2 * len(point.words & seen) >= len(point.words) for seen in known):
                points.append(point)
    return tuple(point.text for point in points)


def _clauses(text: str) -> Iterator[_Clause]:
    for piece in _CUT.split(text):
        if found := frozenset(_WORD.findall(piece.casefold())) - _EMPTY:
            yield _Clause(" ".join(piece.split()), found)


def _without_parts(points: Iterable[_Clause]) -> list[_Clause]:
    """Without points whose words all stand in another; of equal ones the first stays."""
    kept: list[_Clause] = []
    for point in points:
        if any(point.words <= other.words for other in kept):
            continue
        kept = [other for other in kept if not other.words < point.words]
        kept.append(point)
    return kept
