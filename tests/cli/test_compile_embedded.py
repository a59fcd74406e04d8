"""A page compiled by the embedded model: no key, no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.venues import load_venue
from tests.needs import smallest_chat as smallest_chat

from .command import Referee

pytestmark = pytest.mark.local_model

PAGE = """# Workshop on Testing 2026: Reviewer Guidelines

- Is the paper technically sound, and is every claim supported by evidence?
- Is the contribution novel with respect to prior work?
- Be specific: name the section and the sentence that you criticise.

You must not use ChatGPT or other language models to write your review.
"""


def test_a_page_becomes_a_venue_without_key_or_server(referee: Referee, workplace: Path, smallest_chat: str) -> None:
    (workplace / "guide.md").write_text(PAGE, encoding="utf-8")
    done = referee(
        "venue",
        "compile",
        "guide.md",
        "--id",
        "tests-2026",
        "--model",
        f"local:{smallest_chat}",
        "--no-cache",
        "--out",
        "run",
    )
    assert done.code == 0, done.err
    form = load_venue("tests-2026")
    assert {guideline.text for guideline in form.guidelines} == {guideline.words for guideline in form.guidelines}
    counts = json.loads(Path("run/guidelines.json").read_text())["counts"]
    assert counts["candidates"] == counts["kept"] + counts["merged"] + counts["dropped"]
    assert "Prompts refined" not in done.out
