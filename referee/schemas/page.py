"""A page of a PDF as it is shown beside a review: its picture, and its lines where they stand."""

from __future__ import annotations

from referee.schemas.base import Frozen
from referee.schemas.paper import Box


class PageLine(Frozen):
    """A printed line; text that the page hides is in none."""

    text: str
    box: Box


class PageImage(Frozen):
    """One page.

    ``number`` counts from 1; ``width`` and ``height`` are in PDF points; ``image`` is the file's name.
    """

    number: int
    width: float
    height: float
    image: str
    lines: tuple[PageLine, ...] = ()


class PageImages(Frozen):
    """All pages of one file, in order: ``pages.json``."""

    paper_id: str
    pages: tuple[PageImage, ...]


class Highlight(Frozen):
    """A place of a page that is marked in a copy of the PDF, and the note that stands there.

    ``height`` is the page's, in PDF points: boxes have their origin at its top left. ``weight`` decides the colour.
    ``pinned``: the note belongs to no words of the page.
    """

    page: int
    height: float
    boxes: tuple[Box, ...]
    title: str
    note: str
    weight: str
    pinned: bool = False


class Highlights(Frozen):
    """What is marked in one copy, in the order of its pages."""

    items: tuple[Highlight, ...]
