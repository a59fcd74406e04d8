"""The published table that ours is shaped after, to be printed beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from referee.evals.grouping import EXPERT

_FILE = "published/revieweval_table2.json"


@dataclass(frozen=True)
class PublishedRow:
    """One system: mean and standard deviation by metric; None where the paper prints none."""

    system: str
    values: dict[str, tuple[float, float] | None]


@dataclass(frozen=True)
class PublishedTable:
    """A table from a paper. ``metrics`` are our names of its columns."""

    source: str
    about: str
    papers: int
    metrics: tuple[str, ...]
    rows: tuple[PublishedRow, ...]

    def best(self, metric: str) -> tuple[frozenset[str], frozenset[str]]:
        """The systems that are nearest to the expert, and those that are highest; neither counts the expert."""
        means = {row.system: pair[0] for row in self.rows if (pair := row.values[metric])}
        expert = means.pop(EXPERT, None)
        highest = frozenset(system for system in means if means[system] == max(means.values()))
        if expert is None:
            return frozenset(), highest
        distance = {system: abs(mean - expert) for system, mean in means.items()}
        return frozenset(system for system in means if distance[system] == min(distance.values())), highest


@lru_cache(maxsize=1)
def published_table() -> PublishedTable:
    """Table 2 of ReviewEval, as printed there."""
    data = json.loads(resources.files("referee.reports").joinpath(_FILE).read_text(encoding="utf-8"))
    rows = tuple(
        PublishedRow(row["system"], {name: tuple(pair) if pair else None for name, pair in row["values"].items()})
        for row in data["rows"]
    )
    return PublishedTable(data["source"], data["about"], data["papers"], tuple(data["metrics"]), rows)
