"""The life of a point: what may happen to it, what it rests on, what its check leads to.

The few things that may happen to a point of a review. Each change leaves its reason.

What a point of a review rests on: its quotations are looked up, and what they cannot carry is taken back.

A quotation that is found proves that the paper says so, not that the point is right; that is for its check.

What follows from the check of a point: by a search for what is said to be absent, or by a blind second reading.

Source: the checks of machine reviewers that work hide the author's reasons and let code, not the model, draw the
consequences. A refutation counts only with the passage that refutes.
"""

from __future__ import annotations

from referee.evidence.absence import AbsenceResult
from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.point import SEVERITIES, PointCheck, PointEvidence, ReviewPoint, Severity

LIVE = frozenset({"printed", "listed"})
"""Outcomes of points that are still in play; the others are final."""


def is_live(point: ReviewPoint) -> bool:
    """Whether a point is still in play: not merged away, struck or dropped."""
    return point.outcome in LIVE


def noted(point: ReviewPoint, reason: str) -> ReviewPoint:
    """The point with one more reason, each said once, in the order in which they arose."""
    if reason in point.reason:
        return point
    return point.model_copy(update={"reason": f"{point.reason}; {reason}" if point.reason else reason})


def capped(point: ReviewPoint, highest: Severity, reason: str) -> ReviewPoint:
    """The point no more severe than ``highest``; the reason is noted only where that changes something."""
    if SEVERITIES.index(point.severity) >= SEVERITIES.index(highest):
        return point
    return noted(point.model_copy(update={"severity": highest}), reason)


def removed(point: ReviewPoint, outcome: str, reason: str) -> ReviewPoint:
    """The point with a final outcome (``struck`` or ``dropped``); it stands in no field of the form."""
    return noted(point.model_copy(update={"outcome": outcome, "field": None}), reason)


def asked(point: ReviewPoint, reason: str) -> ReviewPoint:
    """The point as a question. Praise cannot be asked, so a strength is dropped instead."""
    if point.polarity == "strength":
        return removed(point, "dropped", reason)
    return noted(point.model_copy(update={"polarity": "question"}), f"asked as a question: {reason}")


def cited(evidence: PointEvidence) -> str:
    """A quotation with its place, for a reason."""
    page = f", p. {evidence.page}" if evidence.page is not None else ""
    return f"“{evidence.quote}” ({evidence.section}{page})"


def verify_point(point: ReviewPoint, index: QuotationIndex) -> ReviewPoint:
    """Look up the quotations of a point and apply the rules that follow from them.

    None found, although there are some or the kind of point needs one: ``unverified``, which the review says. A
    contradiction needs two different verified quotations, else it becomes ``unsupported``: one place alone shows no
    disagreement. A correction of words that the paper does not hold is dropped. Severity is not touched: how grave a
    point is, is for the check to say. Doing it twice changes nothing more.

    Args:
        point: Quotations that were not looked up have the status ``not_found``; those with another status (places that
            a rule read off the paper) stay as they are. An equation may be quoted by its name, as ``equation (4)``,
            which is never taken for the same words of a sentence; a correction of one that the file does not number
            stays, unverified.
        index: The paper's index. A section is searched first, then everything.

    Returns:
        The point with the paper's own wording, place and status; a point whose fate is settled is returned as it is.
    """
    if not is_live(point):
        return point
    looked_up = [_looked_up(evidence, index, few=point.correction is not None) for evidence in point.evidence]
    verified = point.model_copy(update={"evidence": tuple(evidence for evidence, _ in looked_up)})
    for _, miss in looked_up:
        verified = noted(verified, f"a quotation does not count: {miss}") if miss else verified
    return _one_sided(_baseless(_unverified(verified), index))


def settle_literature(point: ReviewPoint) -> ReviewPoint:
    """Turn what only works outside the paper could decide into a question.

    A point about novelty or the literature without a verified quotation is asked; with one it rests on what the paper
    itself says or cites, and stays.

    Returns:
        The point, as a question where nothing in the paper carries it; praise of novelty is dropped then.
    """
    if not is_live(point) or point.polarity == "question":
        return point
    about_works = point.kind == "novelty" or point.checkable == "literature"
    if about_works and not point.verified_quotes:
        return asked(point, "no work outside the paper was looked up to decide it")
    return point


_NEED_NO_QUOTATION = frozenset({"missing", "comparison", "design", "novelty"})


def needs_quotation(point: ReviewPoint) -> bool:
    """Whether a point is unverified without any quotation: no question or merit, nor what concerns the whole."""
    return point.polarity == "weakness" and point.kind not in _NEED_NO_QUOTATION


def _looked_up(evidence: PointEvidence, index: QuotationIndex, *, few: bool) -> tuple[PointEvidence, str]:
    """The place of a quotation; of ``few`` words too, where they are what a correction says is printed."""
    if evidence.status != "not_found":
        return evidence, ""
    named = index.equation(evidence.quote) or index.unnumbered(evidence.quote)
    printed = index.words(evidence.quote, section_id=evidence.section_id) if few and not named else None
    found = named or printed or index.find(evidence.quote, section_id=evidence.section_id)
    if isinstance(found, NotFound):
        return evidence.model_copy(update={"similarity": 0.0}), found.reason
    return evidence.model_copy(update=dict(found)), ""


def _unverified(point: ReviewPoint) -> ReviewPoint:
    if point.unverified or point.verified_quotes or not (point.evidence or needs_quotation(point)):
        return point
    why = "none of its quotations is in the paper" if point.evidence else "it quotes nothing"
    return noted(point.model_copy(update={"unverified": True}), f"unverified: {why}")


def _baseless(point: ReviewPoint, index: QuotationIndex) -> ReviewPoint:
    printed = point.correction.printed if point.correction is not None else ""
    if not printed or not point.unverified or index.heads(printed) or index.unnumbered(printed):
        return point
    return removed(point, "dropped", "what it corrects is not in the paper")


def _one_sided(point: ReviewPoint) -> ReviewPoint:
    if point.kind != "contradiction" or point.source == "figure":  # there the picture is the other side
        return point
    sides = {(e.section_id, " ".join(e.quote.split())) for e in point.evidence if e.status != "not_found"}
    if len(sides) >= 2:
        return point
    changed = point.model_copy(update={"kind": "unsupported"})
    return noted(changed, "raised as a contradiction, which needs two verified quotations")


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


def apply_check(point: ReviewPoint, check: PointCheck) -> ReviewPoint:
    """Draw the consequences of a check.

    ``refuted`` strikes the point where a verified passage with the role ``contradicts`` refutes it (a correction or a
    rule's hit needs none), and counts as ``undecidable`` otherwise. ``undecidable``: a question of low confidence. Out
    of the paper's scope: struck. ``conceded`` by the authors: said in print. What was not checked says so. The same
    check twice changes nothing more.

    Args:
        point: The point; one whose fate is settled is returned as it is.
        check: The verdict; its passages' statuses say which of them are in the paper.
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
    return _undecided(checked, unshown) if check.verdict == "undecidable" else checked


def _undecided(point: ReviewPoint, unshown: bool) -> ReviewPoint:
    why = "the check refuted it without a passage of the paper" if unshown else "the check could not decide it"
    question = asked(point, why) if point.polarity != "question" else noted(point, why)
    return question.model_copy(update={"confidence": "low"})


def _refuting(check: PointCheck) -> str:
    """The verified passages that refute, quoted with their places; empty where there are none."""
    found = [p for p in check.passages if p.role == "contradicts" and p.status != "not_found"]
    return "; ".join(cited(passage) for passage in found)
