"""The rules by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from referee.errors import SettingsError
from referee.evidence.ledger import LedgerEntry, number_ledger
from referee.evidence.rules import (
    dangling_label,
    grim,
    relative_gain,
    sample_size,
    statistic_vs_p,
    text_vs_table,
    unused_label,
)
from referee.evidence.rules.hits import RuleHit
from referee.schemas.paper import Paper


@dataclass(frozen=True, slots=True)
class Rule:
    """A check that needs no model; ``docs/rules.md`` says what each compares and how often its hits were right."""

    name: str
    run: Callable[[Paper, list[LedgerEntry]], list[RuleHit]]
    about: str


RULES: tuple[Rule, ...] = (
    Rule(text_vs_table.NAME, text_vs_table.text_vs_table, "a value in the text and the cell it names"),
    Rule(sample_size.NAME, sample_size.sample_size, "two sizes of one named group"),
    Rule(relative_gain.NAME, relative_gain.relative_gain, "a relative change and its two values"),
    Rule(statistic_vs_p.NAME, statistic_vs_p.statistic_vs_p, "a test statistic and its p value"),
    Rule(grim.NAME, grim.grim, "a mean of whole numbers and their count"),
    Rule(dangling_label.NAME, dangling_label.dangling_label, "references to labels that are not there"),
    Rule(unused_label.NAME, unused_label.unused_label, "figures and tables without a reference"),
)


def run_rules(
    paper: Paper, ledger: list[LedgerEntry] | None = None, *, names: Iterable[str] | None = None
) -> list[RuleHit]:
    """Run rules over a paper.

    Args:
        paper: The paper.
        ledger: Its number ledger, if it is there already.
        names: The rules to run; all by default.

    Returns:
        The hits, rule by rule in the order of ``RULES``, each rule's in reading order.

    Raises:
        SettingsError: A name is not the name of a rule.
    """
    by_name = {rule.name: rule for rule in RULES}
    wanted = list(by_name) if names is None else list(names)
    for name in wanted:
        if name not in by_name:
            raise SettingsError(f"There is no rule {name!r}.", hint=f"Rules are {', '.join(by_name)}.")
    known = number_ledger(paper) if ledger is None else ledger
    return [hit for rule in RULES if rule.name in wanted for hit in rule.run(paper, known)]
