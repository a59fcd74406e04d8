"""The rules by name, and whether each runs unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from referee.errors import SettingsError
from referee.evidence.ledger import LedgerEntry, number_ledger
from referee.evidence.rules import (
    bold_best,
    dangling_label,
    grim,
    interval,
    parts_and_total,
    percent_of_counts,
    relative_gain,
    same_subject,
    sample_size,
    statistic_vs_p,
    text_vs_row,
    text_vs_table,
    unused_label,
)
from referee.evidence.rules.hits import RuleHit
from referee.schemas.paper import Paper


@dataclass(frozen=True, slots=True)
class Rule:
    """A check that needs no model.

    ``default_on`` is false for a rule whose hits, read by hand, were right in fewer than four of five cases, and for
    one whose input no real paper had, such as bold marks (``docs/rules.md`` has the table).
    """

    name: str
    run: Callable[[Paper, list[LedgerEntry]], list[RuleHit]]
    about: str
    default_on: bool


RULES: tuple[Rule, ...] = (
    Rule(text_vs_table.NAME, text_vs_table.text_vs_table, "a value in the text and the cell it names", True),
    Rule(text_vs_row.NAME, text_vs_row.text_vs_row, "parallel values and the table row of one of them", True),
    Rule(same_subject.NAME, same_subject.same_subject, "two values for one quantity", False),
    Rule(sample_size.NAME, sample_size.sample_size, "two sizes of one named group", True),
    Rule(relative_gain.NAME, relative_gain.relative_gain, "a relative change and its two values", True),
    Rule(percent_of_counts.NAME, percent_of_counts.percent_of_counts, "a percentage and its counts", True),
    Rule(parts_and_total.NAME, parts_and_total.parts_and_total, "parts and their total", True),
    Rule(statistic_vs_p.NAME, statistic_vs_p.statistic_vs_p, "a test statistic and its p value", True),
    Rule(interval.NAME, interval.interval, "an interval, its estimate and its p value", True),
    Rule(grim.NAME, grim.grim, "a mean of whole numbers and their count", True),
    Rule(dangling_label.NAME, dangling_label.dangling_label, "references to labels that are not there", True),
    Rule(unused_label.NAME, unused_label.unused_label, "figures and tables without a reference", True),
    Rule(bold_best.NAME, bold_best.bold_best, "bold values and the best of their column", False),
)


def run_rules(
    paper: Paper, ledger: list[LedgerEntry] | None = None, *, names: Iterable[str] | None = None
) -> list[RuleHit]:
    """Run rules over a paper.

    Args:
        paper: The paper.
        ledger: Its number ledger, if it is there already.
        names: The rules to run; by default those that are on by default.

    Returns:
        The hits, rule by rule in the order of ``RULES``, each rule's in reading order.

    Raises:
        SettingsError: A name is not the name of a rule.
    """
    by_name = {rule.name: rule for rule in RULES}
    wanted = [rule.name for rule in RULES if rule.default_on] if names is None else list(names)
    for name in wanted:
        if name not in by_name:
            raise SettingsError(f"There is no rule {name!r}.", hint=f"Rules are {', '.join(by_name)}.")
    known = number_ledger(paper) if ledger is None else ledger
    return [hit for rule in RULES if rule.name in wanted for hit in rule.run(paper, known)]
