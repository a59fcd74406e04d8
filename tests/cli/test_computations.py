"""A review whose points bring programs: what they gave is in every output, and struck points are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import ChatRequest, FakeServer
from tests.unit.papers.test_annotating import marked

from .command import Referee

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper.pdf"
RIGHT = "total = 17 + 25\n# the sum of both <rows>\ntotal"


@pytest.fixture(autouse=True)
def long_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "128000")


def point(claim: str, kind: str = "weakness", **changes: Any) -> dict[str, Any]:
    empty = {"argument": "", "evidence": [], "absent": [], "should_be": "", "would_settle": ""}
    return {"kind": kind, "severity": "material", "topic": "missing", "claim": claim, **empty, **changes}


def program(at: int, code: str, expects: str, otherwise: str = "") -> dict[str, Any]:
    return {"point": at, "code": code, "expects": expects, "otherwise": otherwise}


def computing(request: ChatRequest) -> dict[str, Any]:
    quoted = {"where": "Abstract", "quote": request.quotation("submission")}
    return request.instance(
        points=[
            point("Both rows together are 42.", evidence=[quoted]),
            point("The mean is 11.8."),
            point("The largest gain is 9."),
            point("The share is 0.5.", argument="I recomputed it. It decides nothing."),
            point("I reran everything."),
        ],
        computations=[
            program(1, RIGHT, "42"),
            program(2, "(10 + 11.4) / 2", "11.8", "The mean is 10.7, not 11.8 as Table 1 implies."),
            program(3, "max(2, 7)", "9"),
            program(4, "import numpy as np\nnp.mean([0, 1])", "0.5"),
            program(60, "1", "1"),
        ],
    )


def on(server: FakeServer) -> tuple[str, ...]:
    return ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single", "--out", "run")


def test_what_programs_give_is_in_every_output(referee: Referee, workplace: Path, server: FakeServer) -> None:
    server.script.entries["writer"] = computing
    done = referee("review", EXAMPLE, "--venue", "openreview-default", *on(server))
    assert done.code == 0, done.err
    run = workplace / "run"
    assert "Computations: 3 of 4 ran; 1 gave what the point expects, 2 did not." in done.out
    assert "1 struck by the check; 1 dropped" in done.out

    review = json.loads((run / "review.json").read_text())
    first, second, fourth = (p for p in review["points"] if p["number"] and p["source"] == "whole")
    assert first["computations"][0]["program"]["code"] == RIGHT
    assert first["computations"][0]["outcome"]["status"] == "agrees"
    assert second["check"]["narrowed"].startswith("The mean is 10.7")
    assert fourth["argument"] == "It decides nothing."
    assert review["uncovered_numbers"] > 0

    said = "Computed by a program: 42."
    assert said in (run / "review.md").read_text()
    page = (run / "report.html").read_text()
    assert said in page
    assert "# the sum of both &lt;rows&gt;" in page
    assert page.count("Copy the program") == 4, "the struck point keeps its own"
    notes = [note for _, note, _ in marked(run / "review.annotated.pdf")]
    assert any(said in note and "total = 17 + 25" in note for note in notes)

    shown = referee("show", "run", "--point", "1").out
    assert said in shown
    assert "total = 17 + 25" in shown
    dropped = referee("show", "run", "--dropped").out
    assert "It gives 7, and the point expects 9." in dropped
    assert "no computation shows it" in dropped
    told = " ".join(referee("show", "run", "--point", "3").out.split())
    assert "Its program gave no value: it uses numpy, which is not there, in line 1." in told


def test_without_the_package_it_says_so_once_and_asks_for_no_programs(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.agents.single_reviewer.can_compute", lambda: False)
    done = referee("review", paper, "--venue", "openreview-default", *on(server))
    assert done.code == 0, done.err
    assert (done.out + done.err).replace("\n", " ").count("computations are not run") == 1
    (sent,) = [call.request.user for call in server.log.calls(endpoint="chat") if call.request is not None]
    assert "Computations." not in sent
