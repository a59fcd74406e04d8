"""Who wrote a review, by what the data say or by a rule that is written down; never by how it reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from referee.errors import DataError

Kind = Literal["human", "ai", "unknown"]
UNKNOWN = "unknown"
OFFICIAL = "an official review of the venue, whose record names no other author, counts as human"
AI_SIGNATURE = "the reviewer's signature names an AI reviewer (AIRev)"
WRITTEN_BY_REFEREE = "written by `referee review`"

_KINDS: dict[str, Kind] = {
    "human": "human",
    "person": "human",
    "ai": "ai",
    "llm": "ai",
    "machine": "ai",
    "generated": "ai",
    "unknown": "unknown",
}
_AI_SIGNATURE = re.compile(r"(?:^|[/_])(?P<name>AIRev\s*\d*)$")


@dataclass(frozen=True, slots=True)
class Author:
    """``source`` and ``kind`` of a case; ``rule`` is what decided where the data name nobody."""

    source: str
    kind: Kind
    rule: str = ""


def author(source: object, kind: object = None, *, model: object = None) -> Author:
    """The author by the data's own columns.

    ``human`` (or ``human:NAME``) is a human, ``ai:NAME`` the system NAME; any other source is ``unknown`` unless
    ``kind`` says more. Where only ``kind`` is there, ``model`` names the system.

    Raises:
        DataError: Source and kind contradict each other, or the kind is none.
    """
    named = source.strip() if isinstance(source, str) else ""
    stated = _stated(kind)
    found = _by_name(named)
    if stated is None or stated == "unknown":
        return found
    if found.kind not in ("unknown", stated):
        raise DataError(f"source {named!r} and kind {stated!r} contradict each other.", hint="Correct one of the two.")
    if found.source != UNKNOWN:
        return Author(found.source, stated)
    system = model.strip() if isinstance(model, str) else ""
    return Author("human" if stated == "human" else system or "ai", stated)


def signed(signatures: object, title: object = "") -> Author:
    """The author of an official review on OpenReview, by its signature."""
    names = [name for name in signatures if isinstance(name, str)] if isinstance(signatures, list) else []
    for name in (*names, title if isinstance(title, str) else ""):
        if match := _AI_SIGNATURE.search(name.strip()):
            return Author("".join(match["name"].split()), "ai", AI_SIGNATURE)
    return official()


def official() -> Author:
    """The author of a review that a venue's own record holds without a word on who wrote it."""
    return Author("human", "human", OFFICIAL)


def _by_name(named: str) -> Author:
    head, colon, rest = named.partition(":")
    word = head.strip().casefold()
    if word == "human":
        return Author("human", "human")
    if word == "ai" and (rest.strip() or not colon):
        return Author(rest.strip() or "ai", "ai")
    return Author(named or UNKNOWN, "unknown")


def _stated(kind: object) -> Kind | None:
    if kind is None or (isinstance(kind, str) and not kind.strip()):
        return None
    found = _KINDS.get(kind.strip().casefold()) if isinstance(kind, str) else None
    if found is None:
        raise DataError(f"kind {kind!r} is none.", hint=f"Kinds are {', '.join(_KINDS)}.")
    return found
