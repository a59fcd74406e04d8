"""Bad input and strangers: each is refused in words, and nothing is lost or left behind."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.command import Referee
from tests.cli.refusals import assert_refused
from tests.held import Held
from tests.support import FakeServer
from tests.unit.prompts.test_own import MARK, own_text

from .served import App, served, wait_for


def test_a_file_that_is_no_pdf(app: App, tmp_path: Path) -> None:
    before = app.jobs()
    broken = tmp_path / "paper.pdf"
    broken.write_bytes(b"%PDF-1.7\n" + bytes(1000))
    run = app.upload(broken)
    app.reach(run, "Cannot be reviewed")
    assert "Next:" in app.get(f"/runs/{run}").text
    assert app.post(f"/runs/{run}/discard").status_code == 303
    assert app.jobs() == before


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"arxiv": "2301.00001"}, "no venue is named"),
        ({"venue": "arr"}, "no paper is named"),
        ({"venue": "arr", "arxiv": "not an id"}, "is no arXiv id"),
        ({"venue": "arr", "path": "/etc/passwd"}, "under the folders of this app"),
        ({"venue": "arr", "arxiv": "2301.00001", "max_cost": "much"}, "max cost"),
        ({"venue": "arr", "arxiv": "2301.00001", "prompt": "Be kind."}, "no front matter"),
    ],
)
def test_forms_that_say_too_little(app: App, fields: dict[str, str], said: str) -> None:
    before = app.jobs()
    answer = app.post("/runs", **fields)
    assert answer.status_code == 400
    assert said in answer.text
    assert app.jobs() == before


def test_an_unknown_venue_gets_the_nearest_name(app: App, paper: Path) -> None:
    run = app.upload(paper, venue="neurips-2052")
    app.reach(run, "Cannot be reviewed")
    assert "neurips-2025" in app.get(f"/runs/{run}").text


def test_names_of_uploads_stay_in_their_folder(app: App, paper: Path) -> None:
    """One name that is also that of a file of the app's own is read to its end; the others need no process."""
    names = ["estimate.json.md", "../../../evil.md", "..\\evil.md", "a" * 300 + ".md", "\u202egnp.md", ".md"]
    runs = [app.upload(paper, name) for name in names]
    for run in runs:
        (kept,) = (app.runs / ".app" / run).glob("paper/*.md")
        assert len(kept.name) <= 80
    assert all(found.parent.parent.parent == app.runs / ".app" for found in app.folder.rglob("evil.md"))
    for run in runs[1:]:
        assert app.post(f"/runs/{run}/stop").status_code == 303
    app.reach(runs[0], "Waits for your go")


def test_a_name_of_a_megabyte(app: App, paper: Path) -> None:
    files = {"upload": ("a" * 2**20 + ".md", paper.read_bytes())}
    answer = app.client.post("/runs", data={"venue": "arr"}, files=files)
    assert answer.status_code in (303, 400)
    assert all(len(name) < 200 for name in app.jobs())


def test_uploads_that_are_too_long_or_break_off(tmp_path: Path, server: FakeServer, paper: Path) -> None:
    with served(tmp_path, server, REFEREE_PAPER__MAX_BYTES="100000") as app:
        too_long = {"upload": ("paper.md", b"a" * 300_000)}
        assert app.client.post("/runs", data={"venue": "arr"}, files=too_long).status_code == 413

        def chunks() -> Iterator[bytes]:
            yield b'--x\r\nContent-Disposition: form-data; name="upload"; filename="p.md"\r\n\r\n'
            for _ in range(40):
                yield b"a" * 10_000

        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        assert app.client.post("/runs", content=chunks(), headers=kind).status_code == 413
        where = urlsplit(app.address)
        with socket.create_connection((where.hostname, where.port)) as broken:
            head = f"POST /runs HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: {app.address}\r\nContent-Length: 90000\r\n"
            broken.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n".encode())
        assert app.upload(paper)
        assert len(app.jobs()) == 1
        assert app.log.read_text() == ""


