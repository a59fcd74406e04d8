"""How much work a LaTeX paper may cause; a source that wants more is refused, because it would never end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LatexLimits:
    r"""Bounds for reading one paper.

    Attributes:
        characters: Of the source after all inputs are joined, and again after macros are expanded.
        inputs: Files read by ``\input`` and its like, counted each time.
        file_bytes: Of one file beside the main one.
        expansions: Uses of the paper's own macros.
        macro_depth: Macros inside macros.
        nesting: Braces and environments inside each other.
    """

    characters: int = 4_000_000
    inputs: int = 500
    file_bytes: int = 20 * 2**20
    expansions: int = 60_000
    macro_depth: int = 40
    nesting: int = 80


LIMITS = LatexLimits()
