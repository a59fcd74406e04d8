"""What a venue's words for a decision mean."""

from __future__ import annotations

import re
from collections.abc import Mapping

from referee.schemas.paper_row import DecisionClass

_ACCEPTED = re.compile(r"\b(?:accept(?:ed|ance)?|oral|spotlight|poster|notable|talk)\b")
_REJECTED = re.compile(r"\breject(?:ed)?\b")
_UNCLEAR = re.compile(r"workshop|pending|conditional")
_DESK = re.compile(r"desk")
_WITHDRAWN = re.compile(r"withdr")


NO_DECISION = "no decision"
UNCLEAR = "decision unclear"


def decision_group(decision: str | None) -> str:
    """The group of reviews that a decision belongs to: its class, or that it is unclear or missing."""
    return decision_class(decision) or (UNCLEAR if (decision or "").strip() else NO_DECISION)


def unclear_text(unclear: Mapping[str, int]) -> str:
    """How many reviews have a decision without a class, and in which words: for a note."""
    words = ", ".join(f"{word!r} ({count:,})" for word, count in sorted(unclear.items(), key=lambda one: -one[1])[:6])
    more = f" and {len(unclear) - 6:,} more" if len(unclear) > 6 else ""
    return (
        f"{sum(unclear.values()):,} review(s) have a decision that is no acceptance, rejection or withdrawal and are "
        f"the group {UNCLEAR!r}: {words}{more}"
    )


def decision_class(decision: str | None) -> DecisionClass | None:
    """The class of a decision in the data's words; None where they are unclear or empty.

    Presentations (oral, spotlight, poster) are acceptances; an invitation to a workshop is neither.
    """
    text = (decision or "").casefold().replace("_", " ")
    if _WITHDRAWN.search(text):
        return "withdrawn"
    if _DESK.search(text):
        return "desk_reject"
    if _UNCLEAR.search(text):
        return None
    if _REJECTED.search(text):
        return "reject"
    return "accept" if _ACCEPTED.search(text) else None
