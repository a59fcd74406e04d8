"""One point of a review in plain lines: its claim, its evidence, its severity, its check, its merges and its fate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from referee.evidence.computed import code_lines, computation_line
from referee.evidence.listing import WEIGHTS, found, opening, place, searched
from referee.reports.plain import one_line
from referee.schemas.point import PointCheck, PointEvidence, PointSource, ReviewPoint

_SOURCES: dict[PointSource, str] = {
    "section": "the reading of a part",
    "whole": "a reading of the whole paper",
    "cross": "the pass across sections",
    "rule": "a rule of code",
    "team": "an expert and the readers it asked",
    "literature": "a search of the literature",
    "figure": "a look at its picture",
    "form": "the text of the form",
}
_FATES = {
    "printed": "printed in the form",
    "listed": "in no field: the form has none for it",
    "merged_into": "merged into another point",
    "struck": "struck by the check",
    "dropped": "dropped",
}


def headline(point: ReviewPoint, before: str = "") -> Iterator[str]:
    """The words by which every output names it, or its id and statement, then the places of its quotations."""
    yield before + one_line(opening(point) if point.number else f"{point.id} {point.statement}")
    yield f"  {'; '.join(dict.fromkeys(one_line(place(one)) for one in found(point))) or 'no quotation'}"


def point_lines(point: ReviewPoint) -> Iterator[str]:
    """All that is known about a point but the calls, one thing a line, details indented by two."""
    yield f"{f'{point.number}. ' if point.number else ''}{point.id} {one_line(point.claim)}"
    where = f" {point.section_id}" if point.section_id else ""
    yield f"Raised as: {point.polarity}, {point.kind}, by {_SOURCES[point.source]}{where}"
    if point.argument:
        yield f"Argument: {one_line(point.argument)}"
    if point.criterion:
        yield f"Criteria: {', '.join(map(one_line, point.criterion))}"
    if point.threatens:
        yield f"Claim of the paper that it threatens: {one_line(point.threatens)}"
    yield from _severity(point)
    yield "Evidence:" if point.evidence else "Evidence: none"
    yield from evidence_lines(point.evidence)
    if point.unverified:
        yield "  none of it counts: the point is unverified"
    yield from _searched(point)
    yield from _check(point.check)
    for computation in point.computations:
        yield f"{computation_line(computation)} Expected: {one_line(computation.program.expects)}"
        yield from (f"  {line}" for line in code_lines(computation.program))
    if point.merged_from:
        yield f"Merged from: {', '.join(point.merged_from)}"
    if point.merged_into:
        yield f"Merged into: {point.merged_into}"
    yield f"Became: {_FATES[point.outcome]}"
    yield f"Form field: {point.field or 'none'}"
    if point.fix.what:
        yield f"What would settle it ({point.fix.kind}): {one_line(point.fix.what)}"


def evidence_lines(items: Iterable[PointEvidence]) -> Iterator[str]:
    """Each quotation with how it was found and where, indented by two."""
    for item in items:
        yield f"  {item.role}: “{one_line(item.quote)}” [{_status(item)}] ({_place(item)})"


def _severity(point: ReviewPoint) -> Iterator[str]:
    raised, now = WEIGHTS[point.raised_severity], point.weight or WEIGHTS[point.severity]
    yield f"Severity: raised as {raised}{'' if raised == now else f' → {now} now'}"
    if point.reason:
        yield f"  why: {one_line(point.reason)}"


def _searched(point: ReviewPoint) -> Iterator[str]:
    if point.absence is not None:
        yield f"Said to be absent: {one_line(point.absence.what)}"
        yield f"  {one_line(searched(point))}"
    if point.refuted_by:
        yield f"Would be refuted by: {one_line(point.refuted_by)}"


def _check(check: PointCheck | None) -> Iterator[str]:
    if check is None:
        yield "Check: none"
        return
    marks = [name for name, so in (("conceded", check.conceded), ("out of scope", check.out_of_scope)) if so]
    remark = f" ({', '.join(marks)})" if marks else ""
    yield f"Check: {check.verdict}{remark}, by {one_line(check.by)}"
    if check.narrowed:
        yield f"  printed as: {one_line(check.narrowed)}"
    if check.reason:
        yield f"  {one_line(check.reason)}"
    yield from evidence_lines(check.passages)


def _status(item: PointEvidence) -> str:
    if item.status == "not_found":
        return "not found"
    return "exact" if item.status == "exact" else f"similar words, {int(item.similarity * 100)}%"


def _place(item: PointEvidence) -> str:
    page = f", p. {item.page}" if item.page is not None else ""
    said = "said to be in " if item.status == "not_found" else ""
    return f"{said}{one_line(item.label or item.section) or one_line(item.section_id)}{page}"
