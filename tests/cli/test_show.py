"""``referee show``: from a form's field to its points, and from a point to its check, its prompt and its call."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from referee.evidence.listing import WEIGHTS, opening
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from tests.graphs.guidelines_script import PAGE, labelling, sensible
from tests.support import FakeServer

from .command import Outcome, Referee
from .section_runs import one_line, quoting, reviewed, ruling

WINDOW_TITLE = "\x1b]0;owned\x07"


@pytest.fixture
def run(referee: Referee, paper: Path, workplace: Path, server: FakeServer) -> Path:
    server.script.entries |= {"writer": quoting, "checker": ruling(refuted=False)}
    done = reviewed(referee, server, paper, "neurips-2025", workplace / "run")
    assert done.code == 0, done.err
    return workplace / "run"


def points_of(run: Path) -> tuple[ReviewPoint, ...]:
    return Review.model_validate_json((run / "review.json").read_text()).points


def changed(run: Path, **changes: object) -> str:
    """The first point of the run, changed on the disk; its id."""
    data = json.loads((run / "review.json").read_text())
    data["points"][0].update(changes)
    (run / "review.json").write_text(json.dumps(data))
    return str(data["points"][0]["id"])


def with_a_struck_point(run: Path) -> None:
    """A copy of the first point, struck, beside the others on the disk."""
    data = json.loads((run / "review.json").read_text())
    struck = {"id": "p-X-1", "outcome": "struck", "reason": "the paper says otherwise", "field": None, "number": 0}
    data["points"].append(data["points"][0] | struck)
    (run / "review.json").write_text(json.dumps(data))


def test_each_field_is_shown_with_its_points_and_the_rest_is_counted(referee: Referee, run: Path) -> None:
    with_a_struck_point(run)
    done = referee("show", run)
    assert done.code == 0, done.err
    shown, points = one_line(done.out), points_of(run)
    review = Review.model_validate_json((run / "review.json").read_text())
    for name in review.fields:
        assert f"\n{name}: " in done.out
    for point in points:
        assert bool(point.number) is (point.outcome in ("printed", "listed"))
        assert point.number == 0 or one_line(opening(point)) in shown
    aside = sum(not point.number for point in points)
    assert f"Put aside: {aside} struck by the check" in shown
    assert "--dropped names each with its reason." in shown
    for record in review.scores:
        assert record.reason.split()[1] in shown


def test_all_shows_every_point_with_its_reason(referee: Referee, run: Path) -> None:
    with_a_struck_point(run)
    shown = one_line(referee("show", run, "--dropped").out)
    for point in points_of(run):
        assert one_line(opening(point) if point.number else f"{point.id} {point.statement}") in shown
        if point.outcome != "printed":
            assert one_line(point.reason) in shown


def test_a_point_leads_to_its_evidence_its_check_its_prompt_and_its_call(referee: Referee, run: Path) -> None:
    for point in points_of(run):
        done = referee("show", run, "--point", point.id)
        assert done.code == 0, done.err
        shown = one_line(done.out)
        assert one_line(point.claim) in shown
        assert f"raised as {WEIGHTS[point.raised_severity]}" in shown
        assert all(one_line(evidence.quote) in shown for evidence in point.evidence)
        assert point.check is None or f"Check: {point.check.verdict}" in shown
        if point.source == "rule":
            assert "no call" in shown
        else:
            assert f"Raised by call {point.call_id}" in shown
            assert point.prompt in shown
            assert "review/section@v1" in shown or "review/cross@v1" in shown
            assert "tokens in" in shown


def test_the_call_of_a_point_is_shown_in_full(referee: Referee, run: Path) -> None:
    point = next(point for point in points_of(run) if point.source == "section")
    trace = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    (call,) = [call for call in trace if call["call_id"] == point.call_id]
    done = referee("show", run, "--point", point.id, "--call")
    assert one_line(call["reply"]) in one_line(done.out)
    for _, text in call["messages"]:
        assert one_line(text) in one_line(done.out)


def test_a_checked_point_names_the_call_that_checked_it(referee: Referee, run: Path) -> None:
    checked = next(p for p in points_of(run) if p.check and "@" in p.check.by and p.check.verdict != "unchecked")
    assert "Checked in call" in referee("show", run, "--point", checked.id).out


def test_a_merged_point_and_its_keeper_name_each_other(referee: Referee, run: Path) -> None:
    keeper, merged = points_of(run)[1].id, changed(run, merged_into="p-X", outcome="merged_into", field=None)
    assert "Merged into: p-X" in referee("show", run, "--point", merged).out
    changed(run, merged_from=[keeper])
    assert f"Merged from: {keeper}" in referee("show", run, "--point", merged).out


def test_terminal_sequences_in_a_models_text_are_gone(referee: Referee, run: Path) -> None:
    name = changed(
        run, claim=f"\x1b[31mRed{WINDOW_TITLE}\r\nLine\u202e two", reason="\x1b[2J", outcome="listed", field=None
    )
    for done in (referee("show", run, "--dropped"), referee("show", run, "--point", name, "--call")):
        assert "Red Line two" in done.out
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(done.out + done.err)


def test_a_review_in_one_go_shows_its_points(referee: Referee, paper: Path, server: FakeServer) -> None:
    done = reviewed(referee, server, paper, "arr", Path("run"), strategy="single")
    assert done.code == 0, done.err
    review = Review.model_validate_json(Path("run/review.json").read_text())
    shown = one_line(referee("show", "run", "--dropped").out)
    for item in (*review.points, *review.dropped):
        one = one_line(referee("show", "run", "--point", item.id).out)
        assert one_line(item.claim) in one
        assert "review/single@v3" in one
    for dropped in review.dropped:
        assert one_line(dropped.quote) in shown


def test_a_point_that_was_audited_leads_to_the_calls_that_tested_it(
    referee: Referee, paper: Path, server: FakeServer
) -> None:
    done = reviewed(referee, server, paper, "arr", Path("run"), strategy="audited")
    assert done.code == 0, done.err
    tested = [point for point in points_of(Path("run")) if point.number and point.source == "whole"]
    assert tested
    for point in tested:
        _, _, checked = one_line(referee("show", "run", "--point", point.id).out).partition("Checked in call")
        assert ("review/audit@v1" in checked) is (point.id.startswith("p-S-")), "the auditor's own it cannot test"
        assert "review/final@v1" in checked


def complaint(done: Outcome) -> str:
    assert done.code == 2
    assert done.out == ""
    assert "next: " in done.err
    return done.err


def test_a_folder_without_a_run_is_refused(referee: Referee, workplace: Path, paper: Path) -> None:
    (workplace / "empty").mkdir()
    for name in ("nowhere", "empty"):
        assert f"{name!r} holds no run" in complaint(referee("show", name))
    assert f"{str(paper)!r} is a file, not the folder of a run" in complaint(referee("show", paper))


def test_an_unfinished_run_says_how_it_stands(referee: Referee, paper: Path, server: FakeServer) -> None:
    reviewed(referee, server, paper, "arr", Path("run"), "--max-tokens", 300)
    said = complaint(referee("show", "run"))
    assert "no finished review, it is stopped" in said
    assert "--resume run" in said


def test_a_damaged_review_is_refused(referee: Referee, run: Path) -> None:
    (run / "review.json").write_text('{"points": []}')
    assert "is damaged" in complaint(referee("show", run))


def test_an_unknown_point_offers_the_nearest(referee: Referee, run: Path) -> None:
    known = next(point.id for point in points_of(run) if point.source == "section")
    said = complaint(referee("show", run, "--point", known.removesuffix("1") + "99"))
    assert "has no point" in said
    assert "Did you mean 'p-P" in said
    assert "--dropped" in said


def test_a_call_is_shown_only_of_a_point(referee: Referee, run: Path) -> None:
    assert "Add --point N" in complaint(referee("show", run, "--call"))


def test_a_point_whose_trace_is_gone_is_still_shown(referee: Referee, run: Path) -> None:
    point = next(point for point in points_of(run) if point.source == "section")
    (run / "trace.jsonl").unlink()
    done = referee("show", run, "--point", point.id, "--call")
    assert done.code == 0, done.err
    assert "no longer holds it" in done.out
    assert "its record is gone" in done.out


def test_nothing_in_the_folder_changes(referee: Referee, run: Path) -> None:
    before = {path: path.read_bytes() for path in run.iterdir()}
    referee("show", run, "--dropped")
    assert {path: path.read_bytes() for path in run.iterdir()} == before


def test_a_run_moved_elsewhere_is_shown(referee: Referee, run: Path, tmp_path: Path) -> None:
    shutil.move(run, tmp_path / "moved")
    assert referee("show", tmp_path / "moved").code == 0


def test_a_run_that_is_no_review_is_called_what_it_is(referee: Referee, server: FakeServer, workplace: Path) -> None:
    server.script.entries |= {"guidelines/label": labelling(sensible)}
    Path("guide.md").write_text(PAGE, encoding="utf-8")
    on = ("--model", "fake", "--base-url", server.base_url)
    made = referee(
        "venue", "compile", "guide.md", "--id", "mine-2026", "--force", "--rounds", 0, *on, "--out", "compiled"
    )
    assert made.code == 0, made.err
    said = complaint(referee("show", "compiled"))
    assert "run 'compiled' is one of `referee venue compile`: it holds statements of a venue's guidelines" in said
    assert "compiled/guidelines.json" in said
    assert "finished review" not in said


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        ("venue refine", "finished", ("refined steps", "next: Read them with their history: `referee venue show ID")),
        ("venue refine", "stopped", ("`referee venue refine`, stopped", "--resume run")),
        ("eval", "finished", ("judgements of reviews", "next: Read run/summary.md")),
        ("eval", "failed", ("`referee eval`, failed: no judge answers", "--resume run")),
        ("something new", "finished", ("`referee something new`", "next: Read the files in run.")),
    ],
)
def test_runs_of_other_commands(referee: Referee, run: Path, command: str, status: str, told: tuple[str, ...]) -> None:
    data = json.loads((run / "run.json").read_text())
    error = "no judge answers" if status == "failed" else ""
    (run / "run.json").write_text(json.dumps(data | {"command": command, "status": status, "error": error}))
    (run / "review.json").unlink()
    said = complaint(referee("show", "run"))
    assert all(part in said for part in told), said
    assert "finished review" not in said


def test_a_run_from_before_the_list_is_shown_and_opened_with_numbers(referee: Referee, run: Path) -> None:
    data = json.loads((run / "review.json").read_text())
    stood = [point["id"] for point in data["points"] if point["number"]]
    data["schema_version"] = 1
    for point in data["points"]:
        for name in ("number", "heading", "weight"):
            del point[name]
    (run / "review.json").write_text(json.dumps(data))
    before = (run / "review.json").read_bytes()
    shown = referee("show", run)
    assert shown.code == 0, shown.err
    assert f"\n  {len(stood)}. [" in shown.out
    (run / "report.html").unlink()
    opened = referee("open", run, "--print")
    assert opened.code == 0, opened.err
    assert f'id="point-{len(stood)}"' in (run / "report.html").read_text()
    assert (run / "review.json").read_bytes() == before
