"""``referee venue new``: from the template to a review on the form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.venues import user_venue_dir
from tests.support import FakeServer

from .command import Referee


def fill(path: Path) -> None:
    count = iter(range(100))
    text = re.sub(r'"<fill in: \w[^"]*>"', lambda _: f'"words {next(count)}"', path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


def test_from_template_to_review(referee: Referee, server: FakeServer, paper: Path) -> None:
    made = referee("venue", "new", "mine-2026")
    assert made.code == 0, made.err
    assert "Next: referee venue show ./mine-2026.toml" in made.out
    early = referee("venue", "show", "./mine-2026.toml")
    assert (early.code, early.out) == (2, "")
    assert "still to be filled in: name, " in early.err
    assert "Traceback" not in early.err
    fill(Path("mine-2026.toml"))
    assert "words 0 (mine-2026)" in referee("venue", "show", "./mine-2026.toml").out
    on = ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single", "--out", "run")
    done = referee("review", paper, "--venue", "./mine-2026.toml", *on)
    assert done.code == 0, done.err
    review = json.loads(Path("run/review.json").read_text(encoding="utf-8"))
    assert set(review["fields"]) == {"words 6", "words 8"}


def test_a_filled_file_in_the_folder_of_ones_own_venues_goes_by_its_id(referee: Referee, workplace: Path) -> None:
    user_venue_dir().mkdir(parents=True)
    out = user_venue_dir() / "mine-2026.toml"
    assert referee("venue", "new", "mine-2026", "--out", out).code == 0
    assert "still to be filled in" in referee("venue", "list").err
    fill(out)
    assert "mine-2026" in referee("venue", "list").out
    assert referee("venue", "show", "mine-2026").code == 0
    again = referee("venue", "new", "mine-2026")
    assert again.code == 2
    assert "already have a venue 'mine-2026'" in again.err
    assert not Path("mine-2026.toml").exists()
    assert referee("venue", "new", "mine-2026", "--force").code == 0


@pytest.mark.parametrize("name", ["neurips-2025", "My Venue", "../x", "a/b", "x" * 81])
def test_taken_and_impossible_ids_are_refused(referee: Referee, workplace: Path, name: str) -> None:
    before = sorted(workplace.iterdir())
    refused = referee("venue", "new", name)
    assert (refused.code, refused.out) == (2, "")
    assert "next: " in refused.err
    assert sorted(workplace.iterdir()) == before


def test_a_bundled_id_is_taken_with_force(referee: Referee, workplace: Path) -> None:
    assert referee("venue", "new", "neurips-2025", "--force").code == 0
    assert Path("neurips-2025.toml").exists()


def test_a_review_on_a_form_from_memory_says_so_before_it_begins(
    referee: Referee, server: FakeServer, paper: Path
) -> None:
    on = ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single", "--out", "run")
    done = referee("review", paper, "--venue", "acm-transactions", *on)
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert said.index("FROM MEMORY, unverified: 6 of 6 fields.") < said.index("UNKNOWN. ACM has a policy")
