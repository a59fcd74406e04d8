"""The text layer of a scanned page: text behind or in front of a page-wide picture that shows the same lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from referee.papers.pdf.hidden.contrast import UNSEEN, Char
from referee.papers.pdf.hidden.objects import Bounds, PageObjects

_PAGE_SHARE = 0.7
_INVISIBLE_SHARE = 0.9
_ON_INK = 0.3


def split_ocr_layer(
    chars: Sequence[Char], objects: PageObjects, page_box: Bounds, printed: int
) -> tuple[list[Char], list[Char]]:
    """The characters that belong to a scan's text layer, and the others.

    A page has such a layer when a picture covers at least 70% of it and at least 90% of its characters cannot be seen.
    A text object belongs to it when the picture shows ink under at least 30% of its characters; what lies over blank
    paper does not.

    Args:
        chars: The page's measured characters.
        objects: What it paints.
        page_box: What a viewer shows of it.
        printed: How many inked characters the page has in all.
    """
    unseen = [char for char in chars if char.contrast < UNSEEN]
    if not unseen or len(unseen) < _INVISIBLE_SHARE * printed or not _has_page_image(objects, page_box):
        return [], list(chars)
    by_object: dict[int, list[Char]] = defaultdict(list)
    for char in unseen:
        by_object[char.object.address].append(char)
    layer = {address for address, own in by_object.items() if sum(c.inked for c in own) >= _ON_INK * len(own)}
    ours = [char for char in chars if char.object.address in layer]
    return ours, [char for char in chars if char.object.address not in layer]


def _has_page_image(objects: PageObjects, page_box: Bounds) -> bool:
    page = (page_box[2] - page_box[0]) * (page_box[3] - page_box[1])
    return any(area.image and _shared(area.bounds, page_box) >= _PAGE_SHARE * page for area in objects.areas)


def _shared(one: Bounds, other: Bounds) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)
