"""A review whose model is a folder of answers: asked, answered, stopped, resumed and replayed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.answers import answer_questions, answering

from .command import Referee
from .processes import command, ended, finished, wait_for


@pytest.mark.slow
def test_a_review_is_answered_from_files_and_replays(referee: Referee, paper: Path, workplace: Path) -> None:
    review = ("review", paper, "--venue", "iclr-2024", "--strategy", "single", "--model", "answers:box", "--yes")
    with answering(workplace / "box"):
        first = referee(*review, "--out", "first", "--max-cost", 0.01)
    assert first.code == 0, first.err
    assert "1 question waits: box/0001.ask.md; write the answer as box/0001.answer.txt" in first.err
    assert "from what a person or a language model answered (answers:box)" in first.out
    assert "estimates" in first.err + first.out
    kept = {path.name: path.read_bytes() for path in (workplace / "box").iterdir()}
    again = referee(*review, "--out", "second")
    assert again.code == 0, again.err
    assert "waits" not in again.err
    assert {path.name: path.read_bytes() for path in (workplace / "box").iterdir()} == kept
    one, two = (json.loads((workplace / run / "review.json").read_text()) for run in ("first", "second"))
    assert one["fields"] == two["fields"]


def test_an_answer_that_was_changed_counts_in_the_next_run(referee: Referee, paper: Path, workplace: Path) -> None:
    review = ("review", paper, "--venue", "iclr-2024", "--strategy", "single", "--model", "answers:box", "--yes")
    with answering(workplace / "box"):
        assert referee(*review).code == 0
    answer = workplace / "box" / "0001.answer.txt"
    value = json.loads(answer.read_text())
    value["summary"] = "Somebody thought again."
    answer.write_text(json.dumps(value))
    assert "Somebody thought again." in referee(*review).out


@pytest.mark.slow
def test_a_run_that_waits_is_stopped_by_one_ctrl_c_and_resumed(paper: Path, workplace: Path) -> None:
    given = ("--venue", "iclr-2024", "--strategy", "sections", "--model", "answers:box", "--yes", "--out", "run")
    with command(workplace, "review", paper, *given) as process:
        wait_for(lambda: (workplace / "box" / "0002.ask.md").exists())
        process.send(signal.SIGINT)
        stopped = ended(process)
    assert stopped.returncode == 130
    assert "what was answered so far is kept" in stopped.stderr
    assert answer_questions(workplace / "box") == 2
    with answering(workplace / "box"):
        resumed = finished(workplace, "review", "--resume", "run", "--yes")
    assert resumed.returncode == 0, resumed.stderr
    assert "0001.ask.md" not in resumed.stderr
    assert "0003.ask.md" in resumed.stderr


def test_a_folder_that_is_none_of_answers_is_refused_before_anything(
    referee: Referee, paper: Path, workplace: Path
) -> None:
    (workplace / "papers").mkdir()
    (workplace / "papers" / "mine.md").write_text("mine")
    given = ("review", paper, "--venue", "iclr-2024", "--model")
    refused = referee(*given, "answers:papers", "--yes")
    assert refused.code == 2
    assert "'papers' holds other files, as 'mine.md', and no question" in refused.err
    (workplace / "file").write_text("x")
    assert "'file' cannot be its folder (it is a file)" in referee(*given, "answers:file", "--yes").err
    assert "--model answers:DIR" in referee("doctor").out
    assert "answers:DIR" in " ".join(referee("review", "--help").out.split())
