"""Whether items are the review's own words, and how much they repeat each other. Source: PRAIB, section 8 of ours."""

from __future__ import annotations

from collections.abc import Callable

from referee.evals.behaviour.fidelity import Fidelity, Redundancy
from referee.evals.measures.items import because
from referee.evals.reading import Reading, ReadMetric


def _faithful(of: Callable[[Fidelity], float | None]) -> Callable[[Reading], float | None]:
    return lambda read: of(read.fidelity) if read.fidelity is not None else None


def _repeated(of: Callable[[Redundancy], float | None]) -> Callable[[Reading], float | None]:
    return lambda read: of(read.redundancy) if read.redundancy is not None else None


def _why_unfaithful(read: Reading) -> str:
    return because(read, read.fidelity.reason if read.fidelity is not None else "")


def _why_alone(read: Reading) -> str:
    return because(read, read.redundancy.reason if read.redundancy is not None else "")


METRICS = (
    ReadMetric(
        "fidelity_rouge_l",
        "share of an item's words that its source has in this order, mean over items",
        unit="fraction",
        range=(0.0, 1.0),
        of=_faithful(lambda found: found.rouge_l),
        why=_why_unfaithful,
        part="items",
    ),
    ReadMetric(
        "fidelity_contained",
        "share of the items that stand in their source",
        unit="fraction",
        range=(0.0, 1.0),
        of=_faithful(lambda found: found.contained),
        why=_why_unfaithful,
        part="items",
        variant_of="fidelity_rouge_l",
    ),
    ReadMetric(
        "fidelity_jaccard",
        "Jaccard of an item's and its source's words, mean over items",
        unit="fraction",
        range=(0.0, 1.0),
        of=_faithful(lambda found: found.jaccard),
        why=_why_unfaithful,
        part="items",
        variant_of="fidelity_rouge_l",
    ),
    ReadMetric(
        "redundancy_rouge_l",
        "ROUGE-L F1 of two items of the review, mean over pairs",
        unit="fraction",
        range=(0.0, 1.0),
        of=_repeated(lambda found: found.rouge_l),
        why=_why_alone,
        part="items",
    ),
    ReadMetric(
        "redundancy_jaccard",
        "Jaccard of the two items that are most alike",
        unit="fraction",
        range=(0.0, 1.0),
        of=_repeated(lambda found: found.jaccard),
        why=_why_alone,
        part="items",
        variant_of="redundancy_rouge_l",
    ),
    ReadMetric(
        "redundancy_contained",
        "share of the items that stand in another item",
        unit="fraction",
        range=(0.0, 1.0),
        of=_repeated(lambda found: found.contained),
        why=_why_alone,
        part="items",
        variant_of="redundancy_rouge_l",
    ),
)
