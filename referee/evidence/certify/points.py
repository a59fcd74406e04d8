"""Certificates of our own points. What a point claims to rest on is established again; no stored status is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from referee.evidence.certify.check import check_statement
from referee.evidence.certify.reading import Reading
from referee.evidence.guards import numbers
from referee.evidence.points import is_live
from referee.evidence.quotations import NotFound
from referee.evidence.rules import run_rules
from referee.evidence.sentences import sentence_units
from referee.schemas.certificate import Certificate, CertificateStatus
from referee.schemas.point import PointEvidence, Quotation, ReviewPoint
from referee.schemas.review import Review

_RANK: tuple[CertificateStatus, ...] = ("refuted", "proved", "sourced", "opinion")


def certify_points(review: Review, reading: Reading) -> list[Certificate]:
    """A certificate for each point that stands, in the order and under the numbers of the review's list."""
    live = [point for point in review.points if is_live(point)]
    listed = [point for point in live if point.number] or live
    return [_best(point, at, _backed(point, reading)) for at, point in enumerate(listed, 1)]


def _best(point: ReviewPoint, at: int, found: Iterable[Certificate]) -> Certificate:
    """What weighs most: a refutation, then a proof, then a source."""
    best = min(found, key=lambda one: _RANK.index(one.status), default=None)
    shown = best or Certificate(statement=point.statement, status="opinion", reason="nothing in it could be looked up")
    return shown.model_copy(update={"statement": point.statement, "point": point.number or at})


def _backed(point: ReviewPoint, reading: Reading) -> Iterator[Certificate]:
    """Every certificate of a point by what it rests on. Its computations, once points hold some, join here."""
    yield from (check_statement(sentence, reading) for sentence in sentence_units(point.statement))
    yield from _by_quotations(point, reading)
    yield from _by_absence(point, reading)
    yield from _by_correction(point, reading)
    yield from _by_rule(point, reading)


def _by_quotations(point: ReviewPoint, reading: Reading) -> Iterator[Certificate]:
    found: list[Quotation] = []
    for evidence in point.evidence:
        quotation = _looked_up(evidence, reading)
        if isinstance(quotation, Quotation):
            found.append(quotation)
        elif evidence.status != "not_found" and quotation.kind != "refused":
            why = f"the quotation does not stand in this paper: {quotation.reason}"
            yield _told(point, "refuted", why, evidence.section, evidence.quote)
    if found:
        differing = point.kind == "contradiction" and len({tuple(numbers(q.quote.casefold())) for q in found}) > 1
        status: CertificateStatus = "proved" if differing and len(found) > 1 else "sourced"
        reason = "two places differ in their numbers" if status == "proved" else "the quotation stands there"
        yield _told(point, status, reason, _place(found[0]), " / ".join(q.quote for q in found[:2]))


def _looked_up(evidence: PointEvidence, reading: Reading) -> Quotation | NotFound:
    index = reading.quotations
    found = index.equation(evidence.quote) or index.words(evidence.quote, section_id=evidence.section_id)
    return found or index.find(re.sub(r"\s*\[…\]\s*", " ... ", evidence.quote), section_id=evidence.section_id)


def _by_absence(point: ReviewPoint, reading: Reading) -> Iterator[Certificate]:
    if point.absence is not None and reading.terms.search(point.absence.terms).supports_absence:
        yield _told(point, "sourced", f"not found by these words: {', '.join(point.absence.terms)}", "the whole paper")


def _by_correction(point: ReviewPoint, reading: Reading) -> Iterator[Certificate]:
    printed = point.correction.printed if point.correction is not None else ""
    found = reading.quotations.words(printed) if printed else None
    if found is not None:
        yield _told(point, "sourced", "what it corrects stands there", _place(found), found.quote)


def _by_rule(point: ReviewPoint, reading: Reading) -> Iterator[Certificate]:
    if point.source != "rule":
        return
    quotes = {" ".join(evidence.quote.split()) for evidence in point.evidence}
    for hit in run_rules(reading.paper):
        if hit.claim == point.claim or quotes.issuperset(" ".join(e.quote.split()) for e in hit.evidence):
            yield _told(
                point, "proved", f"the rule {hit.rule} finds it again", hit.evidence[0].section, hit.evidence[0].quote
            )
            return


def _told(point: ReviewPoint, status: CertificateStatus, reason: str, place: str, passage: str = "") -> Certificate:
    return Certificate(statement=point.statement, status=status, reason=reason, place=place, passage=passage)


def _place(quotation: Quotation) -> str:
    return quotation.section + (f", p. {quotation.page}" if quotation.page is not None else "")
