"""Phrases that several commands print: what an estimate comes to, and text of others made safe for a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.schemas.estimate import Estimate


def amount(of: Estimate, *, most_calls: int = 0) -> str:
    """An estimate in one phrase; ``most_calls`` is named where it is above the typical number."""
    if not of.calls:
        return "no call"
    most = f" (at most {most_calls:,})" if most_calls > of.calls else ""
    calls = f"about {several(of.calls, 'call')}{most}"
    return f"{calls}, {of.input_tokens:,} tokens in and {of.output_tokens:,} out, {cost(of.cost_usd)}"


def several(number: int, word: str) -> str:
    """A number of things: ``1 review``, ``2,000 reviews``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def cost(usd: float | None) -> str:
    """An expected cost; an unknown price is said."""
    return "cost unknown (no price for this model)" if usd is None else f"about ${usd:.4f}"


def printable(text: str) -> str:
    """The text on one line, without secrets and control characters; an indent of two blanks stays."""
    from referee.reports.plain import one_line
    from referee.secrets import scrub

    indent = "  " if text.startswith("  ") else ""
    return f"{indent}{one_line(scrub(text))}"
