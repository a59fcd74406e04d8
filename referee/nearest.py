"""The name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.5) -> list[str]:
    """The known names most like one, whatever its case; none where none is like it (difflib's ratio)."""
    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.lower(), one)
    return [folded[found] for found in difflib.get_close_matches(name.lower(), folded, n=most, cutoff=cutoff)]


def did_you_mean(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.5) -> str:
    """``Did you mean 'this'?`` with a blank behind it; nothing where no name is near."""
    near = nearest(name, known, most=most, cutoff=cutoff)
    return f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
