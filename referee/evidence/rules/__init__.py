"""Rules that need no model: what arithmetic and counting show about a paper."""

from __future__ import annotations

from collections.abc import Callable

from referee.evidence.rules.changes import relative_gain, sample_size
from referee.evidence.rules.hits import RuleEvidence, RuleHit
from referee.evidence.rules.labels import dangling_label, unused_label
from referee.evidence.rules.statistics import grim, statistic_vs_p
from referee.evidence.rules.text_vs_table import text_vs_table
from referee.schemas.paper import Paper

__all__ = ["RULES", "RuleEvidence", "RuleHit", "run_rules"]

RULES: dict[str, Callable[[Paper], list[RuleHit]]] = {
    "text_vs_table": text_vs_table,
    "sample_size": sample_size,
    "relative_gain": relative_gain,
    "statistic_vs_p": statistic_vs_p,
    "grim": grim,
    "dangling_label": dangling_label,
    "unused_label": unused_label,
}
"""The rules by name; ``docs/rules.md`` says what each compares and how often its hits were right."""


def run_rules(paper: Paper) -> list[RuleHit]:
    """Run all rules over a paper.

    Returns:
        The hits, rule by rule in the order of ``RULES``, each rule's in reading order.
    """
    return [hit for rule in RULES.values() for hit in rule(paper)]
