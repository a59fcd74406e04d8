"""What became of each statement of a guideline page: kept as a criterion, merged into another, or dropped, and why."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from rapidfuzz import fuzz

from referee.evidence.stems import STOPWORDS
from referee.schemas.base import Frozen
from referee.schemas.venue import Fact, Guideline
from referee.venues.page import GuidelinePage, trace
from referee.venues.prompts import known_guidelines

_SAME = 90.0
_SLUG_WORDS = 5
_TELLING = re.compile(r"\d+(?:[.,]\d+)*|\b(?:not|no|never|cannot|without)\b|n['’]t\b")
_WORD = re.compile(r"[a-z0-9]+")
_EMPTY_WORDS = STOPWORDS | {
    *("please", "check", "ensure", "assess", "evaluate", "consider", "make", "sure", "reviewer", "reviewers", "must"),
    *("whether", "say", "says", "tell", "give", "provide", "whose", "within", "does", "you", "your"),
}
_REASONS = {
    "noise": "not about reviewing",
    "form_scale": "part of the form: a box or a value of its scale",
}


class Fate(Frozen):
    """One statement from its page to the venue.

    ``words`` are the page's own. ``label`` and ``criterion_kind`` come from the model or, where ``by`` is ``rule``,
    from code; ``note`` says why. ``text`` is the criterion as the venue words it: the paraphrase, or the words
    themselves. ``reason`` is never empty for what is not kept.
    """

    id: str
    words: str
    heading: tuple[str, ...] = ()
    statement: str
    label: Literal["criterion", "form_scale", "noise"]
    criterion_kind: Literal["subjective", "objective"]
    text: str
    by: str
    note: str = ""
    fate: Literal["kept", "merged", "dropped"] = "kept"
    reason: str = ""
    merged_into: str | None = None
    guideline: str | None = None


class StatementsLost(AssertionError):
    """Statements of the page are missing, or stand there twice: a mistake of ours, not of the page or the model."""


def settle_fates(labelled: Iterable[Fate], page: GuidelinePage) -> tuple[Fate, ...]:
    """Drop what is no criterion or cannot be traced to the page, merge what says the same, name what is kept.

    Two statements say the same where their words agree by at least 90 of 100 (word order aside), with the same numbers
    and negations; the first is kept. Ids
    of guidelines have five words at most, are unique, and are none that have steps of their own for other wordings.

    Args:
        labelled: Every statement with its label, in the page's order.
        page: Where the words must stand.
    """
    settled: list[Fate] = []
    kept: list[Fate] = []
    taken = set(known_guidelines())
    for fate in labelled:
        if fate.label != "criterion":
            settled.append(_dropped(fate, _REASONS[fate.label]))
        elif trace(fate.words, page) is None:
            settled.append(_dropped(fate, "its words cannot be found on the page"))
        elif same := next((other for other in kept if _same(fate, other)), None):
            into = {"fate": "merged", "merged_into": same.id, "reason": f"says the same as {same.id}"}
            settled.append(fate.model_copy(update=into))
        else:
            kept.append(fate.model_copy(update={"guideline": _slug(fate, taken)}))
            settled.append(kept[-1])
    return tuple(settled)


def check_conserved(ids: Sequence[str], fates: Sequence[Fate]) -> Counter[str]:
    """Count the fates; every statement that was cut has exactly one.

    Raises:
        StatementsLost: One has none, or several.
    """
    if sorted(ids) != sorted(fate.id for fate in fates):
        odd = sorted(set(ids) ^ {fate.id for fate in fates}) or "some stand there twice"
        raise StatementsLost(f"{len(ids)} statements were cut and {len(fates)} have a fate: {odd}")
    counts: Counter[str] = Counter(fate.fate for fate in fates)
    kept = {fate.id for fate in fates if fate.fate == "kept"}
    for fate in fates:
        if fate.fate != "kept" and not fate.reason:
            raise StatementsLost(f"{fate.id} is {fate.fate} without a reason")
        if fate.fate == "merged" and fate.merged_into not in kept:
            raise StatementsLost(f"{fate.id} is merged into {fate.merged_into}, which is not kept")
    return counts


def guidelines_of(fates: Iterable[Fate], fact: Fact) -> tuple[Guideline, ...]:
    """The criteria that were kept, in the page's order; each fact says whose words the text is in."""
    return tuple(
        Guideline(
            id=fate.guideline,
            text=fate.text,
            kind=fate.criterion_kind,
            words=fate.words,
            fact=fact.model_copy(update={"note": _wording(fate)}),
        )
        for fate in fates
        if fate.fate == "kept" and fate.guideline
    )


def _wording(fate: Fate) -> str:
    said = "in the page's words" if fate.text == fate.words else f"paraphrased by {fate.by}"
    return f"{said}; taken for a criterion by a rule: {fate.note}" if fate.by == "rule" else said


def _dropped(fate: Fate, reason: str) -> Fate:
    return fate.model_copy(update={"fate": "dropped", "reason": reason})


def _same(fate: Fate, other: Fate) -> bool:
    ours, theirs = fate.words.casefold(), other.words.casefold()
    if _TELLING.findall(ours) != _TELLING.findall(theirs):
        return False
    return fuzz.token_sort_ratio(ours, theirs, score_cutoff=_SAME) >= _SAME


def _slug(fate: Fate, taken: set[str]) -> str:
    """An id from the telling words of the text; numbered where it is taken."""
    plain = unicodedata.normalize("NFKD", fate.text.casefold()).encode("ascii", "ignore").decode()
    words = _WORD.findall(re.sub(r"['’]", "", plain))
    telling = [word for word in words if word not in _EMPTY_WORDS and len(word) > 1] or [w for w in words if len(w) > 1]
    base = "-".join(telling[:_SLUG_WORDS]) or f"criterion-{fate.id}"
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
