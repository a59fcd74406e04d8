"""Figures as one Markdown table."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_HEAD = ("measure", "figure", "min to max", "beside", "ratio")


@dataclass(frozen=True)
class Row:
    """One figure, what it stands beside, and their ratio; what a figure does not have stays empty."""

    measure: str
    figure: str
    spread: str = ""
    beside: str = ""
    ratio: float | None = None

    def cells(self) -> tuple[str, ...]:
        """The row's texts, in the order of the head."""
        return self.measure, self.figure, self.spread, self.beside, "" if self.ratio is None else f"{self.ratio:.2f}"


def timed_row(measure: str, seconds: Sequence[float], beside: str = "", ratio: float | None = None) -> Row:
    """A row for the median of some seconds; their least and most say how quiet the machine was."""
    spread = f"{in_seconds(min(seconds))} to {in_seconds(max(seconds))}"
    return Row(measure, in_seconds(statistics.median(seconds)), spread, beside, ratio)


def in_seconds(seconds: float) -> str:
    """Seconds from one upwards, milliseconds below; a decimal where they are few."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{1000 * seconds:.{0 if seconds >= 0.01 else 1}f} ms"


def in_mib(size: float) -> str:
    """Bytes as MiB."""
    return f"{size / 2**20:.0f} MiB"


def markdown(rows: Iterable[Row]) -> str:
    """The table, padded so that it reads well as text too."""
    lines = [_HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    head, *body = (
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )
    rule = "| " + " | ".join("-" * (width - 1) + (":" if column else "-") for column, width in enumerate(widths)) + " |"
    return "\n".join([head, rule, *body])
