"""One pass over a review set: each review measured and written down, its numbers kept as columns."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TextIO

from referee.api.profile_job import ProfileAsked
from referee.evals.behaviour import Checked, TextMetrics, check_citation, measure_texts
from referee.evals.behaviour.atomic import AtomicItems
from referee.evals.behaviour.atomic_counts import MatchedPair, matched_pairs
from referee.evals.behaviour.citation_check import Resolver
from referee.evals.behaviour.coverage_matrix_pairs import chance_pairs
from referee.evals.case_store import CaseStore
from referee.evals.profile.agreement import PanelBook
from referee.evals.profile.backends import Reader
from referee.evals.profile.coverage import CoverageBook, Read
from referee.evals.profile.grouping import Group, year_of
from referee.evals.profile.measures import (
    Reasons,
    Values,
    atomic_values,
    measures,
    score_values,
    text_values,
)
from referee.evals.profile.ratings import RatingBook
from referee.evals.profile.table import ProfileTable
from referee.runs import Event, Progress
from referee.schemas.case import ReviewCase

# Papers whose reviews are held for coverage at once: each takes its chance pairs from the others.
PAPERS_AT_ONCE = 24
_SAY_EVERY = 500
_SAY_CITATIONS = 50
_TOGETHER = 16


@dataclass
class Books:
    """What is kept of the reviews: numbers; ``citations`` by group and status, ``unresolved`` by reason."""

    table: ProfileTable
    ratings: RatingBook
    panels: PanelBook = field(default_factory=PanelBook)
    coverage: CoverageBook = field(default_factory=CoverageBook)
    citations: dict[str, Counter[str]] = field(default_factory=dict)
    unresolved: Counter[str] = field(default_factory=Counter)
    syllables: str = ""


@dataclass(frozen=True)
class _Measured:
    """One review with all that was measured of it."""

    case: ReviewCase
    group: Group
    found: TextMetrics
    checked: list[Checked] | None
    engages: bool | None
    items: AtomicItems | None
    values: Values
    reasons: Reasons


class ProfilePass:
    """Measures the reviews of a set, paper by paper.

    Args:
        asked: The choices.
        reader: Who reads items, mathematics and coverage.
        resolver: Who looks citations up; None for nobody.
        lines: Where a line is written for each review.
        progress: Told how far it is.
    """

    def __init__(
        self, asked: ProfileAsked, reader: Reader, resolver: Resolver | None, lines: TextIO, progress: Progress
    ) -> None:
        self._asked, self._reader, self._resolver = asked, reader, resolver
        self._lines, self._progress = lines, progress
        self._waiting: dict[str, list[list[Read]]] = {}
        self._said = self._looked_up = 0
        self._asking = asyncio.Lock()
        self.books = Books(
            ProfileTable(measures(atomic=asked.atomic, ranks=asked.compare_scales)),
            RatingBook(compare_scales=asked.compare_scales, rated_on=asked.rated_on, venue=asked.venue),
        )

    async def run(self, store: CaseStore, papers: Iterable[str], total: int) -> Books:
        """Measure all reviews of these papers.

        Raises:
            BudgetExceeded: A call could pass a limit.
            EvaluationError: A group holds ratings of two scales.
            DataError: People's ratings are not of their form.
        """
        cases = self._guarded(case for paper in papers for case in store.cases(paper))
        measured = measure_texts(
            cases, self._asked.processes, syllables=self._asked.syllables, dictionary=self._asked.dictionary
        )
        for _, of_paper in groupby(measured, key=lambda one: one[0].paper_id):
            await self._paper(list(of_paper))
            await asyncio.sleep(0)  # rules never wait, and Ctrl-C ends a task where it waits
            self._say(total)
        for venue in list(self._waiting):
            await self._cover(venue)
        self._asked.grouping.require_columns()
        self.books.ratings.check()
        return self.books

    def _guarded(self, cases: Iterable[ReviewCase]) -> Iterator[ReviewCase]:
        """The reviews, their ratings counted first: two scales in one group are refused before they are measured."""
        for case in cases:
            self.books.ratings.add(self._asked.grouping.of(case), case)
            yield case

    async def _paper(self, reviews: Sequence[tuple[ReviewCase, TextMetrics]]) -> None:
        read: list[Read] = []
        for start in range(0, len(reviews), _TOGETHER):
            some = [self._measured(case, found) for case, found in reviews[start : start + _TOGETHER]]
            for one in await asyncio.gather(*some):
                self._keep(one)
                if one.items is not None and one.case.kind in ("human", "ai"):
                    read.append((one.case, one.items))
        if {case.kind for case, _ in read} == {"human", "ai"}:
            venue = read[0][0].venue or ""
            self._waiting.setdefault(venue, []).append(read)
            if len(self._waiting[venue]) >= PAPERS_AT_ONCE:
                await self._cover(venue)

    async def _measured(self, case: ReviewCase, found: TextMetrics) -> _Measured:
        checked = await self._checked(found) if self._resolver is not None else None
        engages, why = await self._reader.engages(case, found)
        values, reasons = text_values(found, checked, engages)
        if engages is None:
            reasons["mathematics"] = why
        stated, unstated = score_values(case.rating, case.confidence, self.books.ratings.rank(case))
        items = None
        if self._asked.atomic:
            items = await self._reader.items(case)
            counts, uncounted = atomic_values(items)
            values, reasons = values | counts, reasons | uncounted
        group = self._asked.grouping.of(case)
        return _Measured(case, group, found, checked, engages, items, values | stated, reasons | unstated)

    async def _checked(self, found: TextMetrics) -> list[Checked]:
        """Each formal citation looked up, one at a time; beside the loop, because services make us wait."""
        resolver = self._resolver
        assert resolver is not None, "asked for where there is one"
        checked = []
        async with self._asking:
            for one in found.formal:
                checked.append(await asyncio.to_thread(check_citation, one, resolver))
                self._looked_up += 1
                if self._looked_up % _SAY_CITATIONS == 0:
                    self._progress(Event("stage", f"looked up {self._looked_up:,} citations"))
        return checked

    def _keep(self, one: _Measured) -> None:
        books = self.books
        books.syllables = one.found.syllables
        read = one.found.status == "scored"
        books.table.add(
            one.group,
            one.case.paper_id,
            year_of(one.case),
            one.values,
            one.reasons,
            one.found.xref_bin if read else "",
        )
        books.panels.add(self._asked.grouping.system(one.case), one.case, one.engages)
        if one.checked is not None:
            books.citations.setdefault(one.group.label, Counter()).update(check.status for check in one.checked)
            books.unresolved.update(check.reason for check in one.checked if check.status == "unresolved")
        names = [measure.name for measure in books.table.measures]
        self._lines.write(json.dumps(_line(one, names), ensure_ascii=False, allow_nan=False) + "\n")

    async def _cover(self, venue: str) -> None:
        """Coverage of the papers that wait: each generated review beside each human one, and beside another paper's."""
        papers = self._waiting.pop(venue)
        pairs = [pair for read in papers for pair in matched_pairs(read)]
        chance = chance_pairs(pairs, seed=self._asked.seed)
        reader, coverage, system = self._reader, self.books.coverage, self._asked.grouping.system
        for pair, found in await _each(pairs, reader.matrices):
            coverage.add(system(pair.generated_case), pair, found)
        for pair, found in await _each(chance.pairs, reader.matrices):
            coverage.add_chance(system(pair.generated_case), pair, found)
        paired = Counter(system(pair.generated_case) for pair in chance.pairs)
        for name, count in Counter(system(pair.generated_case) for pair in pairs).items():
            coverage.left_alone(name, count - paired[name])

    def _say(self, total: int) -> None:
        done = len(self.books.table)
        if done - self._said >= _SAY_EVERY or done == total:
            self._said = done
            self._progress(Event("stage", f"measured {done:,} of {total:,} reviews", done=done, total=total))


