"""What follows from the check of a point: by a search for what is said to be absent, or by a blind second reading.

Source: the checks of machine reviewers that work hide the author's reasons and let code, not the model, draw the
consequences. A refutation counts only with the passage that refutes.
"""

from __future__ import annotations

from referee.evidence.absence import AbsenceResult
from referee.evidence.point_changes import asked, cited, is_live, noted, removed
from referee.schemas.point import PointCheck, ReviewPoint, Severity


def settle_absence(point: ReviewPoint, result: AbsenceResult) -> ReviewPoint:
    """Record what a search for the words of a claimed absence found.

    No search by words settles such a claim: words that a paper does not use say nothing about what it holds. It goes to
    a reader who sees the places that were found, and is a question where there is no such reader.

    Args:
        point: The point; without ``absence`` nothing is changed.
        result: The search for ``point.absence.terms`` in the whole paper.
    """
    if point.absence is None or not is_live(point):
        return point
    absence = point.absence.model_copy(update={"hits": len(result.hits)})
    searched = point.model_copy(update={"absence": absence})
    if result.hits:
        return searched
    return noted(searched, f"not found by these words: {', '.join(result.terms)}")


def ask_unchecked_absence(point: ReviewPoint) -> ReviewPoint:
    """Turn a claim of absence that nothing checked into a question: the rule of the plan without check calls."""
    unchecked = point.check is None or point.check.verdict == "unchecked"
    if point.absence is None or not unchecked or not is_live(point) or point.polarity == "question":
        return point
    return asked(point, "whether the paper lacks it was not checked")


def apply_check(point: ReviewPoint, check: PointCheck, severity: Severity | None = None) -> ReviewPoint:
    """Draw the consequences of a check.

    ``refuted`` strikes the point where a verified passage with the role ``contradicts`` refutes it (a correction or a
    rule's hit needs none), and counts as ``undecidable`` otherwise. ``undecidable``: a question of low confidence. Out
    of the paper's scope: struck. ``conceded`` by the authors: said in print. What was not checked keeps its severity
    and says so. The same check twice changes nothing more.

    Args:
        point: The point; one whose fate is settled is returned as it is.
        check: The verdict; its passages' statuses say which of them are in the paper.
        severity: What the check says would change in the paper; by default the point keeps its own.
    """
    if not is_live(point):
        return point
    told_by_line = point.correction is not None or point.source == "rule"
    unshown = check.verdict == "refuted" and not told_by_line and not _refuting(check)
    if unshown:
        check = check.model_copy(update={"verdict": "undecidable"})
    if point.check == check:
        return point
    checked = point.model_copy(update={"check": check})
    if check.verdict == "refuted":
        return removed(checked, "struck", f"refuted by {_refuting(check) or 'the check'}")
    if check.out_of_scope and point.polarity != "strength":
        return removed(checked, "struck", "outside the scope of the paper")
    if check.conceded:
        checked = noted(checked, "the authors concede it")
    if check.verdict == "unchecked":
        return noted(checked, "unchecked" + (f": {check.reason}" if check.reason else ""))
    if severity is not None and severity != point.severity:
        checked = noted(checked.model_copy(update={"severity": severity}), f"raised as {point.raised_severity}")
    return _undecided(checked, unshown) if check.verdict == "undecidable" else checked


def _undecided(point: ReviewPoint, unshown: bool) -> ReviewPoint:
    why = "the check refuted it without a passage of the paper" if unshown else "the check could not decide it"
    question = asked(point, why) if point.polarity != "question" else noted(point, why)
    return question.model_copy(update={"confidence": "low"})


def _refuting(check: PointCheck) -> str:
    """The verified passages that refute, quoted with their places; empty where there are none."""
    found = [p for p in check.passages if p.role == "contradicts" and p.status != "not_found"]
    return "; ".join(cited(passage) for passage in found)
