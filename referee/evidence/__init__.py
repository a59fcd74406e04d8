"""Evidence: whether the paper says what a review claims it says.

What a name stands for is loaded when it is first used: who reads a paper needs its sentences and none of the rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.evidence.absence import AbsenceHit, AbsenceResult, TermIndex
    from referee.evidence.conservation import Conservation, PointsLost, check_conservation
    from referee.evidence.echo import repeats_example, without_echo, worked_examples
    from referee.evidence.inline import check_inline_quotations
    from referee.evidence.ledger import LedgerEntry, number_ledger
    from referee.evidence.point_check import apply_check, ask_unchecked_absence, settle_absence
    from referee.evidence.point_evidence import settle_literature, verify_point
    from referee.evidence.point_fields import field_for
    from referee.evidence.point_merge import merge_groups, merge_points
    from referee.evidence.point_order import check_order, order_points, place_points
    from referee.evidence.quotations import NotFound, QuotationIndex
    from referee.evidence.rules import RULES, Rule, RuleEvidence, RuleHit, run_rules
    from referee.evidence.sentences import split_sentences
    from referee.evidence.verify import ClaimedQuote, verify_quotations

__all__ = [
    "RULES",
    "AbsenceHit",
    "AbsenceResult",
    "ClaimedQuote",
    "Conservation",
    "LedgerEntry",
    "NotFound",
    "PointsLost",
    "QuotationIndex",
    "Rule",
    "RuleEvidence",
    "RuleHit",
    "TermIndex",
    "apply_check",
    "ask_unchecked_absence",
    "check_conservation",
    "check_inline_quotations",
    "check_order",
    "field_for",
    "merge_groups",
    "merge_points",
    "number_ledger",
    "order_points",
    "place_points",
    "repeats_example",
    "run_rules",
    "settle_absence",
    "settle_literature",
    "split_sentences",
    "verify_point",
    "verify_quotations",
    "without_echo",
    "worked_examples",
]

_NAMES = {
    "absence": ("AbsenceHit", "AbsenceResult", "TermIndex"),
    "conservation": ("Conservation", "PointsLost", "check_conservation"),
    "echo": ("repeats_example", "without_echo", "worked_examples"),
    "inline": ("check_inline_quotations",),
    "ledger": ("LedgerEntry", "number_ledger"),
    "point_check": ("apply_check", "ask_unchecked_absence", "settle_absence"),
    "point_evidence": ("settle_literature", "verify_point"),
    "point_fields": ("field_for",),
    "point_merge": ("merge_groups", "merge_points"),
    "point_order": ("check_order", "order_points", "place_points"),
    "quotations": ("NotFound", "QuotationIndex"),
    "rules": ("RULES", "Rule", "RuleEvidence", "RuleHit", "run_rules"),
    "sentences": ("split_sentences",),
    "verify": ("ClaimedQuote", "verify_quotations"),
}
_PLACES = {name: place for place, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
