"""What moves while the model is waited for, on a terminal of its own and on a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.cli.progress import ProgressLine, Stages
from referee.prompts import prompt_ids
from referee.reports.activities import activity
from referee.reports.tally import Tally
from referee.runs import Event
from referee.schemas.usage import Usage
from tests.held import Held
from tests.support import FakeServer

from .eval_sets import write_set
from .processes import wait_for
from .refusals import on
from .terminal import Terminal

COUNT = re.compile(r"(\d+) of about (\d+) calls? · ")
SPINNING = re.compile(r"[\u2800-\u28ff] ")
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
PAID = Usage(calls=1, input_tokens=30_500, output_tokens=4_000, cost_usd=0.06)


class OnceDrawn(Held):
    """Holds each reply until its call was seen on the terminal: the line was drawn anew after the call came."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal: Terminal | None = None
        self._drawn: dict[int, int] = {}

    def may_go(self, number: int) -> bool:
        drawn = len(SPINNING.findall(self.terminal.shown)) if self.terminal else 0
        return super().may_go(number) or drawn >= self._drawn.setdefault(number, drawn) + 2


@pytest.fixture
def drawn() -> OnceDrawn:
    return OnceDrawn()


@pytest.fixture
def slow(drawn: OnceDrawn) -> Iterator[FakeServer]:
    with FakeServer(drawn, context_tokens=32_000) as running:
        yield running


@contextmanager
def running(folder: Path, *arguments: object, **how: Any) -> Iterator[Terminal]:
    terminal = Terminal(folder, arguments, **{"term": "xterm", **how})
    try:
        yield terminal
    finally:
        terminal.close()


def assert_it_moved(terminal: Terminal) -> None:
    """After the estimate bytes kept coming, the count went from few to all, and nothing is left of the line."""
    code, shown = terminal.ended()
    assert code == 0, shown
    _, _, after = shown.partition("Estimate")
    counts = [int(done) for done, _ in COUNT.findall(after)]
    assert counts == sorted(counts), counts
    assert len(counts) > 3, after
    assert counts[0] == 0, counts
    assert counts[-1] > 0, counts
    assert "@v" not in after
    # Hidden and shown as often: at the estimate, and again at the end.
    assert shown.count(HIDE) == shown.count(SHOW) == 2
    assert shown.rindex(SHOW) > shown.rindex(HIDE)
    result = shown[shown.rindex(SHOW) :]
    assert not COUNT.search(result)
    assert "\x1b[2K" in shown[shown.rindex(" of about ") :], "the line is taken away"


@pytest.mark.slow
def test_a_review_moves_after_its_question(workplace: Path, paper: Path, drawn: OnceDrawn, slow: FakeServer) -> None:
    with running(workplace, "review", paper, "--venue", "neurips-2025", *on(slow)) as terminal:
        wait_for(lambda: "Go on?" in terminal.shown or terminal.process.ended(0) is not None)
        drawn.terminal, asked_at = terminal, len(terminal.shown)
        terminal.press(b"y\n")
        assert_it_moved(terminal)
        after = terminal.shown[asked_at:]
    for words in (
        "reviewing the paper · ",
        "testing the points · ",
        "reading the finished review · ",
        " tokens in, ",
        " out · cost unknown · ",
        " s",
    ):
        assert words in after


@pytest.mark.slow
def test_an_evaluation_that_is_not_asked_about_moves(workplace: Path, drawn: OnceDrawn, slow: FakeServer) -> None:
    judged = ("--judge", "m", "--base-url", slow.base_url, "--metrics", "depth", "--no-cache", "--yes")
    with running(workplace, "eval", write_set(workplace / "set.jsonl"), *judged) as terminal:
        drawn.terminal = terminal
        assert_it_moved(terminal)
    assert " units" in terminal.shown


@pytest.mark.slow
def test_a_refinement_moves_on_a_narrow_terminal(workplace: Path, drawn: OnceDrawn, slow: FakeServer) -> None:
    asked = ("venue", "refine", "iclr-2025", "--rounds", 1, "--yes", *on(slow))
    with running(workplace, *asked, columns=60) as terminal:
        drawn.terminal = terminal
        assert_it_moved(terminal)
    plain = re.sub(r"\x1b\[[?\d]+[hlm]", "", terminal.shown)
    lines = [line for line in re.split(r"\r|\n|\x1b\[2K", plain) if SPINNING.match(line)]
    assert any(line[2:].startswith("revising the v") and " of about 36 calls · " in line for line in lines), lines
    assert max(map(len, lines)) <= 60


