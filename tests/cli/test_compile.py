"""``referee venue compile`` and what follows it, as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import referee.web
from referee.venues import load_venue, user_venue_dir
from referee.web import Answer, fetch_page
from tests.graphs.guidelines_script import NOISE, PAGE, everything, labelling, sensible
from tests.support import FakeServer
from tests.unit.web.page_server import PageServer, serving

from .command import Outcome, Referee

LABEL = "guidelines/label"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer({LABEL: labelling(sensible)}, context_tokens=8_000) as running:
        yield running


@pytest.fixture
def page(workplace: Path) -> Path:
    (workplace / "guide.md").write_text(PAGE, encoding="utf-8")
    return Path("guide.md")


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    """Addresses on this machine may be fetched, which no setting allows."""

    async def local(url: str, **more: Any) -> Answer:
        return await fetch_page(url, allow_local=True, **more)

    monkeypatch.setattr(referee.web, "fetch_page", local)
    with serving() as running:
        yield running


def on(server: FakeServer, *more: object) -> tuple[object, ...]:
    return ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--rounds", 0, *more)


def assert_refused(done: Outcome, *said: str) -> None:
    assert done.code == 2, done.out + done.err
    assert done.err.count("\nerror: ") + done.err.startswith("error: ") == 1
    assert "  next: " in done.err
    assert "Traceback" not in done.err
    for words in said:
        assert words in done.err
    assert list(user_venue_dir().glob("*")) == []


def test_what_is_printed_says_what_was_kept_and_what_comes_next(
    referee: Referee, page: Path, server: FakeServer
) -> None:
    done = referee("venue", "compile", page, "--id", "tests-2026", "--out", "run", *on(server))
    assert done.code == 0, done.err
    assert "Page: Workshop on Testing 2026: Reviewer Guidelines (main text: markdown" in done.out
    assert "Estimate: 1 call" in done.err
    kept = len(load_venue("tests-2026").guidelines)
    assert f"= {kept} criteria (" in done.out
    assert "+ 1 merged +" in done.out
    assert "overall_recommendation (score 1-4)" in " ".join(done.out.split())
    assert "Language models in reviewing: forbidden" in done.out
    assert f"Stored as {user_venue_dir() / 'tests-2026.json'}" in done.out
    assert "Then: referee review paper.pdf --venue tests-2026" in done.out
    files = {path.name for path in Path("run").iterdir()}
    assert {"run.json", "trace.jsonl", "guidelines.json", "venue.json", "page.json"} <= files
    assert "\x1b" not in done.out + done.err


def test_a_compiled_venue_reviews_a_paper(referee: Referee, page: Path, paper: Path, server: FakeServer) -> None:
    assert referee("venue", "compile", page, "--id", "tests-2026", *on(server)).code == 0
    asked = ("--venue", "tests-2026", "--strategy", "single", "--model", "fake", "--base-url", server.base_url)
    done = referee("review", paper, *asked, "--no-cache", "--out", "review")
    assert done.code == 0, done.err
    fields = json.loads(Path("review/review.json").read_text())["fields"]
    assert list(fields) == [field.name for field in load_venue("tests-2026").fields]


@pytest.mark.slow
def test_prompts_are_refined_by_default_and_within_the_same_run(
    referee: Referee, page: Path, server: FakeServer
) -> None:
    given = ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--out", "run")
    done = referee("venue", "compile", page, "--id", "tests-2026", *given, "--rounds", 1)
    assert done.code == 0, done.err
    assert "Prompts refined in 1 rounds" in done.out
    assert Path("run/refinement/run.json").is_file()
    tight = referee("venue", "compile", page, "--id", "t2", *given[:-1], "run2", "--rounds", 1, "--max-tokens", 8000)
    assert tight.code == 3
    assert "Venue 't2' is stored" in tight.err
    wide = ("--resume", "run2", "--rounds", 1, "--max-tokens", 10**9)
    assert referee("venue", "compile", page, "--id", "t2", *given[:-2], *wide).code == 0


def test_a_page_is_fetched_and_is_official(referee: Referee, web: PageServer, server: FakeServer) -> None:
    html = "".join(f"<p>{line}</p>" if line else "" for line in PAGE.split("## Review form")[0].splitlines())
    web.put("/guide", f"<html><head><title>Tests</title></head><body><main>{html}</main></body></html>".encode())
    web.redirect("/start", "/guide")
    done = referee("venue", "compile", web.url("/start"), "--id", "tests-2026", *on(server))
    assert done.code == 0, done.err
    form = load_venue("tests-2026")
    assert form.sources["page"].url == web.url("/guide")
    assert form.guidelines[0].fact.confidence == "official"
    assert any("sha256" in note for note in form.provenance.notes)


def test_removing_exporting_and_comparing(referee: Referee, page: Path, server: FakeServer) -> None:
    for name in ("one-2026", "two-2026"):
        form = ("--form", "iclr-2025") if name.startswith("two") else ()
        assert referee("venue", "compile", page, "--id", name, *form, *on(server)).code == 0
    difference = referee("venue", "diff", "one-2026", "two-2026")
    assert "+ field soundness (score, 1-4)" in difference.out
    assert "guideline" not in difference.out
    assert referee("venue", "diff", "arr", "arr").out == "arr and arr ask the same.\n"
    assert json.loads(referee("venue", "export", "one-2026").out)["id"] == "one-2026"
    assert referee("venue", "export", "one-2026", "--out", "one.json").out == "Written to one.json\n"
    assert referee("venue", "show", "./one.json").code == 0
    assert "removed" in referee("venue", "remove", "one-2026").out
    assert referee("venue", "show", "one-2026").code == 2
    assert referee("venue", "remove", "arr").code == 2
    assert "two-2026" in referee("venue", "list").out


def test_taken_and_impossible_ids_are_refused_before_anything_is_read(referee: Referee, server: FakeServer) -> None:
    assert_refused(referee("venue", "compile", "none.md", "--id", "neurips-2025", *on(server)), "NeurIPS 2025")
    assert_refused(referee("venue", "compile", "none.md", "--id", "My Venue", *on(server)), "For example my-venue")
    assert not Path("referee-runs").exists()


def test_an_id_of_ones_own_is_replaced_with_force_only(referee: Referee, page: Path, server: FakeServer) -> None:
    assert referee("venue", "compile", page, "--id", "mine", *on(server)).code == 0
    again = referee("venue", "compile", page, "--id", "mine", *on(server, "--name", "Other"))
    assert again.code == 2
    assert "already have a venue 'mine'" in again.err
    forced = referee("venue", "compile", page, "--id", "mine", *on(server, "--name", "Other", "--force"))
    assert forced.code == 0, forced.err
    assert "The file it replaced is kept as" in forced.out
    assert load_venue("mine").name == "Other"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("missing.md", None, "does not exist"),
        ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", "PDF"),
        ("empty.html", b"", "empty"),
        ("big.html", b"<p>" + b"review " * 8_000_000 + b"</p>", "MB"),
        ("menu.md", b"# Menu\n\n- Soup of the day\n- Bread and butter\n- Please order at the bar.\n", "guidelines"),
        (
            "login.html",
            b"<html><head><title>Sign in</title></head><body><form action='/login'><label>User name</label>"
            b"<input name='user'><label>Password</label><input type='password' name='pw'><button>Sign in</button>"
            b"</form><a href='/forgot'>Forgot your password?</a></body></html>",
            "login",
        ),
    ],
)
def test_what_is_no_guideline_page_is_refused_without_a_call(
    referee: Referee, workplace: Path, server: FakeServer, name: str, data: bytes | None, said: str
) -> None:
    if data is not None:
        (workplace / name).write_bytes(data)
    done = referee("venue", "compile", name, "--id", "bad-2026", *on(server))
    assert_refused(done, said)
    assert not [entry for entry in server.log if entry.endpoint == "chat"]
    assert not Path("referee-runs").exists()


def test_a_folder_is_no_page(referee: Referee, workplace: Path, server: FakeServer) -> None:
    assert_refused(referee("venue", "compile", workplace, "--id", "bad-2026", *on(server)), "is a folder")


def test_addresses_that_lead_nowhere_or_too_far_are_refused(
    referee: Referee, web: PageServer, server: FakeServer
) -> None:
    for number in range(9):
        web.redirect(f"/{number}", f"/{number + 1}")
    web.redirect("/round", "/round")
    web.put("/big", b"review " * 2_000_000)
    web.put("/login", b"<form>", status=401)
    for path, said in (("/0", "redirects"), ("/round", "circle"), ("/big", "more than the 10 MiB"), ("/login", "401")):
        assert_refused(referee("venue", "compile", web.url(path), "--id", "bad-2026", *on(server)), said)
    assert_refused(referee("venue", "compile", "ftp://example.org/x", "--id", "bad-2026", *on(server)), "ftp")


def test_addresses_of_this_machine_are_never_fetched(referee: Referee, server: FakeServer) -> None:
    done = referee("venue", "compile", f"{server.url}/health", "--id", "bad-2026", *on(server))
    assert_refused(done, "127.0.0.1")


def test_a_model_that_finds_nothing_stores_nothing(referee: Referee, page: Path, server: FakeServer) -> None:
    server.script.entries[LABEL] = everything(NOISE)
    assert_refused(referee("venue", "compile", page, "--id", "tests-2026", *on(server)), "no criterion was found")


def test_a_server_that_is_away_stores_nothing(referee: Referee, page: Path) -> None:
    away = ("--model", "fake", "--base-url", "http://127.0.0.1:9/v1")
    assert_refused(referee("venue", "compile", page, "--id", "tests-2026", *away), "no connection")
