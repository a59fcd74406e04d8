"""What follows from the check of a point: by a search for what is said to be absent, or by a blind second reading.

Source: the checks of machine reviewers that work hide the author's reasons and let code, not the model, draw the
consequences. A refutation counts only with the passage that refutes.
"""

from __future__ import annotations

from collections.abc import Collection

from referee.evidence.absence import AbsenceResult
from referee.evidence.point_changes import asked, capped, cited, is_live, lowered, noted, removed
from referee.schemas.point import PointCheck, ReviewPoint

ABSENCE_SEARCH = "absence search"


def settle_absence(
    point: ReviewPoint, result: AbsenceResult, *, near_passages: int = 0, foreign: bool = False
) -> tuple[ReviewPoint, bool]:
    """Let a search decide a claim that something is not there, where it can.

    Args:
        point: The point; without ``absence`` nothing is changed.
        result: The search for ``point.absence.terms`` in the whole paper.
        near_passages: How many passages came close in meaning to what would refute the point.
        foreign: The paper is not in English, as the terms may be; that none of them is in it then shows nothing.

    Returns:
        The point with the number of places found, and whether it still has to be checked. No hit, no near passage and
        no text lost: the point stands, checked by ``absence search``.
    """
    if point.absence is None or not is_live(point):
        return point, is_live(point)
    absence = point.absence.model_copy(update={"hits": len(result.hits)})
    searched = point.model_copy(update={"absence": absence})
    if not result.supports_absence or near_passages or foreign:
        return searched, True
    reason = f"none of {', '.join(repr(t) for t in result.terms)} in {result.words_read} words of the paper"
    return searched.model_copy(update={"check": PointCheck(verdict="stands", by=ABSENCE_SEARCH, reason=reason)}), False


def ask_unchecked_absence(point: ReviewPoint) -> ReviewPoint:
    """Turn a claim of absence that nothing checked into a question: the rule of the plan without check calls."""
    unchecked = point.check is None or point.check.verdict == "unchecked"
    if point.absence is None or not unchecked or not is_live(point) or point.polarity == "question":
        return point
    return asked(point, "whether the paper lacks it was not checked")


def apply_check(point: ReviewPoint, check: PointCheck, *, headline: Collection[str] = ()) -> ReviewPoint:
    """Draw the consequences of a check.

    ``refuted`` strikes the point where a verified passage with the role ``contradicts`` refutes it, and counts as
    ``undecidable`` otherwise. ``undecidable``: a question of low confidence. ``unchecked``: one step less severe.
    ``conceded`` by the authors: at most minor, unless a headline claim is threatened. ``out_of_scope``: a note.
    ``stands`` and ``weakened`` change nothing here; they decide the order. The same check twice changes nothing more.

    Args:
        point: The point; one whose fate is settled is returned as it is.
        check: The verdict; its passages' statuses say which of them are in the paper.
        headline: Ids of the paper's headline claims.

    Returns:
        The point with its check, never more severe than before.
    """
    if not is_live(point):
        return point
    unshown = check.verdict == "refuted" and not _refuting(check)
    if unshown:
        check = check.model_copy(update={"verdict": "undecidable"})
    if point.check == check:
        return point
    checked = point.model_copy(update={"check": check})
    if check.verdict == "refuted":
        return removed(checked, "struck", f"refuted by {_refuting(check)}")
    if check.out_of_scope:
        checked = capped(checked, "note", "a note: outside the scope of the paper")
    if check.conceded and point.threatens not in headline:
        checked = capped(checked, "minor", "at most minor: the authors concede it")
    if check.verdict == "undecidable":
        checked = _undecided(checked, unshown)
    if check.verdict == "unchecked":
        checked = lowered(checked, "unchecked, one step less severe" + (f": {check.reason}" if check.reason else ""))
    return checked


def _undecided(point: ReviewPoint, unshown: bool) -> ReviewPoint:
    why = "the check refuted it without a passage of the paper" if unshown else "the check could not decide it"
    question = asked(point, why) if point.polarity != "question" else noted(point, why)
    return question.model_copy(update={"confidence": "low"})


def _refuting(check: PointCheck) -> str:
    """The verified passages that refute, quoted with their places; empty where there are none."""
    found = [p for p in check.passages if p.role == "contradicts" and p.status != "not_found"]
    return "; ".join(cited(passage) for passage in found)
