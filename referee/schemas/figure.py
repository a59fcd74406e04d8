"""Figures and tables of a paper as pictures: what was cut out, from where, what could not be, and what was seen."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.paper import Box

FigureKind = Literal["figure", "table"]
FiguresAsked = Literal["auto", "none", "pages"]


class Figure(Frozen):
    """One figure or table that the paper's captions name.

    ``page`` counts from 1 and ``box`` is in PDF points from the page's top left corner; both are null for formats
    without pages. ``images`` are file names in the folder the pictures were written to: one, or several where a figure
    is made of several files, or none, and then ``problem`` says why. ``whole_page`` says that no place could be told
    for certain: the picture is the page's, ``box`` is null and ``problem`` gives the reason. ``mentions`` are the
    sentences of the text that refer to it, as read.
    """

    id: str
    kind: FigureKind
    label: str
    caption: str
    block_id: str
    page: int | None = None
    box: Box | None = None
    images: tuple[str, ...] = ()
    whole_page: bool = False
    problem: str = ""
    mentions: tuple[str, ...] = ()


class Figures(Frozen):
    """The figures and tables of one file, in order of reading.

    ``left_out`` says what a limit kept out, one sentence each.
    """

    schema_version: Literal[1] = 1
    paper_id: str = Field(pattern=r"^[0-9a-f]{64}$")
    items: tuple[Figure, ...] = ()
    left_out: tuple[str, ...] = ()


class SeenFigure(Frozen):
    """A figure or table that a model was shown, and what it says that the picture shows, as read by eye."""

    label: str
    kind: FigureKind
    page: int | None = None
    box: Box | None = None
    images: tuple[str, ...]
    whole_page: bool = False
    shows: str = ""


class UnseenFigure(Frozen):
    """A figure or table that no model was shown, and why."""

    label: str
    reason: str


class FigureReading(Frozen):
    """What of a paper's figures and tables was looked at as pictures.

    ``asked`` is the setting; ``reason`` says how it is known that the model takes pictures, or why none was shown.
    ``serves`` is how the figures that were seen serve a reader, in the model's words; what is wrong with them are
    points of the review. ``left_out`` is what a limit kept out.
    """

    asked: FiguresAsked
    model: str = ""
    reason: str
    seen: tuple[SeenFigure, ...] = ()
    unseen: tuple[UnseenFigure, ...] = ()
    serves: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Figures and tables that there were to look at."""
        return len(self.seen) + len(self.unseen)
