"""Progress of commands that make too many calls to print each: they are counted, and stages and notes are told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.cli.progress import ProgressLine
    from referee.runs import Event


class Stages:
    """Shows every event but those of calls, which it counts."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line

    @property
    def run_folder(self) -> str:
        """Where the run lies; empty before there is a folder."""
        return self._line.run_folder

    def __call__(self, event: Event) -> None:
        """Draw one event, or count it if it is of a call."""
        if event.kind in ("call_started", "call_finished"):
            self._line.count(event)
        else:
            self._show(event)

    def _show(self, event: Event) -> None:
        self._line(event)


class RarerStages(Stages):
    """Where lines pile up, in a file or a pipe, they come the more rarely the longer the run has been going on."""

    def __init__(self, line: ProgressLine) -> None:
        super().__init__(line)
        self._started = self._said = time.monotonic()

    def _show(self, event: Event) -> None:
        now = time.monotonic()
        counts = event.kind == "stage" and event.total > event.done
        if counts and not self._line.living and now - self._said < (now - self._started) / 10:
            return
        self._said = now
        super()._show(event)