def test_strangers(app: App, paper: Path) -> None:
    run = app.upload(paper)
    app.reach(run, "Waits for your go")
    start = f"{app.address}/runs/{run}/start"
    assert httpx.get(app.address, headers={"Host": "evil.example"}).status_code == 421
    assert httpx.post(start, headers={"Origin": "http://evil.example"}).status_code == 403
    assert httpx.post(start, headers={"Origin": "null"}).status_code == 403
    assert httpx.post(start).status_code == 403
    assert httpx.post(start, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert app.get(f"/runs/{run}/start").status_code == 405
    assert app.state(run) == "Waits for your go"
    for path in ("/runs/..%2f..%2fetc", "/runs/.app", "/static/../../settings.py", f"/runs/{run}/files/run.json"):
        assert app.get(path).status_code == 404, path


def test_a_token_where_it_is_asked_for(tmp_path: Path, server: FakeServer) -> None:
    with served(tmp_path, server, "--token") as app:
        assert app.get("/").status_code == 401
        assert app.get("/?token=wrong").status_code == 401
        assert app.post("/runs", venue="arr").status_code == 401
        entered = app.get(app.entrance)
        assert entered.status_code == 200
        assert "token" not in str(entered.url)
        assert app.get("/").status_code == 200


def test_a_port_in_use_and_a_second_app(app: App, referee: Referee) -> None:
    port = urlsplit(app.address).port
    assert_refused(referee("app", "--print", "--runs", "others", "--port", port), "in use", "--port")
    assert_refused(referee("app", "--print", "--port", 0), "another app works on the runs", "--runs")
    assert_refused(referee("app", "--print", "--runs", "x", "--papers", "none"), "is no folder")
    assert_refused(referee("app", "--print", "--runs", "x", "--papers", ".", "--host", "0.0.0.0"), "this machine alone")
    assert_refused(referee("app", "--print", "--runs", "x", "--host", "198.51.100.7"), "nothing can listen")


def test_a_browser_that_goes_away_and_one_that_comes_back(tmp_path: Path, paper: Path) -> None:
    held = Held()
    with FakeServer(held, context_tokens=32_000) as server, served(tmp_path, server) as app:
        run = app.upload(paper)
        app.reach(run, "Waits for your go")
        app.post(f"/runs/{run}/start")
        for _ in range(5):
            with app.client.stream("GET", f"/runs/{run}/events") as events:
                next(events.iter_text())
        held.go.set()
        with app.client.stream("GET", f"/runs/{run}/events") as events:
            told = "".join(events.iter_text())
        assert told.rstrip().endswith('{"state": "finished"}')
        assert app.log.read_text() == ""


def test_damaged_and_newer_runs_and_papers_that_have_gone(app: App, paper: Path) -> None:
    run = app.reviewed(paper)
    kept = next((app.runs / ".app" / run).glob("paper/*.md"))
    kept.unlink()
    assert "short" in app.get(f"/runs/{run}/report").text, "the page does not need the paper's file"
    folder = app.runs / run
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "status": "stopped"}))
    app.post(f"/runs/{run}/start")
    wait_for(lambda: kept.name in app.get(f"/runs/{run}").text and app.state(run) == "Stopped")
    wait_for(lambda: "Next:" in app.get(f"/runs/{run}").text)
    (folder / "run.json").write_text(json.dumps({**record, "schema_version": 2}))
    assert app.state(run) == "Cannot be read"
    assert "cannot be read" in app.get("/").text
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "review.json").write_text("{")
    assert "damaged" in app.get(f"/runs/{run}/report").text


def test_a_run_of_the_command_line_is_shown_and_compared(
    app: App, paper: Path, referee: Referee, server: FakeServer
) -> None:
    before = {path.name for path in app.runs.iterdir()}
    mine = app.reviewed(paper)
    given = ("--venue", "arr", "--strategy", "single", "--model", "fake", "--base-url", server.base_url, "--no-cache")
    assert referee("review", paper, *given).code == 0
    names = sorted({path.name for path in app.runs.iterdir()} - before - {mine})
    assert len(names) == 1
    assert names[0] in app.get("/?q=short").text
    assert names[0] not in app.get("/?q=nothing-of-that").text
    assert "Two reviews side by side" in app.get("/compare", params={"run": [mine, names[0]]}).text
    assert app.get("/compare", params={"run": [mine]}).status_code == 400
    assert app.get("/compare", params={"run": [mine, "gone"]}).status_code == 404
    for file in ("review.md", "review.openreview.json", "report.html"):
        assert app.get(f"/runs/{mine}/files/{file}").content == (app.runs / mine / file).read_bytes()


def test_a_prompt_of_ones_own_from_the_form(app: App, paper: Path, server: FakeServer) -> None:
    run = app.reviewed(paper, prompt=own_text("review/single").replace("\n", "\r\n"))
    asked = [entry.request for entry in server.log if entry.request is not None]
    (call,) = [one for one in asked if one.prompt_id.startswith("review/single@prompt.md-")]
    assert MARK in "\n".join(message.text for message in call.messages)
    assert (app.runs / run / "prompts" / "review+single.md").is_file()
