"""What one call of the check shows: statements with their quotations, and passages that all of them share, by id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from referee.agents.asks import Excerpt
from referee.prompts import delimit
from referee.schemas.point import PointEvidence, ReviewPoint


@dataclass(frozen=True)
class Case:
    """One point under its alias, with the words quoted for it by id (``c1q1``); ``remark`` is what its author adds."""

    alias: str
    point: ReviewPoint
    quotations: Mapping[str, PointEvidence]
    remark: str = ""


@dataclass(frozen=True)
class CheckBatch:
    """The cases of one call and the passages they share by id (``p1``); ``left_out`` counts those that did not fit.

    ``found`` and ``remarks`` are kept by point for the halves of the batch.
    """

    cases: tuple[Case, ...]
    shared: Mapping[str, PointEvidence]
    found: Mapping[str, Sequence[Excerpt]]
    remarks: Mapping[str, str]
    left_out: int = 0

    def ids(self) -> tuple[str, ...]:
        """Everything a reply can name: quotations of all cases, then passages."""
        return (*(name for case in self.cases for name in case.quotations), *self.shared)

    def passages(self) -> str:
        """The shared passages as prompt text; empty where there are none."""
        return "\n".join(_words("passage", name, words) for name, words in self.shared.items())

    def statements(self) -> str:
        """The cases as prompt text."""
        return "\n\n".join(_statement(case) for case in self.cases)


def batch_of(
    points: Sequence[ReviewPoint], found: Mapping[str, Sequence[Excerpt]], remarks: Mapping[str, str]
) -> CheckBatch:
    """Points with what was found for them: each passage once, the nearest of every point before farther ones."""
    ranked = zip_longest(*(found.get(point.id, ()) for point in points))
    nearest = {(e.section_id, e.text): e for rank in ranked for e in rank if e is not None}
    shared = {f"p{number}": _evidence(excerpt) for number, excerpt in enumerate(nearest.values(), start=1)}
    cases = (_case(f"c{n}", point, remarks.get(point.id, "")) for n, point in enumerate(points, start=1))
    return CheckBatch(tuple(cases), shared, found, remarks)


def fitting(batch: CheckBatch, fits: Callable[[CheckBatch], bool]) -> list[CheckBatch]:
    """The batch, or its halves, or a single case with fewer passages; nothing for a case that never fits."""
    if fits(batch):
        return [batch]
    points = [case.point for case in batch.cases]
    if len(points) > 1:
        half = (len(points) + 1) // 2
        halves = (batch_of(some, batch.found, batch.remarks) for some in (points[:half], points[half:]))
        return [part for some in halves for part in fitting(some, fits)]
    if not batch.shared:
        return []
    shorter = dict(list(batch.shared.items())[:-1])
    return fitting(replace(batch, shared=shorter, left_out=batch.left_out + 1), fits)


def _case(alias: str, point: ReviewPoint, remark: str) -> Case:
    quoted = [evidence for evidence in point.evidence if evidence.status != "not_found"]
    return Case(
        alias, point, {f"{alias}q{number}": evidence for number, evidence in enumerate(quoted, start=1)}, remark
    )


def _evidence(found: Excerpt) -> PointEvidence:
    return PointEvidence(
        section_id=found.section_id, section=found.section, quote=found.text, status="exact", page=found.page
    )


def _statement(case: Case) -> str:
    lines = [case.point.claim, f"Would be refuted by: {case.point.refuted_by or '(not said)'}"]
    stated = "\n".join([*lines, case.remark] if case.remark else lines)
    quoted = [_words("quotation", name, words) for name, words in case.quotations.items()]
    return "\n".join([delimit("statement", stated, id=case.alias), *(quoted or ["(Nothing is quoted for it.)"])])


def _words(tag: str, name: str, words: PointEvidence) -> str:
    return delimit(tag, f"From {words.section or 'the paper'}:\n{words.quote}", id=name)
