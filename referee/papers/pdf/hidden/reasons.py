"""Why a reader cannot see a character, in words that accuse nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.papers.pdf.hidden.contrast import FAINT, LARGE_PT, UNSEEN, Char
from referee.papers.pdf.hidden.objects import Area, Bounds, TextObject
from referee.papers.pdf.hidden.suspects import TINY_PT
from referee.schemas.paper import Certainty

_BARELY = 15.0
_NO_ALPHA = 13
_SPECK_PT = 1.0


@dataclass(frozen=True)
class Verdict:
    """What hides a character, and how sure that is. ``unreadable`` is false where it may still be made out."""

    reason: str
    certainty: Certainty
    unreadable: bool = True


def judge(char: Char, areas: Sequence[Area], page_box: Bounds) -> Verdict | None:
    """Why the character cannot be seen, or None when it can."""
    text = char.object
    contrast = char.contrast * (2 if text.size >= LARGE_PT else 1)
    if not char.inside or _is_outside(char.bounds, page_box):
        return Verdict("lies outside the visible page", "high")
    if text.mode == 3:
        return Verdict("is set in the invisible text mode", "high")
    if contrast < UNSEEN:
        return Verdict(_unseen(char, areas), "high")
    if text.size < TINY_PT:
        return Verdict(f"is set smaller than {TINY_PT:g} points", "high" if text.size < _SPECK_PT else "medium")
    if contrast < FAINT:
        return Verdict("has nearly the colour of what is behind it", "medium")
    if contrast < _BARELY:
        return Verdict("has nearly the colour of what is behind it", "low", unreadable=False)
    return None


def _unseen(char: Char, areas: Sequence[Area]) -> str:
    text = char.object
    if text.mode == 7:
        return "is used as a clipping path only"
    if text.color is not None and text.color[3] < _NO_ALPHA:
        return "is fully transparent"
    if text.size < TINY_PT:
        return f"is set smaller than {TINY_PT:g} points"
    if "OC" in text.marks and char.contrast == 0:
        return "belongs to a layer that is switched off, or is hidden in another way"
    if text.clipped and char.contrast == 0:
        return "is clipped away"
    if char.contrast == 0 and any(_covers(area, text, char.bounds) for area in areas):
        return "is covered by an image or a shape"
    if char.bounds[3] - char.bounds[1] <= 0 or char.bounds[2] - char.bounds[0] <= 0:
        return "has signs without any ink"
    return "has the colour of what is behind it"


def _covers(area: Area, text: TextObject, bounds: Bounds) -> bool:
    x, y = (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2
    x0, y0, x1, y1 = area.bounds
    return area.order > text.order and x0 <= x <= x1 and y0 <= y <= y1


def _is_outside(bounds: Bounds, page_box: Bounds) -> bool:
    x, y = (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2
    return not (page_box[0] <= x <= page_box[2] and page_box[1] <= y <= page_box[3])
