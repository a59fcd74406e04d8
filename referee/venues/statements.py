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


class StatementPart(Frozen):
    """One of the two things that a statement asks for; it becomes a guideline of its own, under that id."""

    words: str
    criterion_kind: Literal["subjective", "objective"]
    text: str
    guideline: str = ""


class Statement(Frozen):
    """One statement from its page to the venue.

    ``words`` are the page's own. ``label`` and ``criterion_kind`` come from the model or, where ``by`` is ``rule``,
    from code; ``note`` says why. ``text`` is the criterion as the venue words it: the paraphrase, or the words
    themselves. ``reason`` is never empty for what is not kept. A criterion that asks for two things has two ``parts``,
    and its ``guideline`` is the first one's.
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
    parts: tuple[StatementPart, ...] = ()


class StatementsLost(AssertionError):
    """Statements of the page are missing, or stand there twice: a mistake of ours, not of the page or the model."""


def settle_statements(labelled: Iterable[Statement], page: GuidelinePage) -> tuple[Statement, ...]:
    """Drop what is no criterion or cannot be traced to the page, merge what says the same, name what is kept.

    Two statements say the same where their words agree by at least 90 of 100 (word order aside), with the same numbers
    and negations; the first is kept. Ids
    of guidelines have five words at most, are unique, and are none that have steps of their own for other wordings.

    Args:
        labelled: Every statement with its label, in the page's order.
        page: Where the words must stand.
    """
    settled: list[Statement] = []
    kept: list[Statement] = []
    taken = set(known_guidelines())
    for statement in labelled:
        if statement.label != "criterion":
            settled.append(_dropped(statement, _REASONS[statement.label]))
        elif trace(statement.words, page) is None:
            settled.append(_dropped(statement, "its words cannot be found on the page"))
        elif same := next((other for other in kept if _same(statement, other)), None):
            into = {"fate": "merged", "merged_into": same.id, "reason": f"says the same as {same.id}"}
            settled.append(statement.model_copy(update=into))
        else:
            kept.append(_named(statement, page, taken))
            settled.append(kept[-1])
    return tuple(settled)


def check_conserved(ids: Sequence[str], statements: Sequence[Statement]) -> Counter[str]:
    """Count the statements by what became of them; each that was cut stands there once.

    Raises:
        StatementsLost: One has none, or several.
    """
    if sorted(ids) != sorted(statement.id for statement in statements):
        odd = sorted(set(ids) ^ {statement.id for statement in statements}) or "some stand there twice"
        raise StatementsLost(f"{len(ids)} statements were cut and {len(statements)} are settled: {odd}")
    counts: Counter[str] = Counter(statement.fate for statement in statements)
    kept = {statement.id for statement in statements if statement.fate == "kept"}
    for statement in statements:
        if statement.fate != "kept" and not statement.reason:
            raise StatementsLost(f"{statement.id} is {statement.fate} without a reason")
        if statement.fate == "merged" and statement.merged_into not in kept:
            raise StatementsLost(f"{statement.id} is merged into {statement.merged_into}, which is not kept")
    return counts


def guidelines_of(statements: Iterable[Statement], fact: Fact) -> tuple[Guideline, ...]:
    """The criteria that were kept, in the page's order, one with two parts as two; each says whose words it is in."""
    return tuple(
        Guideline(
            id=one.guideline,
            text=one.text,
            kind=one.criterion_kind,
            words=one.words,
            fact=fact.model_copy(update={"note": _wording(statement, one)}),
        )
        for statement in statements
        if statement.fate == "kept"
        for one in statement.parts or (statement,)
        if one.guideline
    )


def _named(statement: Statement, page: GuidelinePage, taken: set[str]) -> Statement:
    """A criterion with its id; parts of which one cannot be traced to the page are none."""
    if not statement.parts or any(trace(part.words, page) is None for part in statement.parts):
        return statement.model_copy(update={"guideline": _slug(statement.text, statement.id, taken), "parts": ()})
    parts = tuple(
        part.model_copy(update={"guideline": _slug(part.text, statement.id, taken)}) for part in statement.parts
    )
    return statement.model_copy(update={"guideline": parts[0].guideline, "parts": parts})


def _wording(statement: Statement, one: Statement | StatementPart) -> str:
    said = "in the page's words" if one.text == one.words else f"paraphrased by {statement.by}"
    if statement.parts:
        said += f"; one of the two things that its statement asks for: “{statement.words}”"
    return f"{said}; taken for a criterion by a rule: {statement.note}" if statement.by == "rule" else said


def _dropped(statement: Statement, reason: str) -> Statement:
    return statement.model_copy(update={"fate": "dropped", "reason": reason})


def _same(statement: Statement, other: Statement) -> bool:
    ours, theirs = statement.words.casefold(), other.words.casefold()
    if _TELLING.findall(ours) != _TELLING.findall(theirs):
        return False
    return fuzz.token_sort_ratio(ours, theirs, score_cutoff=_SAME) >= _SAME


def _slug(text: str, statement_id: str, taken: set[str]) -> str:
    """An id from the telling words of the text; numbered where it is taken."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    words = _WORD.findall(re.sub(r"['’]", "", plain))
    telling = [word for word in words if word not in _EMPTY_WORDS and len(word) > 1] or [w for w in words if len(w) > 1]
    base = "-".join(telling[:_SLUG_WORDS]) or f"criterion-{statement_id}"
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
