"""Pages credit persons only with what persons did: this project's labels and verdicts are language models'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import ROOT

# Words for a person's work. A page says "a language model" or "code" instead, or its words stand in ALLOWED.
PERSONS = re.compile(
    r"\bby hand\b|\bhand[- ]label|\bpeople\b|\bstrong reader"
    r"|\b(?:judges?|readers?|labellers?|markers?|annotators?|somebody) who\b",
    re.IGNORECASE,
)

# The words of a page that speak of real persons.
ALLOWED: dict[str, tuple[str, ...]] = {
    # Reviewers of published review sets.
    "docs/arena.md": ("people",),
    "docs/benchmark-sets.md": ("people's ratings", "people's reviews"),
    "docs/design/0007-one-measuring-machine.md": ("people's ratings",),
    "docs/detection.md": ("people",),
    "docs/eval.md": ("distance from people's",),
    "docs/experiments.md": ("people's ratings",),
    "docs/known_answers.md": ("people",),
    "docs/profile.md": ("people",),
    "docs/review.md": ("as people would give it", "on this form with people's", "that people have rated"),
    # Users of the tool, authors of files, venues' reviewers.
    "docs/design/0003-keys-never-go-to-another-host.md": ("typed by hand", "other people's code"),
    "docs/parsing.md": ("download by hand",),
    "docs/refinement.md": ("steps edited by hand",),
    "docs/reliability.md": ("removed by hand",),
    "docs/scale.md": ("start by hand",),
    "docs/security.md": ("what people decide by", "files of people"),
    "docs/venues.md": ("unknown for people", "write a venue by hand"),
}


def pages() -> list[str]:
    """README, and every page of docs and benchmarks that is ours: ``gold/pages`` holds pages to be read."""
    found = [ROOT / "README.md", *(path for room in ("docs", "benchmarks") for path in (ROOT / room).rglob("*.md"))]
    named = (path.relative_to(ROOT).as_posix() for path in found)
    return sorted(name for name in named if not name.startswith("benchmarks/gold/pages/"))


def said_of_persons(page: str, text: str) -> list[str]:
    """Each word for a person's work that ALLOWED does not hold, with the words around it."""
    line = " ".join(text.split())
    for words in ALLOWED.get(page, ()):
        line = re.sub(re.escape(words), "…", line, flags=re.IGNORECASE)
    return [line[max(0, found.start() - 50) : found.end() + 30] for found in PERSONS.finditer(line)]


@pytest.mark.parametrize("page", pages())
def test_a_page_credits_persons_only_with_what_persons_did(page: str) -> None:
    assert said_of_persons(page, (ROOT / page).read_text(encoding="utf-8")) == []


def test_a_label_by_hand_is_found_and_a_venue_by_hand_is_not() -> None:
    assert said_of_persons("docs/venues.md", "Gold lists, written by\nhand. ## Write a venue by hand") != []
    assert said_of_persons("docs/venues.md", "## Write a venue by hand") == []


def test_no_allowed_words_are_stale() -> None:
    text = {page: " ".join((ROOT / Path(page)).read_text(encoding="utf-8").split()).lower() for page in ALLOWED}
    assert [(page, words) for page, own in ALLOWED.items() for words in own if words.lower() not in text[page]] == []
