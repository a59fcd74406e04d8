"""``referee open``: the page of a run, and of a run that has none."""

from __future__ import annotations

import json
import os
import time
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from tests.support import ChatRequest, FakeServer, Fault

from .command import Referee
from .refusals import assert_refused, on


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser was asked to show."""
    asked: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(asked.append(address)) or True)
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper.pdf", "short.md"])
def test_a_review_has_a_page_which_is_made_again_without_its_paper(
    referee: Referee, examples: Path, workplace: Path, server: FakeServer, shown: list[str], name: str
) -> None:
    mine = workplace / name
    mine.write_bytes((examples / name).read_bytes())
    done = referee("review", mine, "--venue", "arr", "--strategy", "single", *on(server), "--out", "run")
    assert done.code == 0, done.err
    mine.unlink()
    page = workplace / "run" / "report.html"
    first = page.read_text(encoding="utf-8")
    assert ("data:image/webp" in first) == (name == "paper.pdf")
    page.unlink()
    assert referee("open", "run").code == 0
    assert shown == [page.as_uri()]
    assert page.read_text(encoding="utf-8") == first


@pytest.mark.slow
def test_pages_are_drawn_while_the_model_thinks(referee: Referee, examples: Path, workplace: Path) -> None:
    pages = workplace / "run" / "pages" / "pages.json"
    there = []

    def thinks(request: ChatRequest) -> Any:
        ends = time.monotonic() + 120
        while not pages.is_file() and time.monotonic() < ends:
            time.sleep(0.05)
        there.append(pages.is_file())
        return request.instance()

    asked = (examples / "paper.pdf", "--venue", "arr", "--strategy", "single", "--figures", "none", "--out", "run")
    with FakeServer({"review/single": thinks}) as server:
        done = referee("review", *asked, *on(server))
    assert (done.code, there) == (0, [True]), done.err


def test_a_review_that_fails_ends_the_drawing(
    referee: Referee, examples: Path, workplace: Path, recwarn: pytest.WarningsRecorder
) -> None:
    asked = (examples / "paper.pdf", "--venue", "arr", "--strategy", "single", "--figures", "none", "--out", "run")
    with FakeServer(faults=[Fault("401")]) as server:
        assert referee("review", *asked, *on(server)).code == 2
    assert not (workplace / "run" / "report.html").exists()
    assert not recwarn.list


def test_what_has_no_page_is_named(
    referee: Referee, examples: Path, workplace: Path, server: FakeServer, shown: list[str]
) -> None:
    assert_refused(referee("open", workplace), "holds no run", "run.json")
    given = (examples / "short.md", "--venue", "arr", "--strategy", "single", *on(server), "--out", "run")
    assert referee("review", *given, "--max-tokens", 500).code == 3
    assert_refused(referee("open", "run"), "is not finished, it is stopped", "--resume run")
    record = Path("run/run.json")
    newer = {**json.loads(record.read_text(encoding="utf-8")), "schema_version": 2}
    record.write_text(json.dumps(newer), encoding="utf-8")
    assert_refused(referee("open", "run", "--print"), "is of a newer version of referee", "Update referee")
    unknown = {**newer, "schema_version": 1, "from_the_future": True}
    record.write_text(json.dumps(unknown), encoding="utf-8")
    assert_refused(referee("open", "run"), "is of a newer version of referee", "from_the_future")
    record.write_text(json.dumps({**unknown, "status": 3}), encoding="utf-8")
    assert_refused(referee("open", "run"), "is damaged (status: ")
    record.write_text("{", encoding="utf-8")
    assert_refused(referee("open", "run"), "is damaged (no JSON: ")
    assert shown == []


def test_what_is_no_run_folder_is_told_and_the_nearest_is_offered(
    referee: Referee, workplace: Path, paper: Path, shown: list[str]
) -> None:
    (workplace / "runs" / "paper-arr-1").mkdir(parents=True)
    (workplace / "runs" / "paper-arr-1" / "run.json").write_text("{}")
    assert_refused(referee("open", "runs/paper-ar-1"), "no such folder", "Did you mean 'runs/paper-arr-1'?")
    assert_refused(referee("open", paper), "is a file, not the folder of a run")
    assert shown == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everywhere: run the tests as another user")
def test_a_folder_without_rights_is_told(referee: Referee, workplace: Path) -> None:
    closed = workplace / "closed"
    closed.mkdir(mode=0)
    assert_refused(referee("open", closed), "cannot be read: Permission denied", "Mend its rights")


def test_a_page_is_not_made_of_a_damaged_review(
    referee: Referee, examples: Path, workplace: Path, server: FakeServer, shown: list[str]
) -> None:
    given = (examples / "short.md", "--venue", "arr", "--strategy", "single", *on(server), "--out", "run")
    assert referee("review", *given).code == 0
    (workplace / "run" / "report.html").unlink()
    (workplace / "run" / "review.json").write_text('{"points": []}')
    assert_refused(referee("open", "run"), "review.json' is damaged")
    assert shown == []
