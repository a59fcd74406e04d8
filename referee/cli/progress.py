"""Progress on stderr: one living line on a terminal, one line per stage and call elsewhere."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from referee.reports.activities import activity
from referee.reports.tally import Tally, fetched

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from referee.runs import Event

_PER_SECOND = 5
_MINUTE_S = 60


class ProgressLine:
    """Draws the events of a command. The living line is there from entry to exit, but for pauses.

    Args:
        doing: What the living line says before the first event.
    """

    def __init__(self, doing: str = "starting") -> None:
        self.tally = Tally()
        self.run_folder = ""
        self._started = time.monotonic()
        self._paused_at = self._started
        self._percent = -1
        self._waiting = 0
        self._said = doing
        self._live: Live | None = None
        self._console: Console | None = None
        if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
            from rich.console import Console

            self._console = Console(stderr=True)

    @property
    def living(self) -> bool:
        """Whether one line is drawn again and again."""
        return self._console is not None

    def __enter__(self) -> ProgressLine:
        self.resume()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def pause(self) -> None:
        """Take the living line away, for a question or the result; the clock stands still."""
        if self._live:
            self._live.stop()
            self._live = None
            self._paused_at = time.monotonic()

    def resume(self) -> None:
        """Draw the living line (again)."""
        if self._console is None or self._live:
            return
        from rich.live import Live
        from rich.spinner import Spinner

        self._started += time.monotonic() - self._paused_at
        spinner = Spinner("dots")

        def drawn() -> RenderableType:
            spinner.update(text=self._living_text())
            return spinner

        # Results go to stdout, which may be a file: it is left alone.
        self._live = Live(
            console=self._console,
            get_renderable=drawn,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
        )
        self._live.start()

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        self.count(event)
        text = self._told(event)
        if not text:
            return
        if self._console is None:
            self._print(" · ".join([text, *self._phrases_beside(event)]))
        elif event.kind in ("retry", "note") or (event.kind == "fetch" and not event.total):  # what is to be fetched
            self._console.print(self._timed(text), markup=False, highlight=False)
        elif event.kind != "call_finished":
            self._said = text

    def count(self, event: Event) -> None:
        """Count one event without a line of its own."""
        self.tally.count(event)
        if event.kind == "run":
            self.run_folder = event.text
        if event.kind == "call_started":
            self._waiting += 1
        if event.kind == "call_finished":
            self._waiting = max(self._waiting - 1, 0)  # a reply from the cache was never asked for

    def _told(self, event: Event) -> str:
        """The event in a user's words; nothing where it gets no line."""
        match event.kind:
            case "run":
                return ""
            case "fetch" if event.total:
                return self._fetched(event)
            case "call_started":
                words = activity(event.prompt)
                if self.living:
                    return words
                # Several calls at once: a line for each that ends is enough.
                return f"{words}: asked" if self._waiting == 1 else ""
            case "call_finished":
                reused = event.spent is not None and event.spent.reused_calls
                return f"{activity(event.prompt)}: {'answered before' if reused else 'answered'}"
            case _:
                return event.text

    def _fetched(self, event: Event) -> str:
        percent = 100 * event.done // event.total
        if not self.living and percent // 10 == self._percent // 10:
            return ""
        self._percent = percent
        return fetched(event)

    def _phrases_beside(self, event: Event) -> list[str]:
        counts = event.kind == "call_finished" or (event.kind == "stage" and self.tally.done)
        return self.tally.phrases() if counts else []

    def _print(self, text: str) -> None:
        print(self._timed(text), file=sys.stderr, flush=True)

    def _timed(self, text: str) -> str:
        from referee.secrets import scrub

        return f"{time.monotonic() - self._started:6.1f}s  {scrub(text)}"

    def _living_text(self) -> RenderableType:
        """One line: where the terminal is too narrow the counts are put shortly, then the stage is cut."""
        from rich.text import Text

        from referee.secrets import scrub

        assert self._console is not None, "only a terminal has a living line"
        room = self._console.width - len("⠋ ")
        said, elapsed = scrub(self._said), _lasting(time.monotonic() - self._started)
        calls_and_money = self.tally.phrases()[::2]
        for phrases in (self.tally.phrases(), self.tally.phrases(short=True), calls_and_money):
            beside = "".join(f" · {phrase}" for phrase in [*phrases, elapsed])
            if len(said) + len(beside) <= room:
                break
        else:
            said = said[: max(room - len(beside) - 1, 0)] + "…"
        return Text(said + beside, no_wrap=True, overflow="ellipsis", end="")


def _lasting(seconds: float) -> str:
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    return f"{seconds // _MINUTE_S:.0f} min {seconds % _MINUTE_S:.0f} s"


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
