"""A review that was paid for reaches its reader: an output that fails keeps none of the others back."""

from pathlib import Path

import pytest

from tests.cli.refusals import record
from tests.support import FakeServer

from .command import Referee
from .test_review import backed, on, read

WRITERS = {
    "review.openreview.json": "referee.reports.openreview_object",
    "review.md": "referee.reports.render_review",
    "fixes.md": "referee.reports.fixes.render_fixes",
    "report.html": "referee.reports.review_page.write_review_page",
}


@pytest.mark.parametrize("name", WRITERS)
def test_an_output_that_fails_is_named_the_others_are_there_and_resume_writes_it_without_a_call(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def broken(*given: object, **named: object) -> None:
        raise KeyError("no such macro")

    server.script.entries["writer"] = backed
    run = workplace / "run"
    with monkeypatch.context() as patch:
        patch.setattr(WRITERS[name], broken)
        done = referee("review", paper, "--venue", "neurips-2025", "--out", "run", *on(server))
    assert done.code == 2
    assert f"{name} was not written: KeyError" in done.err
    assert f"not every output could be written: {name} (KeyError" in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert read(run).rating == 4
    there = {file.name for file in run.iterdir()}
    assert there >= {"review.json", *WRITERS} - {name}
    assert name not in there
    assert record(run).status == "failed"

    calls = len(server.log.calls(endpoint="chat"))
    done = referee("review", paper, "--venue", "neurips-2025", "--resume", "run", *on(server))
    assert done.code == 0, done.err
    assert (run / name).is_file()
    assert len(server.log.calls(endpoint="chat")) == calls
    assert record(run).status == "finished"
