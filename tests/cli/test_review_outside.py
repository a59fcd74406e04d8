"""``referee review --literature`` and ``--references`` as they are typed: what is said before, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import FakeServer

from .command import Referee
from .refusals import assert_refused

PAPER = """# Counting lanterns

## Abstract

We count lanterns on the harbour corpus with one encoder, and report the mean of five seeds.

## Method

Every encoder is trained on the harbour corpus with one fixed seed, and nothing else is tuned at all.

## References

[1] Ada Lo. 2020. Counting lanterns in a harbour with two clerks. In Harbour Days.
"""
WORK = {"title": "Lanterns of harbours", "year": 2019, "authors": ["Bo Li"], "abstract": "We count harbour lanterns."}


def given(workplace: Path) -> tuple[Path, Path]:
    (workplace / "paper.md").write_text(PAPER, encoding="utf-8")
    (workplace / "works.jsonl").write_text(json.dumps(WORK) + "\n", encoding="utf-8")
    return workplace / "paper.md", workplace / "works.jsonl"


def test_an_index_for_both(referee: Referee, server: FakeServer, workplace: Path) -> None:
    paper, index = given(workplace)
    on = ("--model", "fake", "--embedder", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single")
    more = ("--literature", index, "--references", index, "--as-of", "2021-06-30", "--out", "run")
    done = referee("review", paper, "--venue", "iclr-2025", *on, *more)
    assert done.code == 0, done.err
    assert "are sent to" not in done.err, "nothing is sent to anybody"
    page = (workplace / "run" / "review.md").read_text(encoding="utf-8")
    assert "## Outside of the paper" in page
    assert "1 references: 1 not found. Asked: works.jsonl." in page
    assert "up to 2021-06-30" in page
    assert "Outside of the paper" in (workplace / "run" / "report.html").read_text(encoding="utf-8")
    record = json.loads((workplace / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["inputs"]["last day of works"] == "2021-06-30"
    again = referee("review", "--resume", "run", "--base-url", server.base_url)
    assert again.code == 0, again.err


def test_who_is_sent_what_is_said_before_the_first_call(referee: Referee, server: FakeServer, workplace: Path) -> None:
    paper, _ = given(workplace)
    paper.write_text(PAPER.replace("two clerks", "no network at all"), encoding="utf-8")
    on = ("--model", "fake", "--embedder", "fake", "--base-url", server.base_url, "--strategy", "single")
    closed = dict.fromkeys(("crossref", "dblp", "arxiv", "semantic_scholar"), "http://127.0.0.1:9")
    lines = "".join(f'{name} = "{address}"\n' for name, address in closed.items())
    (workplace / "referee.toml").write_text(f"[citations]\n{lines}", encoding="utf-8")
    more = ("--literature", "online", "--references", "online", "--contact", "a@b.org", "--out", "run")
    done = referee("review", paper, "--venue", "iclr-2025", *on, *more)
    assert done.code == 0, done.err
    said = " ".join(done.err.split())
    assert "the title “Counting lanterns” and at most 6 searches" in said
    assert "sent to crossref, arxiv, semantic-scholar, for works of any date (no --as-of was given)" in said
    assert "surnames and ids of the paper's 1 references are sent to crossref, dblp, arxiv, semantic-scholar" in said
    page = (workplace / "run" / "review.md").read_text(encoding="utf-8")
    assert "1 references: 1 not checked" in page
    assert "Not searched: arxiv cannot be reached" in page


def test_what_is_refused(referee: Referee, server: FakeServer, workplace: Path) -> None:
    paper, _ = given(workplace)
    on = (paper, "--venue", "iclr-2025", "--model", "fake", "--base-url", server.base_url)
    assert_refused(referee("review", *on, "--literature", "online"), "contact address")
    assert_refused(referee("review", *on, "--literature", "gone.jsonl"), "gone.jsonl")
    assert_refused(referee("review", *on, "--references", paper), "not valid JSON")
    assert_refused(referee("review", *on, "--as-of", "2025-05-15"), "goes with a search")
    assert referee("review", *on, "--literature", "works.jsonl", "--as-of", "last May").code == 2
