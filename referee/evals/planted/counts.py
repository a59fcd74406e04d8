"""From verdicts to shares: recall by strategy, ghosts, and the difference of two strategies over the same papers.

A share over fewer than 20 records is not given by kind, severity or difficulty: counts only. A review that failed is
failed for all its records, and its paper is left out of **every** arm, never of one.

Source: the specification's section 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from referee.evals.planted.matching import RecordOutcome
from referee.stats.comparisons import rise

TOP = (3, 5, 10)
FEWEST = 20
By = Literal["kind", "severity", "difficulty"]


@dataclass(frozen=True)
class PaperCount:
    """What one review, or the mean of several, makes of one planted paper.

    Attributes:
        records: Outcomes of the records that count (no silent ones).
        points: Remarks in print.
        ghosts: Records that the review of the clean twin "finds"; None where there is none.
        failed: The review failed: nothing of it counts.
    """

    records: tuple[RecordOutcome, ...]
    points: int = 0
    ghosts: int | None = None
    failed: bool = False

    @property
    def n(self) -> int:
        """Records."""
        return len(self.records)

    @property
    def found(self) -> frozenset[str]:
        """Ids of the records found in print."""
        return frozenset(one.record_id for one in self.records if one.printed.verdict == "found")

    @property
    def raised(self) -> frozenset[str]:
        """Ids of the records found in print or among the recorded points."""
        return frozenset(one.record_id for one in self.records if one.raised.verdict == "found")

    @property
    def ambiguous(self) -> int:
        """Records left open in print."""
        return sum(one.printed.verdict == "ambiguous" for one in self.records)

    @property
    def duplicates(self) -> int:
        """Remarks in print that only say again what another one found."""
        hits = {one.printed.point for one in self.records if one.printed.verdict == "found"}
        return len({again for one in self.records for again in one.printed.duplicates} - hits)

    def within(self, k: int) -> int:
        """Records found by the first k remarks in print."""
        return sum(one.printed.verdict == "found" and (one.printed.rank or k + 1) <= k for one in self.records)


@dataclass(frozen=True)
class ArmCount:
    """One strategy over its papers.

    Attributes:
        papers: By paper's id; those that failed in any arm are gone.
        failed: How many were taken out.
    """

    papers: Mapping[str, PaperCount]
    failed: int = 0

    @property
    def n(self) -> int:
        """Records."""
        return sum(paper.n for paper in self.papers.values())

    @property
    def found(self) -> int:
        """Records found in print."""
        return sum(len(paper.found) for paper in self.papers.values())

    @property
    def recall_low(self) -> float | None:
        """Found over all records: the headline."""
        return _share(self.found, self.n)

    @property
    def recall_high(self) -> float | None:
        """The same with what was left open."""
        return _share(self.found + sum(paper.ambiguous for paper in self.papers.values()), self.n)

    @property
    def recall_raised(self) -> float | None:
        """Records that were raised, whether printed or not."""
        return _share(sum(len(paper.raised) for paper in self.papers.values()), self.n)

    @property
    def mean_of_papers(self) -> float | None:
        """The mean over papers of their recall."""
        return fmean(self.by_paper.values()) if self.by_paper else None

    @property
    def by_paper(self) -> dict[str, float]:
        """Recall of each paper that has records."""
        return {name: len(paper.found) / paper.n for name, paper in self.papers.items() if paper.n}

    def recall_at(self, k: int) -> float | None:
        """Found by the first k remarks of each review, over all records."""
        return _share(sum(paper.within(k) for paper in self.papers.values()), self.n)

    @property
    def precision_low(self) -> float | None:
        """Found over remarks that say no thing twice: a lower bound, for papers have faults of their own."""
        points = sum(paper.points - paper.duplicates for paper in self.papers.values())
        return _share(self.found, points)

    @property
    def ghost(self) -> float | None:
        """Ghosts over the records of the papers whose clean twin was reviewed; above .05 the matcher is loose."""
        known = [(paper.ghosts, paper.n) for paper in self.papers.values() if paper.ghosts is not None]
        return _share(sum(ghosts for ghosts, _ in known), sum(n for _, n in known))

    @property
    def corrected(self) -> float | None:
        """Recall less what would be found without the errors: (recall - g) / (1 - g)."""
        return corrected(self.recall_low, self.ghost)


def corrected(recall: float | None, ghost: float | None) -> float | None:
    """``(recall - g) / (1 - g)``; None without either, or where every record is a ghost."""
    return None if recall is None or ghost is None or ghost >= 1 else (recall - ghost) / (1 - ghost)


def comparable(arms: Mapping[str, Mapping[str, PaperCount]]) -> dict[str, ArmCount]:
    """The arms over the papers that all of them have and none of them failed on.

    Args:
        arms: By strategy, by paper's id.
    """
    shared = set.intersection(*(set(papers) for papers in arms.values())) if arms else set()
    bad = {name for papers in arms.values() for name, paper in papers.items() if paper.failed}
    kept = [name for name in next(iter(arms.values()), {}) if name in shared - bad]
    return {
        arm: ArmCount({name: papers[name] for name in kept}, sum(paper.failed for paper in papers.values()))
        for arm, papers in arms.items()
    }


@dataclass(frozen=True)
class ArmDifference:
    """The second arm less the first, paper by paper over the same records.

    Attributes:
        mean: Of the papers' differences.
        low: Lower end of the paired t interval at 95%; None under two papers.
        high: Its upper end.
        only_second: Records that the second alone found; ``only_first`` the first alone.
    """

    mean: float | None
    low: float | None
    high: float | None
    only_first: int
    only_second: int

    @property
    def shown(self) -> bool:
        """Whether the interval excludes no difference."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def difference(first: ArmCount, second: ArmCount) -> ArmDifference:
    """Compare two arms of ``comparable``; the test beside the interval is that of ``evals.comparison``."""
    one, two = first.by_paper, second.by_paper
    apart = [two[name] - one[name] for name in one if name in two]
    # Both ends of a two-sided interval at 95% are the lower ends of one-sided ones at 2.5%.
    low, high = (rise([sign * one for one in apart], level=0.025).low for sign in (1, -1))
    pairs = [(paper.found, second.papers[name].found) for name, paper in first.papers.items()]
    return ArmDifference(
        fmean(apart) if apart else None,
        low,
        None if high is None else -high,
        only_first=sum(len(mine - other) for mine, other in pairs),
        only_second=sum(len(other - mine) for mine, other in pairs),
    )


def cells(records: Iterable[RecordOutcome], by: By) -> dict[str, tuple[int, int, float | None]]:
    """Found, records and share by kind, severity or difficulty; no share under 20 records."""
    groups: dict[str, list[bool]] = {}
    for record in records:
        groups.setdefault(str(getattr(record, by)), []).append(record.printed.verdict == "found")
    return {
        name: (sum(hits), len(hits), fmean(hits) if len(hits) >= FEWEST else None)
        for name, hits in sorted(groups.items())
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None
