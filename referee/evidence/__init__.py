"""Evidence: whether the paper says what a review claims it says.

What a name stands for is loaded when it is first used: who reads a paper needs its sentences and none of the rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.evidence.absence import AbsenceHit, AbsenceResult, TermIndex
    from referee.evidence.computations import INSTALL, can_compute, described, run_computations
    from referee.evidence.copied import repeats_example, without_copied, worked_examples
    from referee.evidence.ledger import LedgerEntry, number_ledger
    from referee.evidence.point_fields import check_order, field_for, order_points, place_points
    from referee.evidence.point_merge import Conservation, PointsLost, check_conservation, merge_points
    from referee.evidence.points import (
        apply_check,
        ask_unchecked_absence,
        settle_absence,
        settle_literature,
        verify_point,
    )
    from referee.evidence.quotations import NotFound, QuotationIndex
    from referee.evidence.rules import RULES, RuleEvidence, RuleHit, run_rules
    from referee.evidence.sentences import split_sentences
    from referee.evidence.verify import ClaimedQuote, check_inline_quotations, verify_quotations

__all__ = [
    "INSTALL",
    "RULES",
    "AbsenceHit",
    "AbsenceResult",
    "ClaimedQuote",
    "Conservation",
    "LedgerEntry",
    "NotFound",
    "PointsLost",
    "QuotationIndex",
    "RuleEvidence",
    "RuleHit",
    "TermIndex",
    "apply_check",
    "ask_unchecked_absence",
    "can_compute",
    "check_conservation",
    "check_inline_quotations",
    "check_order",
    "described",
    "field_for",
    "merge_points",
    "number_ledger",
    "order_points",
    "place_points",
    "repeats_example",
    "run_computations",
    "run_rules",
    "settle_absence",
    "settle_literature",
    "split_sentences",
    "verify_point",
    "verify_quotations",
    "without_copied",
    "worked_examples",
]

_NAMES = {
    "absence": (
        "AbsenceHit",
        "AbsenceResult",
        "TermIndex",
    ),
    "computations": (
        "INSTALL",
        "can_compute",
        "described",
        "run_computations",
    ),
    "copied": (
        "repeats_example",
        "without_copied",
        "worked_examples",
    ),
    "ledger": (
        "LedgerEntry",
        "number_ledger",
    ),
    "point_fields": (
        "check_order",
        "field_for",
        "order_points",
        "place_points",
    ),
    "point_merge": (
        "Conservation",
        "PointsLost",
        "check_conservation",
        "merge_points",
    ),
    "points": (
        "apply_check",
        "ask_unchecked_absence",
        "settle_absence",
        "settle_literature",
        "verify_point",
    ),
    "quotations": (
        "NotFound",
        "QuotationIndex",
    ),
    "rules": (
        "RULES",
        "RuleEvidence",
        "RuleHit",
        "run_rules",
    ),
    "sentences": ("split_sentences",),
    "verify": (
        "ClaimedQuote",
        "check_inline_quotations",
        "verify_quotations",
    ),
}
_PLACES = {name: place for place, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
