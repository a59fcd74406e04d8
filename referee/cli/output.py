"""What the command line prints of errors and usage, and how it wraps text."""

from __future__ import annotations

import textwrap

from referee.errors import RefereeError
from referee.reports.plain import one_line
from referee.reports.usage_text import tokens_in
from referee.schemas.usage import Usage

_WIDTH = 100


def error_lines(word: str, error: Exception) -> list[str]:
    """An error as a message and, on lines of their own, its next step and the run it can be resumed from."""
    from referee.secrets import scrub

    if not isinstance(error, RefereeError):
        return [f"{word}: {scrub(str(error))}"]
    lines = [f"{word}: {scrub(error.message)}"]
    if error.hint:
        lines.append(f"  next: {scrub(error.hint)}")
    if run := error.ids.get("run"):
        lines.append(f"  run:  {run} (continue with --resume {run})")
    return lines


def describe_usage(usage: Usage) -> str:
    """Calls, tokens and cost in one phrase; an unknown price is said."""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    reused = f" (+{usage.reused_calls} reused)" if usage.reused_calls else ""
    calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}{reused}"
    return f"{calls}, {tokens_in(usage)}, {usage.output_tokens:,} out, {cost}"


def wrapped(text: str, indent: str = "") -> str:
    """Paragraphs wrapped for reading."""
    return "\n".join(
        textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=indent) for line in text.splitlines()
    )


def printable(text: str) -> str:
    """The text on one line, without secrets and control characters; an indent of two blanks stays."""
    from referee.secrets import scrub

    return f"{'  ' if text.startswith('  ') else ''}{one_line(scrub(text))}"
