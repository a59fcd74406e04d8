"""The question before money is spent, on a terminal of its own: one press of Ctrl-C is enough to leave."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer

from referee.api import ReviewEstimate
from referee.cli.confirm import Confirmation
from referee.cli.progress import ProgressLine
from referee.reports.estimates import estimate_line, review_estimate_lines
from tests.support import FakeServer

from .processes import wait_for
from .refusals import on, visible
from .terminal import Terminal

QUESTION = "Go on?"
CTRL_C, CTRL_D = b"\x03", b"\x04"


@contextmanager
def asked(folder: Path, *arguments: object) -> Iterator[Terminal]:
    """A command that waits at its question."""
    terminal = Terminal(folder, arguments)
    try:
        wait_for(lambda: QUESTION in terminal.shown or terminal.process.ended(0) is not None)
        assert QUESTION in terminal.shown, terminal.shown
        yield terminal
    finally:
        terminal.close()


def assert_left_alone(folder: Path, server: FakeServer) -> None:
    assert server.log.calls(endpoint="chat") == []
    assert not {name for name in visible(folder) if name.startswith(("run", "referee-runs"))}


def _ctrl_c(terminal: Terminal) -> None:
    terminal.press(CTRL_C)


def _sigterm(terminal: Terminal) -> None:
    terminal.process.send(signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("leave", [_ctrl_c, _sigterm])
def test_one_press_ends_a_review(
    workplace: Path, paper: Path, server: FakeServer, leave: Callable[[Terminal], None]
) -> None:
    given = ("review", paper, "--venue", "neurips-2025", "--strategy", "single", *on(server), "--out", "run")
    with asked(workplace, *given) as terminal:
        leave(terminal)
        code, shown = terminal.ended()
    assert code == 130, shown
    assert shown.count("interrupted: nothing was sent or written.") == 1
    assert "Estimate: 1 call, " in shown
    assert "Traceback" not in shown
    assert_left_alone(workplace, server)


@pytest.mark.slow
def test_one_press_ends_a_refinement(workplace: Path, server: FakeServer) -> None:
    with asked(workplace, "venue", "refine", "neurips-2025", *on(server), "--out", "run") as terminal:
        terminal.press(CTRL_C)
        code, shown = terminal.ended()
    assert code == 130, shown
    assert "Estimate: at most " in shown
    assert "interrupted: nothing was sent or written." in shown
    assert_left_alone(workplace, server)


@pytest.mark.slow
def test_the_end_of_the_input_is_a_no(workplace: Path, paper: Path, server: FakeServer) -> None:
    given = ("review", paper, "--venue", "neurips-2025", "--strategy", "single", *on(server), "--out", "run")
    with asked(workplace, *given) as terminal:
        terminal.press(CTRL_D)
        code, shown = terminal.ended()
    assert code == 2, shown
    assert "error: not confirmed: nothing was sent or written." in shown
    assert_left_alone(workplace, server)


def plan(cost: float | None, calls: int = 2) -> ReviewEstimate:
    return ReviewEstimate(
        strategy="single",
        models={"writer": "m"},
        calls=calls,
        input_tokens=1_000,
        output_tokens=200,
        cost_usd=cost,
        notes=("two notes",),
    )


@pytest.fixture
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Somebody is there; the questions that were put are kept, and answered with no."""
    asked_for: list[str] = []

    def answered(question: str, **_: object) -> bool:
        asked_for.append(question)
        return False

    monkeypatch.setattr(typer, "confirm", answered)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return asked_for


@pytest.mark.parametrize(
    ("cost", "calls", "yes", "goes_on"),
    [
        (0.5, 2, False, False),
        (None, 2, False, False),
        (0.5, 2, True, True),
        (0.0, 2, False, True),
        (None, 0, False, True),
    ],
)
def test_it_is_asked_only_where_money_may_be_at_stake(
    on_a_terminal: list[str], cost: float | None, calls: int, yes: bool, goes_on: bool
) -> None:
    confirmation = Confirmation(ProgressLine(), yes, review_estimate_lines)
    assert confirmation(plan(cost, calls)) is goes_on
    assert on_a_terminal == ([] if goes_on else [QUESTION])


def test_nobody_there_is_not_asked(on_a_terminal: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert Confirmation(ProgressLine(), False, review_estimate_lines)(plan(None))
    assert on_a_terminal == []


def test_what_is_shown_is_the_estimate_and_the_notes_without_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", "a-planted-key-0451")
    lines = [*review_estimate_lines(plan(0.25)), "the server said a-planted-key-0451"]
    Confirmation(ProgressLine(), True, lambda _: lines)(plan(0.25))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "Estimate: 2 calls, about 1,000 tokens in and 200 out, about $0.2500 (m).",
        "Note: two notes.",
        "the server said [key removed]",
    ]


def test_models_of_several_roles_are_told_apart() -> None:
    two = ReviewEstimate(
        strategy="sections",
        models={"writer": "b", "checker": "a", "mapper": "b"},
        calls=1,
        input_tokens=1,
        output_tokens=1,
        cost_usd=None,
    )
    assert estimate_line(two).endswith("cost unknown (no price for this model) (a: checker; b: writer, mapper)")


@pytest.mark.slow
def test_a_limit_below_the_estimate_is_said_before_the_question(
    workplace: Path, paper: Path, server: FakeServer
) -> None:
    given = ("review", paper, "--venue", "neurips-2025", *on(server), "--max-tokens", 15_000, "--out", "run")
    with asked(workplace, *given) as terminal:
        terminal.press(CTRL_D)
        code, shown = terminal.ended()
    assert code == 2, shown
    assert "Note: the limit of 15,000 tokens covers about 1 in " in shown.partition(QUESTION)[0]
    assert_left_alone(workplace, server)
