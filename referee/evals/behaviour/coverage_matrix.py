"""Which items of a human review a generated one holds: pairs of reviews, matrices by rule, and their measures."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import fmean
from typing import Any

from referee.errors import EvaluationError
from referee.evals.behaviour.atomic import POLARITIES, RULE, MatchedPair
from referee.evals.behaviour.atomic_rules import Polarity
from referee.evidence.stems import stems
from referee.schemas.metric import MetricStatus
from referee.schemas.usage import Usage

Matrix = Sequence[Sequence[bool | int]]

NO_HUMAN = "the human review has no such item"
NO_GENERATED = "the generated review has no such item"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is counted in a matrix, or in several together, and the measures that follow.

    Attributes:
        human: H, rows.
        generated: G, columns.
        covered: Rows with a match.
        matching: Columns with a match.
        matches: Cells that are true.
    """

    human: int
    generated: int
    covered: int
    matching: int
    matches: int

    def __add__(self, other: Coverage) -> Coverage:
        """The counts of both: two polarities of one pair of reviews, or two pairs for a micro average."""
        return Coverage(
            self.human + other.human,
            self.generated + other.generated,
            self.covered + other.covered,
            self.matching + other.matching,
            self.matches + other.matches,
        )

    @property
    def recall(self) -> float | None:
        """Covered rows / H, in [0, 1]; null for H = 0."""
        return _over(self.covered, self.human)

    @property
    def precision(self) -> float | None:
        """Matching columns / G, in [0, 1]; null for G = 0."""
        return _over(self.matching, self.generated)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of recall and precision; 0 where both are, null where one is."""
        if self.recall is None or self.precision is None:
            return None
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0

    @property
    def density(self) -> float | None:
        """Matches / H; null for H = 0."""
        return _over(self.matches, self.human)

    @property
    def density_covered(self) -> float | None:
        """Matches / covered rows, at least 1; null where no row is covered."""
        return _over(self.matches, self.covered)

    @property
    def compaction(self) -> float | None:
        """Covered rows / G; null for G = 0."""
        return _over(self.covered, self.generated)

    @property
    def compaction_printed(self) -> float | None:
        """Matches / G, as PRAIB prints it; null for G = 0."""
        return _over(self.matches, self.generated)

    @property
    def status(self) -> MetricStatus:
        """``not_applicable`` where both reviews have no item."""
        return "scored" if self.human or self.generated else "not_applicable"

    @property
    def reason(self) -> str:
        """Why measures are null; empty where none of recall and precision is."""
        return "; ".join(why for why, n in ((NO_HUMAN, self.human), (NO_GENERATED, self.generated)) if not n)


@dataclass(frozen=True, slots=True)
class Averaged:
    """The mean of one measure over pairs of reviews; ``skipped`` pairs have none. Null without a pair that has one."""

    value: float | None
    n: int
    skipped: int
    reason: str = ""


MEASURES: Mapping[str, Callable[[Coverage], float | None]] = {
    "recall": lambda one: one.recall,
    "precision": lambda one: one.precision,
    "f1": lambda one: one.f1,
    "density": lambda one: one.density,
    "density_covered": lambda one: one.density_covered,
    "compaction": lambda one: one.compaction,
    "compaction_printed": lambda one: one.compaction_printed,
}


def coverage_of(matrix: Matrix, generated: int | None = None) -> Coverage:
    """The counts of one matrix.

    Args:
        matrix: H rows of G cells each.
        generated: G; must be given where there is no row.

    Raises:
        EvaluationError: Rows differ in length, or G is not told.
    """
    columns = check(matrix, generated)
    return Coverage(
        human=len(matrix),
        generated=columns,
        covered=sum(any(row) for row in matrix),
        matching=sum(any(row[column] for row in matrix) for column in range(columns)),
        matches=sum(bool(cell) for row in matrix for cell in row),
    )


def check(matrix: Matrix, generated: int | None = None) -> int:
    """G, the number of columns.

    Raises:
        EvaluationError: Rows differ in length, or G is not told.
    """
    lengths = {len(row) for row in matrix} | ({generated} if generated is not None else set())
    if len(lengths) != 1:
        told = ", ".join(map(str, sorted(lengths))) or "no number of columns"
        raise EvaluationError(
            f"a coverage matrix has one number of columns, not {told}.", hint="Give G where there is no row."
        )
    return lengths.pop()


def macro(pairs: Iterable[Coverage]) -> dict[str, Averaged]:
    """Each measure's mean over pairs of reviews, the default."""
    whole = list(pairs)
    return {name: _averaged([measure(one) for one in whole]) for name, measure in MEASURES.items()}


def micro(pairs: Iterable[Coverage]) -> Coverage:
    """The counts of all pairs together, so that a pair with more items weighs more."""
    return sum(pairs, Coverage(0, 0, 0, 0, 0))


def _averaged(values: Sequence[float | None]) -> Averaged:
    known = [value for value in values if value is not None]
    reason = "" if known else "it is defined in no pair of reviews"
    return Averaged(fmean(known) if known else None, len(known), len(values) - len(known), reason)


def _over(part: int, whole: int) -> float | None:
    return part / whole if whole else None


DRAWS = 20

