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

        Where a model would read too little of the paper, the answer is no unless a person says otherwise.

        Raises:
            Interrupted: Ctrl-C or SIGTERM came at the question.
        """
        from referee.schemas.estimate import ReviewEstimate
        from referee.secrets import scrub

        self._progress.pause()
        for line in self._lines(plan):
            typer.echo(scrub(line), err=True)
        attended = sys.stdin.isatty() and sys.stderr.isatty()
        refusal = plan.refusal if isinstance(plan, ReviewEstimate) else None
        if refusal is not None and not self._yes:
            if not attended:
                return False
            typer.echo(scrub(f"{refusal.message[:1].upper()}{refusal.message[1:]}"), err=True)
            if not _answer(self._progress.run_folder, "Review only what fits?", default=False):
                return False
        else:
            free = not plan.calls or plan.cost_usd == 0
            asks = not (self._yes or free) and attended
            if asks and not _answer(self._progress.run_folder):
                return False
        self._progress.tally.expected = plan.calls
        self._progress.resume()
        return True


def _answer(run_folder: str, question: str = "Go on?", *, default: bool = True) -> bool:
    from referee.cli.interrupt import one_press_ends

    with one_press_ends(run_folder):
        try:
            return typer.confirm(question, default=default, err=True)
        except typer.Abort:
            typer.echo(err=True)
            return False
