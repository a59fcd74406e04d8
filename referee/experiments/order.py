"""The order of the units: paper by paper, all arms of one before the next, each paper beginning with another arm.

Wherever it is broken off, any two arms differ by at most one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from referee.experiments.units import Unit


def ordered(units: Sequence[Unit], papers: Sequence[str], arms: Sequence[str]) -> list[Unit]:
    """The units in the order in which they are made: by paper, then seed, then arm from a start that moves on."""
    place = {arm: number for number, arm in enumerate(arms)}
    number_of = {paper: number for number, paper in enumerate(papers)}

    def key(unit: Unit) -> tuple[int, int, int]:
        paper = number_of[unit.paper]
        return paper, unit.seed, (place[unit.arm] - paper) % len(arms)

    return sorted(units, key=key)


def blocks(units: Sequence[Unit], papers: Sequence[str], arms: Sequence[str]) -> list[tuple[str, tuple[Unit, ...]]]:
    """The papers with all their units, in order."""
    in_order = ordered(units, papers, arms)
    return [(paper, tuple(group)) for paper, group in groupby(in_order, key=lambda unit: unit.paper)]
