"""What a note of a forum is: a review, a rebuttal, a comment, a decision; by its invitation and who signed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from referee.data.layouts.openreview import invitations, is_review
from referee.errors import SettingsError
from referee.nearest import did_you_mean

PDF = "pdf"
REVIEWS, REBUTTALS, COMMENTS, DECISIONS, OTHERS = "reviews", "rebuttals", "comments", "decisions", "others"
CHOICES = (PDF, REBUTTALS, COMMENTS, DECISIONS)
DEFAULT = (REBUTTALS, COMMENTS, DECISIONS)

_NAME = re.compile(r"[^/]+$")
_DECISION = re.compile(r"decision|acceptance|meta_?review", re.IGNORECASE)
_REBUTTAL = re.compile(r"^(?:author_)?(?:rebuttal|response)$", re.IGNORECASE)
_COMMENT = re.compile(r"comment|acknowledge?ment|rebuttal|discussion", re.IGNORECASE)
_AUTHORS = re.compile(r"/Authors$")


def kind_of(note: Mapping[str, object]) -> str:
    """One of reviews, rebuttals (by their name, or comments that the authors signed), comments, decisions and others.

    Others are withdrawals, desk rejections, reviews of ethics, and what no venue had so far.
    """
    names = [found[0] for name in invitations(note) if (found := _NAME.search(name))]
    if is_review(note):
        return REVIEWS
    if any(map(_DECISION.search, names)):
        return DECISIONS
    if any(map(_REBUTTAL.search, names)):
        return REBUTTALS
    if any(map(_COMMENT.search, names)):
        return REBUTTALS if _by_authors(note) else COMMENTS
    return OTHERS


def parse_kinds(given: Iterable[str]) -> tuple[str, ...]:
    """What is collected beside submissions and reviews, once each and in one order.

    Raises:
        SettingsError: A name is none of ``CHOICES``.
    """
    named = {name.strip().lower() for name in given if name.strip()} - {REVIEWS}
    for name in sorted(named - set(CHOICES)):
        raise SettingsError(
            f"--with names {name!r}, which is nothing to collect.",
            hint=f"{did_you_mean(name, CHOICES)}There are: {', '.join(CHOICES)}.",
        )
    return tuple(name for name in CHOICES if name in named)


def with_kinds(forum: Mapping[str, object], kinds: Iterable[str]) -> dict[str, object]:
    """The forum with its reviews, what is of these kinds, and what is of none; no note is changed."""
    left = {REBUTTALS, COMMENTS, DECISIONS} - set(kinds)
    details = forum.get("details")
    replies = details.get("replies") if isinstance(details, dict) else None
    if not left or not isinstance(replies, list):
        return dict(forum)
    kept = [note for note in replies if not isinstance(note, dict) or kind_of(note) not in left]
    return {**forum, "details": {**details, "replies": kept}} if isinstance(details, dict) else dict(forum)


def _by_authors(note: Mapping[str, object]) -> bool:
    signatures = note.get("signatures")
    return isinstance(signatures, list) and any(isinstance(one, str) and _AUTHORS.search(one) for one in signatures)
