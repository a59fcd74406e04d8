"""What is shown before the first call, and the question where money may be at stake and somebody is there to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import typer

from referee.cli.phrases import cost

if TYPE_CHECKING:
    from referee.api import ReviewEstimate
    from referee.cli.progress import ProgressLine


class Priced(Protocol):
    """An estimate, as far as it decides whether to ask; the cost is null where a price is unknown."""

    @property
    def calls(self) -> int: ...  # noqa: D102

    @property
    def cost_usd(self) -> float | None: ...  # noqa: D102


class Confirmation:
    """Shows an estimate, and asks whether to go on; it is what the public functions take as ``confirm``.

    Args:
        progress: Its living line is taken away first, and goes on with a yes; it is told how many calls to expect.
        yes: Whether the question was answered beforehand.
        lines: What is printed, from all that the public function hands over; the estimate is the first of it.
    """

    def __init__(self, progress: ProgressLine, yes: bool, lines: Callable[..., Iterable[str]]) -> None:
        self._progress = progress
        self._yes = yes
        self._lines = lines

    def __call__(self, plan: Priced, *more: Any) -> bool:
        """Whether to go on; the end of the input, at the question, means no.

        Raises:
            Interrupted: Ctrl-C or SIGTERM came at the question.
        """
        from referee.secrets import scrub

        self._progress.pause()
        for line in self._lines(plan, *more):
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


def plan_lines(plan: ReviewEstimate, *, words: str = "Estimate: ") -> list[str]:
    """The estimate after some words, the one that was not chosen, and the notes."""
    lines = [f"{words}{estimate_line(plan)}."]
    if plan.other:
        lines.append(f"With --preset {plan.other.preset}: {estimate_line(plan.other)}.")
    return [*lines, *(f"Note: {note}." for note in plan.notes)]


def estimate_line(plan: ReviewEstimate) -> str:
    """Calls, tokens, cost and models of a plan in one phrase."""
    calls = f"{plan.calls} call{'' if plan.calls == 1 else 's'}"
    tokens = f"about {plan.input_tokens:,} tokens in and {plan.output_tokens:,} out"
    return f"{calls}, {tokens}, {cost(plan.cost_usd)} ({_by_model(plan.models)})"


def _by_model(models: Mapping[str, str]) -> str:
    """Which model plays which roles: its name alone where it plays all."""
    if len(set(models.values())) == 1:
        return next(iter(models.values()))
    return "; ".join(
        f"{model}: {', '.join(r for r in models if models[r] == model)}" for model in sorted(set(models.values()))
    )
