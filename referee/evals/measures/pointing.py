"""How often a review points into the paper. Source: PRAIB, xref and its bins."""

from __future__ import annotations

from collections.abc import Callable

from referee.evals.behaviour import CrossReferences
from referee.evals.behaviour.cross_references import distinct
from referee.evals.reading import Reading, ReadMetric


def _counted(count: Callable[[CrossReferences], int]) -> Callable[[Reading], float | None]:
    """A count of references; an empty text has none rather than 0."""
    return lambda read: count(read.text.references) if read.text.status == "scored" else None


METRICS = (
    ReadMetric(
        "xref",
        "mentions of the paper's figures, tables, sections, equations, theorems, pages, lines",
        unit="mentions",
        of=_counted(lambda references: references.xref),
    ),
    ReadMetric(
        "xref_ext",
        "mentions of its algorithms, appendices, propositions and the like",
        unit="mentions",
        of=_counted(lambda references: references.xref_ext),
    ),
    ReadMetric(
        "xref_targets",
        "different parts that both name",
        unit="parts",
        of=_counted(lambda references: distinct((*references.core, *references.extra))),
        variant_of="xref",
    ),
    ReadMetric(
        "xref_density",
        "xref per 100 words",
        unit="mentions per 100 words",
        of=lambda read: read.text.xref_density,
        variant_of="xref",
    ),
)
