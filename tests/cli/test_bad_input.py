"""Bad input: a clear error, exit code 2, nothing sent and nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import FakeServer

from .broken_papers import PNG, cut_in_half, file, pdf
from .command import Referee
from .refusals import assert_finished, assert_refused, on, visible

VENUE = ("--venue", "neurips-2025", "--strategy", "single")

BROKEN: dict[str, tuple[Callable[[], Path], tuple[str, ...]]] = {
    "missing": (lambda: Path("nope.pdf"), ("'nope.pdf'", "no file", "Check the path")),
    "folder": (lambda: file(Path("papers/a.md"), b"# A").parent, ("'papers'", "without a .tex file")),
    "empty": (lambda: file(Path("e.pdf"), b""), ("'e.pdf'", "0 bytes", "again")),
    "picture": (lambda: file(Path("p.pdf"), PNG), ("'p.pdf'", "PNG image", "Export the paper")),
    "encrypted": (lambda: pdf(Path("x.pdf"), password="secret"), ("'x.pdf'", "encrypted", "without a password")),
    "truncated": (lambda: cut_in_half(pdf(Path("t.pdf"), pages=3)), ("'t.pdf'", "cut off", "Download")),
    "scan": (lambda: pdf(Path("s.pdf"), pages=2, text=False), ("'s.pdf'", "no text layer", "text recognition")),
    "blank": (lambda: file(Path("w.md"), b" \n\t\n \n"), ("'w.md'", "nothing but blanks")),
    "utf-16": (lambda: file(Path("u.txt"), "A paper on clusters.\n".encode("utf-16")), ("'u.txt'", "named like text")),
    "latin-1": (lambda: file(Path("l.txt"), "Über Häufungen.\n".encode("latin-1")), ("'l.txt'", "UTF-8", "offset 0")),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_paper_that_cannot_be_read(referee: Referee, server: FakeServer, workplace: Path, kind: str) -> None:
    make, said = BROKEN[kind]
    bad = make()
    before = visible(workplace)
    done = referee("review", bad, *VENUE, "--out", "run", *on(server))
    assert_refused(done, *said)
    assert visible(workplace) == before
    assert len(server.log) == 0


@pytest.mark.slow
def test_too_many_pages_are_refused_before_parsing_and_the_limit_can_be_raised(
    referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from referee.papers.pdf import load

    book = pdf(Path("book.pdf"), pages=2000)

    def parse(*_: object) -> None:
        raise AssertionError("parsed before its pages were counted")

    with monkeypatch.context() as patch:
        patch.setattr(load, "convert", parse)
        patch.setattr(load, "PageReader", parse)
        done = referee("review", book, *VENUE, "--out", "run", *on(server))
    assert_refused(done, "'book.pdf'", "2,000 pages", "at most 400", "paper.max_pages")
    assert not Path("run").exists()

    short = pdf(Path("short.pdf"), pages=3)
    monkeypatch.setenv("REFEREE_PAPER__MAX_PAGES", "2")
    assert_refused(referee("review", short, *VENUE, "--out", "run", *on(server)), "3 pages", "at most 2")
    monkeypatch.setenv("REFEREE_PAPER__MAX_PAGES", "3")
    done = referee("review", short, *VENUE, "--out", "run", *on(server))
    assert done.code == 0, done.err


REFUSED = {
    "venue": (("--venue", "neurips25"), ("'neurips25'", "unknown", "Did you mean 'neurips-2025'", "venue list")),
    "venue nothing is near to": (("--venue", "qqq"), ("'qqq'", "unknown", "venue list")),
    "venue file that is missing": (("--venue", "mine.toml"), ("'mine.toml'", "does not exist")),
    "provider": (("--model", "opnai:gpt-x"), ("'opnai:gpt-x'", "Did you mean 'openai:gpt-x'", "--base-url")),
    "provider nothing is near to": (("--model", "foo:bar"), ("'foo:bar'", "no known provider", "openai:NAME")),
    "no provider": (("--model", "gpt-x"), ("'gpt-x'", "no known provider", "--base-url")),
    "embedded model": (("--model", "local:qwen-900b"), ("'qwen-900b'", "not known", "Embedded chat models")),
    "openai without key": (("--model", "openai:gpt-x"), ("OPENAI_API_KEY is not set", "export OPENAI_API_KEY=")),
    "anthropic without key": (("--model", "anthropic:x"), ("ANTHROPIC_API_KEY is not set", "--model local")),
    "google without key": (("--model", "google_genai:g"), ("GOOGLE_API_KEY or GEMINI_API_KEY is not set",)),
    "address without http": (("--base-url", "localhost:11434"), ("'localhost:11434'", "http://127.0.0.1:11434/v1")),
    "address with an open bracket": (("--base-url", "http://[::1/v1"), ("'http://[::1/v1'", "not an http")),
    "address with an impossible port": (("--base-url", "http://127.0.0.1:99999/v1"), ("99999", "not an http")),
    "address with a blank": (("--base-url", "http://my host/v1"), ("'http://my host/v1'", "not an http")),
    "role": (("--model-for", "writr=openai:x"), ("no role 'writr'", "Did you mean 'writer'")),
    "role without model": (("--model-for", "writer"), ("'writer' is not ROLE=MODEL", "writer=openai:NAME")),
    "role without name": (("--model-for", "=openai:x"), ("not ROLE=MODEL",)),
    "negative cost": (("--max-cost", "-1"), ("'--max-cost'",)),
    "cost that is no number": (("--max-cost", "abc"), ("'--max-cost'",)),
    "cost that is NaN": (("--max-cost", "nan"), ("'--max-cost'",)),
    "no tokens": (("--max-tokens", "0"), ("'--max-tokens'",)),
    "strategy": (("--strategy", "magic"), ("review.strategy", "'magic'", "'single'")),
    "option": (("--modle", "x"), ("--modle", "--model,")),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_an_argument_that_cannot_be_used(referee: Referee, paper: Path, workplace: Path, kind: str) -> None:
    arguments, said = REFUSED[kind]
    wanted = () if "--venue" in arguments else VENUE
    done = referee("review", paper, *wanted, "--model", "m", "--out", "run", *arguments)
    assert_refused(done, *said)
    assert visible(workplace) == set()


def test_a_cost_limit_without_a_price_says_how_to_give_one(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    asked = ("review", paper, *VENUE, "--out", "run", *on(server, "--max-cost", 1))
    assert_refused(referee(*asked), "--max-cost", "unknown", "[models.prices]", "--max-tokens")
    assert visible(workplace) == set()
    Path("referee.toml").write_text('[models.prices]\n"fake" = [1.0, 2.0]\n')
    done = referee(*asked)
    assert done.code == 0, done.err


def test_a_refused_connection_is_said_at_once(referee: Referee, paper: Path, workplace: Path) -> None:
    with FakeServer() as server:
        address = server.base_url
    done = referee("review", paper, *VENUE, "--out", "run", "--model", "m", "--base-url", address)
    assert_refused(done, address, "no connection", "Check that the server runs")
    assert "try 1" not in done.err
    assert visible(workplace) == set()


def test_a_context_that_is_too_small_is_seen_before_anything_is_written(
    referee: Referee, paper: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(context_tokens=2000) as server:
        asked = ("review", paper, *VENUE, "--out", "run", *on(server))
        assert_refused(referee(*asked), "fake@", "context of 2,000 tokens", "neurips-2025", "models.context_tokens")
        assert visible(workplace) == set()
        assert len(server.log) == 0
        monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "32000")
        done = referee(*asked)
    assert done.code == 0, done.err


FILES = {
    "unknown key": ('[models]\ndefualt = "x"\n', ("'models.defualt'", "Did you mean 'models.default'")),
    "wrong type": ('[calls]\nmax_tries = "many"\n', ("'calls.max_tries'", "'many'")),
    "no TOML": ("[models\n", ("'referee.toml'", "not valid TOML", "line 1")),
    "a key": ('[models]\napi_key = "sk-0123456789abcdef"\n', ("keys are not settings", "environment variable")),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_settings_file_that_cannot_be_used(referee: Referee, paper: Path, workplace: Path, kind: str) -> None:
    text, said = FILES[kind]
    Path("referee.toml").write_text(text)
    done = referee("review", paper, *VENUE, "--model", "m", "--base-url", "http://127.0.0.1:1/v1")
    assert_refused(done, "referee.toml" if kind != "wrong type" else "", *said)
    assert "sk-0123456789abcdef" not in done.err
    assert visible(workplace) == {"referee.toml"}


def test_an_unknown_setting_in_the_environment(
    referee: Referee, paper: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CALLS__TIMEOUT", "5")
    done = referee("review", paper, *VENUE, "--model", "m")
    assert_refused(done, "environment", "'calls.timeout'", "'calls.timeout_s'")
    assert visible(workplace) == set()


def test_a_venue_file_with_a_mistake_names_the_place(referee: Referee, paper: Path, workplace: Path) -> None:
    Path("mine.toml").write_text('id = "mine-2026"\nname = "Mine"\nfeilds = []\n')
    done = referee("review", paper, "--venue", "mine.toml", "--model", "m", "--out", "run")
    assert_refused(done, "'mine.toml'", "feilds", "did you mean 'fields'", "docs/venues.md")
    assert visible(workplace) == {"mine.toml"}


def _occupied() -> Path:
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    return Path("full")


FOLDERS: dict[str, tuple[Callable[[], Path], tuple[str, ...]]] = {
    "a file": (lambda: file(Path("taken"), b"x"), ("'taken'", "is a file", "--out")),
    "under a file": (lambda: file(Path("taken"), b"x") / "run", ("'taken/run'", "cannot be written", "--out")),
    "not empty": (_occupied, ("'full'", "not empty", "'notes.txt'", "--out")),
    "in a place that takes none": (lambda: Path("/proc/run"), ("'/proc/run'", "cannot be written", "--out")),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_an_output_folder_that_cannot_be_written(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer, kind: str
) -> None:
    make, said = FOLDERS[kind]
    out = make()
    before = visible(workplace)
    done = referee("review", paper, *VENUE, "--out", out, *on(server))
    assert_refused(done, *said)
    assert "Estimate" not in done.err, "refused before anything is shown or asked"
    assert visible(workplace) == before
    assert len(server.log) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: run the tests as another user")
def test_an_output_folder_without_rights(referee: Referee, paper: Path, workplace: Path, server: FakeServer) -> None:
    Path("locked").mkdir(mode=0o555)
    done = referee("review", paper, *VENUE, "--out", "locked/run", *on(server))
    assert_refused(done, "'locked/run'", "Permission denied", "--out")
    assert visible(workplace) == {"locked"}


def test_only_the_same_paper_venue_and_model_can_be_resumed(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    assert referee("review", paper, *VENUE, "--out", "run", *on(server)).code == 0
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    other = file(Path("other.md"), paper.read_bytes() + b"\nOne more sentence.\n")
    resumed = ("--resume", "run")
    for arguments, named in (
        ((other, *VENUE, *on(server)), "another paper"),
        ((paper, "--venue", "arr", *VENUE[2:], *on(server)), "another venue form"),
        ((paper, *VENUE, *on(server)[2:], "--model", "else"), "another model for writer"),
    ):
        done = referee("review", *arguments, *resumed)
        assert_refused(done, "'run'", f"was started with {named}", "run.json", "without --resume")
        assert "Estimate" not in done.err
    assert len(server.log) == 1
    assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before


def test_a_resume_needs_a_run(referee: Referee, paper: Path, workplace: Path, server: FakeServer) -> None:
    Path("empty").mkdir()
    for folder in ("nowhere", "empty"):
        done = referee("review", paper, *VENUE, "--resume", folder, *on(server))
        assert_refused(done, f"'{folder}'", "holds no run", "without --resume")
        assert "Estimate" not in done.err
    done = referee("review", paper, *VENUE, "--resume", "empty", "--out", "else", *on(server))
    assert_refused(done, "different folders", "Leave --out away")
    assert visible(workplace) == {"empty"}


def test_a_damaged_run_record_is_named(referee: Referee, paper: Path, server: FakeServer) -> None:
    Path("run").mkdir()
    Path("run/run.json").write_text('{"run_id": "x"')
    done = referee("review", paper, *VENUE, "--resume", "run", *on(server))
    assert_refused(done, "'run/run.json'", "damaged", "--out")


def test_a_folder_with_a_run_says_how_to_go_on(referee: Referee, paper: Path, server: FakeServer) -> None:
    asked = ("review", paper, *VENUE, *on(server))
    assert referee(*asked, "--out", "run").code == 0
    assert_refused(referee(*asked, "--out", "run"), "'run'", "already holds a run", "--resume run")


def test_what_a_killed_start_left_does_not_block_the_folder(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    Path("run").mkdir()
    Path("run/.lock").touch()
    Path("run/.run.json.k1ll3d.part").write_text('{"run_')
    done = referee("review", paper, *VENUE, "--out", "run", *on(server))
    assert done.code == 0, done.err
    assert_finished(workplace / "run")


def test_a_paper_without_a_section_is_refused_before_any_call(
    referee: Referee, workplace: Path, server: FakeServer
) -> None:
    Path("only.md").write_text("# Only\n\n## References\n\n[1] A. Author. On a topic. Journal 1, 2001.\n")
    done = referee("review", "only.md", *VENUE, *on(server), "--out", "run")
    assert_refused(done, "'Only'", "no section", "whole paper")
    assert not Path("run").exists()
    assert server.log.calls(endpoint="chat") == []