Cells = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, slots=True)
class PairMatrices:
    """The matrices of one pair of reviews, one a polarity: items of different polarity never match.

    Attributes:
        strengths: A row for each human strength, a cell for each generated one.
        weaknesses: The same for weaknesses.
        generated_strengths: Columns, which rows alone do not tell where there are none.
        backend: ``rule``, or ``judge:`` and the models' ids.
        status: ``failed`` where no judge gave a usable reply; the matrices are then empty.
        reason: Why.
        readings: What each judge said, for the record.
    """

    strengths: Cells
    weaknesses: Cells
    generated_strengths: int
    generated_weaknesses: int
    backend: str
    status: MetricStatus = "scored"
    reason: str = ""
    readings: tuple[dict[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)

    def coverage(self, polarity: Polarity | None = None) -> Coverage | None:
        """The counts of one polarity, or of both together; None where the matrices could not be made."""
        if self.status == "failed":
            return None
        if polarity == "strengths":
            return coverage_of(self.strengths, self.generated_strengths)
        if polarity == "weaknesses":
            return coverage_of(self.weaknesses, self.generated_weaknesses)
        return coverage_of(self.strengths, self.generated_strengths) + coverage_of(
            self.weaknesses, self.generated_weaknesses
        )

    def volume_matched(self, polarity: Polarity, *, seed: int = 0) -> float | None:
        """Recall of as many generated items as there are human ones; None where it is undefined."""
        if self.status == "failed":
            return None
        if polarity == "strengths":
            return volume_matched_recall(self.strengths, self.generated_strengths, seed=seed)
        return volume_matched_recall(self.weaknesses, self.generated_weaknesses, seed=seed)


@dataclass(frozen=True, slots=True)
class ChancePairs:
    """Generated reviews beside human reviews of another paper; ``left_out`` pairs had no other paper to turn to."""

    pairs: tuple[MatchedPair, ...]
    left_out: int
    reason: str = ""


def chance_pairs(pairs: Sequence[MatchedPair], *, seed: int = 0) -> ChancePairs:
    """The same generated reviews beside human reviews of a different paper of the same venue.

    Papers of a venue are put in a random order and each takes the next one's human reviews; where a paper has more
    human reviews than the other, the other's are used again. A recall of .9 means little where chance gives .8.

    Args:
        pairs: The matched pairs.
        seed: Same seed and pairs, same choice.
    """
    by_venue: dict[str, dict[str, dict[str, MatchedPair]]] = defaultdict(lambda: defaultdict(dict))
    for pair in pairs:
        by_venue[_venue(pair)][pair.paper_id].setdefault(pair.human_case.case_id, pair)
    other = {venue: _next_paper(sorted(papers), f"{seed}:{venue}") for venue, papers in by_venue.items()}
    found: list[MatchedPair] = []
    for pair in pairs:
        venue = _venue(pair)
        own, theirs = by_venue[venue][pair.paper_id], by_venue[venue].get(other[venue].get(pair.paper_id, ""), {})
        if theirs:
            place = sorted(own).index(pair.human_case.case_id)
            chosen = theirs[sorted(theirs)[place % len(theirs)]]
            found.append(replace(pair, human_case=chosen.human_case, human=chosen.human))
    left_out = len(pairs) - len(found)
    return ChancePairs(tuple(found), left_out, "their venue has no other paper with a human review" if left_out else "")


def volume_matched_recall(matrix: Matrix, generated: int, *, seed: int = 0, draws: int = DRAWS) -> float | None:
    """Recall of H of the G generated items, the mean of random draws, so that a longer list gains nothing.

    Where G is at most H, it is plain recall; None for H = 0.
    """
    human, columns = len(matrix), check(matrix, generated)
    if not human:
        return None
    if columns <= human:
        return coverage_of(matrix, columns).recall
    covering = [{column for column, cell in enumerate(row) if cell} for row in matrix]
    chance = random.Random(seed)
    drawn = (set(chance.sample(range(columns), human)) for _ in range(draws))
    return fmean(sum(not own.isdisjoint(taken) for own in covering) / human for taken in drawn)


def matrices_of(pair: MatchedPair, backend: str, holds: Callable[[str, str], bool]) -> PairMatrices:
    """The matrices of a pair from a function of a human and a generated item."""
    strengths, weaknesses = (
        tuple(tuple(holds(own, other) for other in pair.generated.of(polarity)) for own in pair.human.of(polarity))
        for polarity in POLARITIES
    )
    columns = len(pair.generated.strengths), len(pair.generated.weaknesses)
    return PairMatrices(strengths, weaknesses, *columns, backend)


def _venue(pair: MatchedPair) -> str:
    return pair.human_case.venue or pair.generated_case.venue or ""


def _next_paper(papers: Sequence[str], seed: str) -> dict[str, str]:
    """Each paper's other paper; empty where there is only one."""
    if len(papers) < 2:
        return {}
    order = random.Random(seed).sample(papers, len(papers))
    return dict(zip(order, [*order[1:], order[0]], strict=True))


THRESHOLD = 0.3
"""The least share of a human item's telling word stems that the generated item has."""
FEWEST = 2
"""The least number of stems in common."""

_GENERIC = frozenset(
    stems(
        "paper papers author authors work manuscript submission approach method methods methodology propose proposed "
        "proposes provide provides more detail details discuss discussion explain explanation clear clearly clarify "
        "unclear lack lacks lacking missing include would could should better beneficial help understand result "
        "results section reviewer make makes use used using show shown shows different need needs "
        "good well strong weak limited"
    )
)
_KEPT = 4_096


def rule_matrices(pair: MatchedPair) -> PairMatrices:
    """The matrices of a pair of reviews by word stems."""
    return matrices_of(pair, RULE, holds)


def holds(human: str, generated: str) -> bool:
    """Whether a generated item has enough of a human item's telling words.

    At least two stems in common, and at least 0.3 of the human item's; words that every review uses do not count.
    """
    wanted = _telling(human)
    shared = len(wanted & _telling(generated))
    return shared >= FEWEST and shared >= THRESHOLD * len(wanted)


@lru_cache(maxsize=_KEPT)
def _telling(item: str) -> frozenset[str]:
    return frozenset(stems(item)) - _GENERIC
