"""What a venue's words for a decision mean."""

from __future__ import annotations

import re

from referee.schemas.paper_row import DecisionClass

_ACCEPTED = re.compile(r"\b(?:accept(?:ed|ance)?|oral|spotlight|poster|notable|talk)\b")
_REJECTED = re.compile(r"\breject(?:ed)?\b")
_UNCLEAR = re.compile(r"workshop|pending|conditional")
_DESK = re.compile(r"desk")
_WITHDRAWN = re.compile(r"withdr")


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
