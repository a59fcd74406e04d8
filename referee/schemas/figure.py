"""Figures and tables of a paper as pictures: what was cut out, from where, and what could not be."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.paper import Box

FigureKind = Literal["figure", "table"]


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
