"""``referee references``: read only, with an index of one's own, and with the services."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.bibliography import Bibliography, Reply, Work

from .command import Referee
from .refusals import assert_refused

PAPER = """# Counting

## Abstract

We count lanterns [1].

## References

[1] Ashish Vaswani and Noam Shazeer. 2017. Attention is all you need. In NeurIPS.

[2] Ada Lo. 2020. Counting lanterns in a harbour with two clerks. In Harbour Days.

[3] Jacob Devlin. 2011. BERT: Pre-training of deep bidirectional transformers for language understanding. NAACL.
"""
ATTENTION = Work("Attention Is All You Need", 2017, (("Ashish", "Vaswani"), ("Noam", "Shazeer")))
BERT = Work(
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019, (("Jacob", "Devlin"),)
)


@pytest.fixture
def mine(workplace: Path) -> Path:
    (workplace / "paper.md").write_text(PAPER, encoding="utf-8")
    return workplace / "paper.md"


def test_without_a_source_nothing_is_checked_and_nothing_is_sent(referee: Referee, mine: Path) -> None:
    done = referee("references", mine)
    assert done.code == 0, done.err
    assert "3 references: 3 not checked. Asked: nobody." in done.out


def test_an_index_of_ones_own(referee: Referee, mine: Path, workplace: Path) -> None:
    index = workplace / "index.jsonl"
    rows = [{"title": w.title, "year": w.year, "authors": [" ".join(a) for a in w.authors]} for w in (ATTENTION, BERT)]
    index.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = referee("references", mine, "--index", index, "--out", "found.json")
    assert done.code == 0, done.err
    assert "[2] NOT FOUND: Counting lanterns in a harbour with two clerks, 2020" in done.out
    assert "[3] MISMATCH (year): BERT" in done.out
    assert "  listed: Jacob Devlin. BERT" in done.out
    assert "1 verified, 1 mismatch, 1 not found" in done.out
    assert "may exist all the same" in done.out
    found = json.loads((workplace / "found.json").read_text(encoding="utf-8"))
    assert [one["verdict"] for one in found["references"]] == ["verified", "not found", "mismatch"]
    assert "invented" not in done.out


def test_an_index_in_sqlite_says_the_same_and_what_is_retracted(referee: Referee, mine: Path, workplace: Path) -> None:
    row = {"title": ATTENTION.title, "year": 2017, "authors": ["Ashish Vaswani"], "retracted": True}
    (workplace / "works.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    made = referee("data", "index", "works.jsonl", "--out", "works.sqlite")
    assert (made.code, made.out) == (0, "1 works, written to works.sqlite.\n")
    assert_refused(referee("data", "index", "works.jsonl", "--out", "works.sqlite"), "is there already")
    for name in ("works.jsonl", "works.sqlite"):
        done = referee("references", mine, "--index", name)
        assert done.code == 0, done.err
        assert f"1 verified, 2 not found. Marked as retracted: 1. Asked: {name}." in done.out
        assert "[1] VERIFIED: Attention is all you need" in done.out
        assert "RETRACTED, as the index says" in done.out


def test_the_services_are_named_before_they_are_asked(
    referee: Referee, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Bibliography(crossref=[ATTENTION], openalex=[], dblp=[BERT]) as services:
        for name in ("crossref", "dblp", "arxiv", "semantic_scholar"):
            monkeypatch.setenv(f"REFEREE_CITATIONS__{name.upper()}", services.address(name))
        services.instead["crossref"] = [Reply(200, "<html>busy</html>", kind="text/html")]
        done = referee("references", mine, "--online", "--contact", "ada@example.org")
        assert done.code == 0, done.err
        assert (
            "Sent to crossref, dblp, arxiv, semantic-scholar: titles, first authors' surnames and ids of 3 references."
            in done.err
        )
        assert "[3] MISMATCH (year)" in done.out
        assert "[2] NOT FOUND" in done.out
        assert "[1] NOT CHECKED" in done.out
        assert "crossref answered in a form that cannot be read" in done.out
        assert "Note: openalex: not asked, it needs an API key." in done.out


def test_what_cannot_go_together(referee: Referee, mine: Path, workplace: Path) -> None:
    assert_refused(referee("references", mine, "--online"), "contact address")
    assert_refused(referee("references", mine, "--online", "--index", "x.jsonl", "--contact", "a@b.org"), "two ways")
    assert_refused(referee("references", mine, "--index", workplace / "gone.jsonl"), "gone.jsonl")
    assert_refused(referee("references", workplace / "gone.pdf"), "gone.pdf")
