"""What the command line prints: messages to stderr, results to stdout; colour and movement only on a terminal."""

from __future__ import annotations

import sys
import textwrap
import time
from types import TracebackType
from typing import TYPE_CHECKING

from referee.errors import RefereeError
from referee.reports.usage_text import tokens_in
from referee.schemas.usage import Usage

if TYPE_CHECKING:
    from rich.status import Status

    from referee.runs import Event

_WIDTH = 100


def error_lines(word: str, error: Exception) -> list[str]:
    """An error as a message and, on lines of their own, its next step and the run it can be resumed from."""
    from referee.llm.secrets import scrub

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


class ProgressLine:
    """Progress on stderr: one living line on a terminal, one line per stage and call elsewhere."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._usage = Usage()
        self._status: Status | None = None
        self._percent = -1
        self._waiting = 0
        self.run_folder = ""
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")

    def __enter__(self) -> ProgressLine:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def pause(self) -> None:
        """Take the living line away, for a question or the result."""
        if self._status:
            self._status.stop()

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        if event.kind == "run":
            self.run_folder = event.text
            return
        self._usage = event.usage or self._usage
        text = event.text
        if event.kind == "fetch" and event.total:
            percent = 100 * event.done // event.total
            if not self._status and percent // 10 == self._percent // 10:
                return
            self._percent = percent
            text = f"{event.text}: {percent}% of {event.total / 1e6:.0f} MB"
        if event.kind == "call_started":
            self._waiting += 1
            if not self._status and self._waiting > 1:
                return  # several calls at once: a line for each that ends is enough
        if event.kind == "call_finished":
            self._waiting = max(self._waiting - 1, 0)  # a reply from the cache was never asked for
        from referee.llm.secrets import scrub

        line = f"{time.monotonic() - self._started:6.1f}s  {scrub(text)}"
        if event.kind == "call_started":
            line += "  asked"
        if event.kind == "call_finished":
            line += f"  answered [{describe_usage(self._usage)}]"
        if self._status is None:
            print(line, file=sys.stderr, flush=True)
            return
        if event.kind in ("retry", "note"):
            self._status.console.print(line, markup=False, highlight=False)
        from rich.markup import escape

        self._status.update(escape(line))
