"""How much of a human review's items a generated review holds: arithmetic on a boolean matrix.

Row i, column j: generated item j holds what human item i says. Source: PRAIB. Its printed compaction, matches per
generated item, can never be below precision, but its tables show it there nearly everywhere; covered rows per generated
item fit them. Both are given, ``compaction`` and ``compaction_printed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from referee.errors import EvaluationError
from referee.schemas.metric import MetricStatus

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
