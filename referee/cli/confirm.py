"""What is shown before the first call, and the question where money may be at stake and somebody is there to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from referee.cli.progress import ProgressLine
    from referee.schemas.estimate import Estimate


class Confirmation:
    """Shows an estimate, and asks whether to go on; it is what the public functions take as ``confirm``.

    Args:
        progress: Its living line is taken away first, and goes on with a yes; it is told how many calls to expect.
        yes: Whether the question was answered beforehand.
        lines: What is printed, from the estimate.
    """

    def __init__(self, progress: ProgressLine, yes: bool, lines: Callable[[Any], Iterable[str]]) -> None:
        self._progress = progress
        self._yes = yes
        self._lines = lines

    def __call__(self, plan: Estimate) -> bool:
        """Whether to go on; the end of the input, at the question, means no.

        Raises:
            Interrupted: Ctrl-C or SIGTERM came at the question.
        """
        from referee.secrets import scrub

        self._progress.pause()
        for line in self._lines(plan):
            typer.echo(scrub(line), err=True)
        free = not plan.calls or plan.cost_usd == 0
        asks = not (self._yes or free) and sys.stdin.isatty() and sys.stderr.isatty()
        if asks and not _answer(self._progress.run_folder):
            return False
        self._progress.tally.expected = plan.calls
        self._progress.resume()
        return True


def _answer(run_folder: str) -> bool:
    from referee.cli.interrupt import one_press_ends

    with one_press_ends(run_folder):
        try:
            return typer.confirm("Go on?", default=True, err=True)
        except typer.Abort:
            typer.echo(err=True)
            return False