@pytest.mark.slow
def test_one_ctrl_c_says_what_is_waited_for_and_leaves_the_terminal_clean(
    workplace: Path, paper: Path, drawn: OnceDrawn, slow: FakeServer
) -> None:
    asked = ("review", paper, "--venue", "neurips-2025", "--yes", *on(slow), "--out", "run")
    with running(workplace, *asked) as terminal:
        wait_for(lambda: slow.log.calls(endpoint="chat") or terminal.process.ended(0) is not None)
        terminal.press(b"\x03")
        wait_for(lambda: "stopping: waiting for " in terminal.shown or terminal.process.ended(0) is not None)
        drawn.go.set()
        code, shown = terminal.ended()
    assert code == 130, shown
    assert "stopping: waiting for " in shown
    assert shown.rindex("interrupted: ") > shown.rindex(SHOW)
    assert shown.count(HIDE) == shown.count(SHOW)


@pytest.mark.slow
def test_a_dumb_terminal_gets_a_line_an_event(workplace: Path, paper: Path, drawn: OnceDrawn, slow: FakeServer) -> None:
    drawn.go.set()
    asked = ("review", paper, "--venue", "neurips-2025", "--strategy", "single", "--yes", *on(slow))
    with running(workplace, *asked, term="dumb") as terminal:
        code, shown = terminal.ended()
    assert code == 0, shown
    assert "\x1b" not in shown
    assert re.search(r"s  reviewing the paper: asked\n.*s  reviewing the paper: answered · 1 of about 1 call · ", shown)


def finished(spent: Usage) -> Event:
    return Event("call_finished", "writer: review/section@v1", prompt="review/section", spent=spent)


@pytest.mark.parametrize(
    ("command", "doing"),
    [
        (("data", "describe", "set.jsonl"), "counting · "),
        (("data", "validate", "set.jsonl"), "checking the rows · "),
        (("data", "convert", "set.jsonl", "--out", "there"), "converting · "),
        (("data", "split", "set.jsonl", "--out", "split.json"), "drawing the split · "),
        (("data", "load", "spot", ".", "--out", "there"), "reading the set · "),
        (("merge", "a", "b", "--out", "there"), "joining the shards · "),
        (("rescore", "there"), "computing anew · "),
    ],
)
def test_a_command_without_a_model_moves_too(workplace: Path, command: tuple[str, ...], doing: str) -> None:
    (workplace / "set.jsonl").write_text("{}\n")
    with running(workplace, *command) as terminal:
        _, shown = terminal.ended()
    assert doing in shown
    assert shown.count(HIDE) == shown.count(SHOW)
    assert shown.rindex(SHOW) > shown.rindex(HIDE)


def test_a_pipe_gets_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as line:
        line(Event("stage", "reading paper.pdf"))
        line.pause()
        line.tally.expected = 9
        line.resume()
        line(Event("call_started", "", prompt="review/section"))
        line(Event("call_started", "", prompt="review/section"))
        line(finished(PAID))
        line(finished(Usage(reused_calls=1)))
    said = [text.partition("s  ")[2] for text in capsys.readouterr().err.splitlines()]
    assert said == [
        "reading paper.pdf",
        "reading a section: asked",
        "reading a section: answered · 1 of about 9 calls · 30,500 tokens in, 4,000 out · $0.0600",
        "reading a section: answered before · 2 of about 9 calls · 30,500 tokens in, 4,000 out · $0.0600",
    ]


def test_calls_without_a_line_are_counted_beside_stages(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    line.tally.expected = 2
    stages = Stages(line)
    stages(Event("run", "runs/a"))
    stages(Event("stage", "1 of 3 papers"))
    for _ in range(3):
        stages(finished(PAID))
    stages(Event("stage", "3 of 3 papers"))
    said = [text.partition("s  ")[2] for text in capsys.readouterr().err.splitlines()]
    paid = "91,500 tokens in, 12,000 out · $0.18"
    assert said == ["1 of 3 papers", f"3 of 3 papers · 3 calls, about 2 estimated · {paid}"]
    assert stages.run_folder == "runs/a"


def test_what_is_downloaded_is_said_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as line:
        line(Event("fetch", "downloading MiniLM (minilm), 91 MB, to models/minilm"))
        line(Event("fetch", "model.onnx", done=10_000_000, total=100_000_000))
    said = [text.partition("s  ")[2] for text in capsys.readouterr().err.splitlines()]
    assert said == ["downloading MiniLM (minilm), 91 MB, to models/minilm", "model.onnx: 10% of 100 MB"]


def test_a_resumed_run_begins_with_what_it_has_consumed() -> None:
    tally = Tally()
    assert tally.phrases() == []
    tally.expected = 1
    tally.count(Event("run", "runs/a", PAID))
    assert tally.phrases(short=True) == ["0 of about 1 call", "30k tokens in, 4k out", "$0.0600"]
    tally.count(finished(Usage(calls=1, input_tokens=1, cost_usd=None)))
    assert tally.phrases() == ["1 of about 1 call", "30,501 tokens in, 4,000 out", "cost unknown"]


def test_every_prompt_is_told_in_words() -> None:
    for prompt in prompt_ids():
        words = activity(prompt)
        assert words != "asking the model", prompt
        assert "/" not in words
    assert activity("my/own") == "asking the model"
