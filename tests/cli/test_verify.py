"""``referee verify``: reviews of others, reviews of ours, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.papers import load_paper

from .command import Referee
from .refusals import assert_refused

PAPER = """# Counting birds

## Abstract

We count birds with four models.

## 1 Setup

We train each model for 30 epochs with a batch size of 64. The optimizer is AdamW.

## 2 Results

All runs share one seed, and Heron is the best of them.
"""
TRUE = "The batch size is 64 and training takes 30 epochs.\n\nI like the birds.\n"
LIE = 'It claims that "every model was trained by hand on paper".\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.md").write_text(PAPER, encoding="utf-8")
    (tmp_path / "true.md").write_text(TRUE, encoding="utf-8")
    (tmp_path / "lie.md").write_text(TRUE + LIE, encoding="utf-8")
    return tmp_path


def point(at: int, claim: str, quote: str, **values: Any) -> dict[str, Any]:
    evidence = {"quote": quote, "status": "exact", "section_id": "", "section": "Setup"}
    return {
        "id": f"p{at}",
        "number": at,
        "claim": claim,
        "polarity": "weakness",
        "kind": "clarity",
        "severity": "minor",
        "raised_severity": "minor",
        "source": "whole",
        "evidence": [evidence],
    } | values


def ours(folder: Path, *points: dict[str, Any], **values: Any) -> Path:
    paper = load_paper(folder / "paper.md")
    held = {
        "review_id": "r",
        "paper_id": paper.paper_id,
        "paper_title": paper.title,
        "venue": "arr",
        "source": "m",
        "fields": {},
        "points": points,
    }
    (folder / "run").mkdir()
    (folder / "run" / "review.json").write_text(json.dumps(held | values), encoding="utf-8")
    return folder / "run"


def test_what_is_refuted_stands_first_with_its_passage(folder: Path, referee: Referee) -> None:
    done = referee("verify", "lie.md", "paper.md")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "0 proved, 1 sourced, 1 opinion, 1 refuted"
    assert lines[2:4] == ["Refuted:", f"  {LIE.strip()}"]
    assert "the quotation does not stand in the paper" in done.out
    assert "1 Setup: its numbers stand together" in done.out


def test_nothing_refuted_ends_with_zero_and_json_holds_every_statement(folder: Path, referee: Referee) -> None:
    done = referee("verify", "true.md", "paper.md", "--json")
    assert done.code == 0
    held = json.loads(done.out)
    assert held["counts"] == {"proved": 0, "sourced": 1, "opinion": 1, "refuted": 0}
    assert [one["statement"] for one in held["certificates"]] == [line for line in TRUE.splitlines() if line]


def test_points_of_ours_are_named_by_number_and_their_statuses_are_not_believed(folder: Path, referee: Referee) -> None:
    run = ours(
        folder,
        point(1, "The seed is shared.", "All runs share one seed"),
        point(2, "The data are private.", "the data cannot be shared with anybody outside"),
        point(3, "Put aside.", "nothing at all of this stands there", outcome="dropped", number=0),
    )
    for name in (run, run / "review.json"):
        done = referee("verify", str(name), "paper.md", "--json")
        found = {one["point"]: one["status"] for one in json.loads(done.out)["certificates"]}
        assert (done.code, found) == (1, {1: "sourced", 2: "refuted"})


def test_programs_are_run_again(folder: Path, referee: Referee) -> None:
    def computed(at: int, code: str, **values: Any) -> dict[str, Any]:
        program = {"id": f"p{at}", "code": code, "expects": "30"}
        outcome = {"id": f"p{at}", "status": "agrees", "value": "30", "reason": "As expected.", "seconds": 0}
        return point(
            at, "There are 30 epochs.", "", evidence=[], computations=[{"program": program, "outcome": outcome}]
        )

    done = referee("verify", str(ours(folder, computed(1, "15 * 2"), computed(2, "15 * 3"))), "paper.md", "--json")
    found = {one["point"]: (one["status"], one["reason"]) for one in json.loads(done.out)["certificates"]}
    assert found == {
        1: ("proved", "Computed by a program: 30."),
        2: ("refuted", "Computed by a program: 45, where the point expected 30."),
    }


def test_a_review_of_another_paper_is_refused(folder: Path, referee: Referee) -> None:
    run = ours(folder, paper_id="1" * 64, paper_title="Counting fish")
    assert_refused(referee("verify", str(run), "paper.md"), "another paper", "Counting fish")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no statement"),
        ("# Summary\n\n---\n", "holds no statement"),
        ("Good. " * 3000, "3,000 statements"),
        ("Die Arbeit ist gut geschrieben, und die Versuche sind klar. " * 5, "not in English"),
    ],
)
def test_what_holds_nothing_to_check_is_refused(folder: Path, referee: Referee, text: str, said: str) -> None:
    (folder / "odd.md").write_text(text, encoding="utf-8")
    assert_refused(referee("verify", "odd.md", "paper.md"), said)


@pytest.mark.parametrize("text", ["{}", "[NaN]", "no json", '{"points": NaN}'])
def test_json_that_is_no_review_is_refused(folder: Path, referee: Referee, text: str) -> None:
    (folder / "odd.json").write_text(text, encoding="utf-8")
    assert_refused(referee("verify", "odd.json", "paper.md"), "holds no review")


def test_a_missing_review_is_refused(folder: Path, referee: Referee) -> None:
    assert_refused(referee("verify", "none.md", "paper.md"), "cannot be read as a review")
