"""One pass over a review set: each review measured and written down, its numbers kept as columns."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TextIO

from referee.api.profiles.job import ProfileAsked
from referee.data.decisions import decision_group
from referee.evals.behaviour import TextMetrics, measure_texts
from referee.evals.behaviour.atomic import MatchedPair, matched_pairs
from referee.evals.behaviour.coverage_matrix import chance_pairs
from referee.evals.case_store import CaseStore
from referee.evals.grouping import Group, conference_of, year_of
from referee.evals.profile.agreement import PanelBook
from referee.evals.profile.backends import Reader
from referee.evals.profile.coverage import CoverageBook, Read
from referee.evals.profile.ratings import RatingBook
from referee.evals.reading import Reading, ReadMetric
from referee.evals.registry import find_metrics
from referee.evals.store import Reasons, Store, Values
from referee.literature.checking import Checked, Resolver, check_citation
from referee.reports.profile_files import profile_line
from referee.runs import Event, Progress
from referee.schemas.case import ReviewCase

# Papers whose reviews are held for coverage at once: each takes its chance pairs from the others.
PAPERS_AT_ONCE = 24
_SAY_EVERY = 500
_SAY_CITATIONS = 50
_TOGETHER = 16


@dataclass
class ProfileValues:
    """What is kept of the reviews.

    Numbers; ``xref_bins`` by group; ``decisions`` by venue, year and class of decision, ``decision_words`` what the
    data call it; ``citations`` by group and status, ``unresolved`` by reason.
    """

    metrics: tuple[ReadMetric, ...]
    table: Store[Group]
    ratings: RatingBook
    panels: PanelBook = field(default_factory=PanelBook)
    coverage: CoverageBook = field(default_factory=CoverageBook)
    decisions: dict[tuple[str, int | None, str], Counter[str]] = field(default_factory=dict)
    decision_words: dict[tuple[str, int | None, str], Counter[str]] = field(default_factory=dict)
    citations: dict[str, Counter[str]] = field(default_factory=dict)
    xref_bins: dict[Group, Counter[str]] = field(default_factory=dict)
    unresolved: Counter[str] = field(default_factory=Counter)
    syllables: str = ""


@dataclass(frozen=True)
class _Measured:
    """One review with all that was measured of it."""

    read: Reading
    group: Group
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
        self._metrics = _metrics(asked)
        self.measured = ProfileValues(
            self._metrics,
            Store(metric.name for metric in self._metrics),
            RatingBook(rated_on=asked.rated_on, venue=asked.venue),
        )

    async def run(self, store: CaseStore, papers: Iterable[str], total: int) -> ProfileValues:
        """Measure all reviews of these papers.

        Raises:
            BudgetExceeded: A call could pass a limit.
        """
        cases = (case for paper in papers for case in store.cases(paper))
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
        return self.measured

    async def _paper(self, reviews: Sequence[tuple[ReviewCase, TextMetrics]]) -> None:
        self._decided([case for case, _ in reviews])
        read: list[Read] = []
        for start in range(0, len(reviews), _TOGETHER):
            some = [self._measured(case, found) for case, found in reviews[start : start + _TOGETHER]]
            for one in await asyncio.gather(*some):
                self._keep(one)
                if one.read.items is not None and one.read.case.kind in ("human", "ai"):
                    read.append((one.read.case, one.read.items))
        if {case.kind for case, _ in read} == {"human", "ai"}:
            venue = read[0][0].venue or ""
            self._waiting.setdefault(venue, []).append(read)
            if len(self._waiting[venue]) >= PAPERS_AT_ONCE:
                await self._cover(venue)

    def _decided(self, reviews: Sequence[ReviewCase]) -> None:
        """Count a paper and its reviews under its venue, year and decision."""
        decision = next((case.decision for case in reviews if case.decision), "")
        place = reviews[0].venue or "no venue", year_of(reviews[0]), decision_group(decision)
        self.measured.decisions.setdefault(place, Counter()).update(["paper", *(case.kind for case in reviews)])
        self.measured.decision_words.setdefault(place, Counter()).update(filter(None, [decision]))

    async def _measured(self, case: ReviewCase, found: TextMetrics) -> _Measured:
        group = self._asked.grouping.of(case)
        self.measured.ratings.add(group, case)
        engages, why = await self._reader.engages(case, found)
        reading = Reading(
            case,
            found,
            items=await self._reader.items(case) if self._asked.atomic else None,
            engages=engages,
            engages_why=why,
            checked=tuple(await self._checked(found)) if self._resolver is not None else None,
            rank=self.measured.ratings.rank(case),
        )
        values = {metric.name: metric.of(reading) for metric in self._metrics}
        reasons = {metric.name: metric.why(reading) for metric in self._metrics if values[metric.name] is None}
        return _Measured(reading, group, values, reasons)

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
        measured = self.measured
        measured.syllables = one.read.text.syllables
        read = one.read.text.status == "scored"
        case = one.read.case
        row = measured.table.add(
            one.group, case.paper_id, year=year_of(case), conference=conference_of(case.venue or "")
        )
        for name, value in one.values.items():
            measured.table.put(row, name, value, one.reasons.get(name, "not measured"))
        if read and one.read.text.xref_bin:
            measured.xref_bins.setdefault(one.group, Counter())[one.read.text.xref_bin] += 1
        measured.panels.add(self._asked.grouping.system(one.read.case), one.read.case, one.read.engages)
        if one.read.checked is not None:
            measured.citations.setdefault(one.group.label, Counter()).update(check.status for check in one.read.checked)
            measured.unresolved.update(check.reason for check in one.read.checked if check.status == "unresolved")
        line = profile_line(one.read, one.group.label, one.values, one.reasons)
        self._lines.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")

    async def _cover(self, venue: str) -> None:
        """Coverage of the papers that wait: each generated review beside each human one, and beside another paper's."""
        papers = self._waiting.pop(venue)
        pairs = [pair for read in papers for pair in matched_pairs(read)]
        chance = chance_pairs(pairs, seed=self._asked.seed)
        reader, coverage, system = self._reader, self.measured.coverage, self._asked.grouping.system
        for pair, found in await _each(pairs, reader.matrices):
            coverage.add(system(pair.generated_case), pair, found)
        for pair, found in await _each(chance.pairs, reader.matrices):
            coverage.add_chance(system(pair.generated_case), pair, found)
        paired = Counter(system(pair.generated_case) for pair in chance.pairs)
        for name, count in Counter(system(pair.generated_case) for pair in pairs).items():
            coverage.left_alone(name, count - paired[name])

    def _say(self, total: int) -> None:
        done = len(self.measured.table)
        if done - self._said >= _SAY_EVERY or done == total:
            self._said = done
            self._progress(Event("stage", f"measured {done:,} of {total:,} reviews", done=done, total=total))


def _metrics(asked: ProfileAsked) -> tuple[ReadMetric, ...]:
    """The metrics of the preset ``behaviour`` that are asked for."""
    left_out = {*(() if asked.atomic else ("items",)), *(() if asked.compare_scales else ("ranks",))}
    found = (metric for metric in find_metrics(["behaviour"]) if isinstance(metric, ReadMetric))
    return tuple(metric for metric in found if metric.part not in left_out)


async def _each(pairs: Sequence[MatchedPair], ask: Callable[[MatchedPair], Any]) -> list[tuple[MatchedPair, Any]]:
    found: list[tuple[MatchedPair, Any]] = []
    for start in range(0, len(pairs), _TOGETHER):
        some = pairs[start : start + _TOGETHER]
        found += zip(some, await asyncio.gather(*(ask(pair) for pair in some)), strict=True)
    return found
