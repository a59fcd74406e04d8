"""``referee review --resume RUN``, without saying again what the run was started with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import referee.api
from referee.venues import user_venue_dir
from tests.options import with_options
from tests.support import FakeServer

from .command import Referee
from .refusals import assert_refused, on, record


@pytest.fixture
def stopped(referee: Referee, paper: Path, workplace: Path, server: FakeServer) -> Path:
    """A run that a limit stopped, with its paper beside it."""
    shutil.copy(paper, workplace / "mine.md")
    given = ("mine.md", "--venue", "arr", "--strategy", "single", *on(server))
    assert referee("review", *given, "--out", "run", "--max-tokens", 500).code == 3
    return workplace / "run"


def test_it_goes_on_with_what_the_run_knows(
    referee: Referee, stopped: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user_venue_dir().parent)
    done = referee("review", "--resume", stopped)
    assert done.code == 3, "the limit stays until another one is named"
    assert "500 tokens" in done.err
    done = referee("review", "--resume", stopped, "--max-tokens", 100_000)
    assert done.code == 0, done.err
    assert record(stopped).status == "finished"
    assert record(stopped).asked["venue"] == "arr"
    assert len(server.log.calls(endpoint="chat")) == 1


def test_a_context_length_that_is_set_now_goes_before_the_run_s_own(
    referee: Referee, stopped: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what an error about a prompt that does not fit tells people to set."""
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "50000")
    done = referee("review", "--resume", stopped, "--max-tokens", 100_000)
    assert done.code == 0, done.err
    assert record(stopped).settings["models"]["context_tokens"] == 50_000


def test_what_is_named_beside_it_is_compared_with_the_run(
    referee: Referee, stopped: Path, examples: Path, server: FakeServer
) -> None:
    other = referee("review", examples / "paper.md", "--resume", stopped, "--max-tokens", 100_000)
    assert_refused(other, "was started with another paper")
    assert_refused(referee("review", "--resume", stopped, "--model", "another"), "another model for writer")
    assert server.log.calls(endpoint="chat") == []


def test_a_paper_that_is_gone_is_named(referee: Referee, stopped: Path) -> None:
    (stopped.parent / "mine.md").unlink()
    assert_refused(referee("review", "--resume", stopped), "There is no file", "mine.md")


def test_without_a_run_both_must_be_named(referee: Referee, paper: Path) -> None:
    assert_refused(referee("review"), "no paper is named")
    assert_refused(referee("review", paper), "no venue is named (--venue)")


def test_a_run_that_cannot_say_all_asks_for_the_whole_command(
    referee: Referee, stopped: Path, workplace: Path, server: FakeServer
) -> None:
    text = (stopped / "run.json").read_text()
    changes = {
        "does not name its venue": text.replace('"venue": "arr"', '"seen": "arr"'),
        "was started with a key": text.replace("/v1", "/v1?key=[key removed]"),
        "of another version": text.replace('"isolated":', '"unheard_of": 1, "isolated":'),
        "is a run of `referee eval`": text.replace('"command": "review"', '"command": "eval"'),
    }
    for said, changed in changes.items():
        (stopped / "run.json").write_text(changed)
        assert_refused(referee("review", "--resume", stopped), said)
    assert_refused(referee("review", "--resume", workplace / "none"), "holds no run")


async def test_objects_of_a_program_have_no_name(paper: Path, workplace: Path, server: FakeServer) -> None:
    read, form = referee.api.load_paper(paper), referee.api.load_venue("arr")
    given = {"strategy": "single", "model": "fake", "base_url": server.base_url, "cache": False}
    await referee.api.review(read, venue=form, **with_options(out="run", **given))
    assert record(workplace / "run").asked == {}


def test_a_latex_folder_is_a_paper_and_is_found_again_from_elsewhere(
    referee: Referee, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "latex").mkdir()
    text = "\\documentclass{article}\\begin{document}\\section{One}We show that more is more.\\end{document}"
    (workplace / "latex" / "draft.tex").write_text(text)
    (workplace / "arr").mkdir()  # what a folder is called by chance is no venue
    given = ("latex/", "--venue", "arr", "--strategy", "single", *on(server))
    assert referee("review", *given, "--out", "run", "--max-tokens", 500).code == 3
    monkeypatch.chdir(workplace / "latex")
    done = referee("review", "--resume", workplace / "run", "--max-tokens", 100_000)
    assert done.code == 0, done.err
    assert record(workplace / "run").asked == {"paper": str(workplace / "latex"), "venue": "arr"}
