"""Computations of a review: what a program is, what became of it, and the tables that it can ask for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

ProgramStatus = Literal["agrees", "differs", "failed", "refused", "not_run"]


class Program(Frozen):
    """A program that a reviewer wrote for one point; what it holds is not trusted."""

    id: str
    code: str = Field(description="At most 60 lines of Python; its last line is the number")
    expects: str = Field(description="The value with its digits (11.8), a comparison (> 0.05), or True or False")
    otherwise: str = Field(default="", description="What the point should say if the result differs")


class ProgramOutcome(Frozen):
    """What became of a program.

    ``agrees`` and ``differs`` compare its value with what it expects. ``failed``: it ran and gave no value that can be
    compared. ``refused``: it was not allowed to run. ``not_run``: nothing could run it. ``value`` is a number, True or
    False as printed; ``reason`` is one sentence of ours. ``doubtful`` lists the labels of the tables it asked for that
    may have been read wrongly.
    """

    id: str
    status: ProgramStatus
    value: str | None = None
    reason: str
    seconds: float = Field(ge=0)
    doubtful: tuple[str, ...] = ()


class Computation(Frozen):
    """A program beside a point, and what became of it."""

    program: Program
    outcome: ProgramOutcome


class TableRows(Frozen):
    """The rows of a table as a reviewer sees them; ``doubtful`` says that it may have been read wrongly."""

    rows: tuple[tuple[str, ...], ...]
    doubtful: bool = False
