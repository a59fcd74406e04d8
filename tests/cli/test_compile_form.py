"""``referee venue compile form.json``: a form without a model, and a review on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.venues import load_venue
from tests.support import FakeServer

from .command import Referee

FORM = {
    "id": "My.org/2026/Workshop/-/Official_Review",
    "edit": {
        "note": {
            "content": {
                "summary": {"order": 1, "value": {"param": {"type": "string"}}, "description": "Sum it \x1b[31mup."},
                "rating": {"order": 2, "value": {"param": {"type": "string", "enum": ["2: accept", "1: reject"]}}},
            }
        }
    },
}


@pytest.fixture
def form(workplace: Path) -> Path:
    (workplace / "form.json").write_text(json.dumps(FORM), encoding="utf-8")
    return Path("form.json")


def test_from_the_form_to_a_review(referee: Referee, form: Path, server: FakeServer, paper: Path) -> None:
    done = referee("venue", "compile", form, "--id", "mine-2026")
    assert done.code == 0, done.err
    assert "Form: summary (text), rating (score 1-2)" in done.out
    assert "overall rating: rating" in done.out
    assert "Unknown: which value of the overall rating leans to acceptance" in done.out
    assert not Path("referee-runs").exists()
    assert load_venue("mine-2026").name == "My.org/2026/Workshop"
    on = ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single", "--out", "run")
    reviewed = referee("review", paper, "--venue", "mine-2026", *on)
    assert reviewed.code == 0, reviewed.err
    assert set(json.loads(Path("run/review.json").read_text(encoding="utf-8"))["fields"]) == {"summary", "rating"}
    shown = referee("venue", "show", "mine-2026").out
    assert shown.splitlines()[1].startswith("UNKNOWN whether reviewers may use language models")


def test_ids_are_kept_as_for_pages(referee: Referee, form: Path) -> None:
    assert referee("venue", "compile", form, "--id", "neurips-2025").code == 2
    assert referee("venue", "compile", form, "--id", "mine").code == 0
    assert referee("venue", "compile", form, "--id", "mine", "--name", "Other").code == 2
    forced = referee("venue", "compile", form, "--id", "mine", "--name", "Other", "--force")
    assert "The file it replaced is kept as" in forced.out
    assert load_venue("mine").name == "Other"


@pytest.mark.parametrize("flag", [("--model", "local"), ("--rounds", 2), ("--form", "arr"), ("--out", "run")])
def test_what_only_a_page_takes_is_refused(referee: Referee, form: Path, flag: tuple[object, ...]) -> None:
    refused = referee("venue", "compile", form, "--id", "mine", *flag)
    assert refused.code == 2
    assert f"{flag[0]} does not go with a form in JSON" in refused.err


def test_a_cut_form_is_refused_and_nothing_is_stored(referee: Referee, form: Path) -> None:
    form.write_text(form.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    refused = referee("venue", "compile", form, "--id", "mine")
    assert (refused.code, refused.out) == (2, "")
    assert "is not valid JSON" in refused.err
    assert referee("venue", "show", "mine").code == 2