async def _each(pairs: Sequence[MatchedPair], ask: Callable[[MatchedPair], Any]) -> list[tuple[MatchedPair, Any]]:
    found: list[tuple[MatchedPair, Any]] = []
    for start in range(0, len(pairs), _TOGETHER):
        some = pairs[start : start + _TOGETHER]
        found += zip(some, await asyncio.gather(*(ask(pair) for pair in some)), strict=True)
    return found


def _line(one: _Measured, names: Sequence[str]) -> dict[str, Any]:
    """A review in ``profile.jsonl``."""
    case, found = one.case, one.found
    line: dict[str, Any] = {
        "case_id": case.case_id,
        "paper_id": case.paper_id,
        "source": case.source,
        "kind": case.kind,
        "venue": case.venue,
        "year": case.year,
        "date": case.date,
        "group": one.group.label,
        "status": found.status,
        "values": {name: one.values.get(name) for name in names},
        "reasons": {name: why for name, why in one.reasons.items() if name in names and why},
        "xref_bin": found.xref_bin if found.status == "scored" else None,
        "targets": [f"{target.kind} {target.number}" for target in (*found.references.core, *found.references.extra)],
        "citations": _citations(one),
    }
    if one.items is not None:
        line["items"] = {
            "backend": one.items.backend,
            "split": one.items.split,
            "status": one.items.status,
            "strengths": list(one.items.strengths),
            "weaknesses": list(one.items.weaknesses),
        }
    return line


def _citations(one: _Measured) -> list[dict[str, Any]]:
    checks = one.checked if one.checked is not None else [None] * len(one.found.formal)
    return [
        {"style": cited.style, "title": cited.title, "year": cited.year, **_looked_up(check)}
        for cited, check in zip(one.found.formal, checks, strict=True)
    ]


def _looked_up(check: Checked | None) -> dict[str, Any]:
    """The status of a citation with the record it rests on, or the reason for none."""
    if check is None:
        return {"status": None}
    record = check.record
    listed = {"title": record.title, "year": record.year, "doi": record.doi, "source": record.source} if record else {}
    about = {"record": listed, "weak": check.weak or None, "reason": check.reason}
    return {"status": check.status, **{name: value for name, value in about.items() if value}}
