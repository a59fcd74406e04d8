"""The gold lists of criteria, and the comparison with what was kept of a page, worked by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGES = {"acl2023_review_basics", "arr_reviewerguidelines", "iclr_blogposts2024"}


@pytest.fixture
def gold(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("guidelines_gold")


def criterion(gold: ModuleType, name: str, *spans: str, kind: str = "subjective", borderline: bool = False) -> object:
    return gold.GoldCriterion(name, kind, spans, borderline)


def test_the_lists_are_whole(gold: ModuleType) -> None:
    pages = gold.load_gold()
    assert {page.id for page in pages} == PAGES
    for page in pages:
        assert len({one.id for one in page.criteria}) == len(page.criteria)
        assert {one.kind for one in page.criteria} == {"subjective", "objective"}
        assert all(span.strip() for one in page.criteria for span in one.spans)


@pytest.mark.shared_data
def test_every_span_is_the_pages_own_words(gold: ModuleType, shared_data: Path) -> None:
    for page in gold.load_gold():
        text = " ".join(gold.page_text(shared_data / page.page).split())
        for one in page.criteria:
            assert all(" ".join(span.split()) in text for span in one.spans), (page.id, one.id)


def test_the_readme_counts_the_lists_as_they_are(gold: ModuleType) -> None:
    told = (BENCHMARKS / "gold" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.toml` \| `([^`]+)` \| (\d+) \| (\d+) \|", told, re.MULTILINE)
    assert rows == [
        (page.id, page.page, str(len(page.criteria)), str(sum(one.borderline for one in page.criteria)))
        for page in gold.load_gold()
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Judge the claims of the paper.", "judge the claims of the paper", True),
        # on the page: "claimsof" are 8 of the 14 letters of the second, "ofthe" 5 of the 13 of the third
        ("Judge the claims of", "claims of the p", True),
        ("Judge the claims of the", "of the paper, then", False),
        # words that only stand elsewhere on the page do not overlap
        ("the claims", "the scores", False),
        # the same words in another order, not on the page: alike by their sets
        ("Are code and data available to reviewers", "available to reviewers: are data and code", True),
        # a set of few words within many is no likeness
        ("claims paper", "the paper and its broad claims", False),
        ("", "Judge the claims", False),
    ],
)
def test_sameness(gold: ModuleType, one: str, other: str, same: bool) -> None:
    text = "Judge the claims of the paper, then\ngive the scores."
    assert gold.same_statement(one, other, text) is same
    assert gold.same_statement(other, one, text) is same


def test_the_counts_by_hand(gold: ModuleType) -> None:
    criteria = [
        criterion(gold, "scope", "Is the claim appropriately scoped?", "Claims fit their evidence."),
        criterion(gold, "code", "Code must be available to reviewers.", kind="objective"),
        criterion(gold, "tone", "A review must be polite and helpful."),
        criterion(gold, "twice", "Read the paper at least twice.", borderline=True),
    ]
    kept = [
        ("Claims fit their evidence.", "subjective"),
        ("Code must be available to reviewers.", "subjective"),
        ("Read the paper at least twice.", "subjective"),
        ("Log in before Friday evening.", "objective"),
    ]
    compared = gold.compare(kept, criteria, " ".join(words for words, _ in kept))
    assert (compared.kept, compared.right, compared.neutral, compared.same_kind) == (4, 2, 1, 1)
    assert (compared.wanted, compared.found) == (3, 2)
    assert compared.wrong == ("Log in before Friday evening.",)
    assert compared.missed == ("tone",)
    assert compared.precision == pytest.approx(2 / 3)
    assert compared.recall == pytest.approx(2 / 3)
    assert compared.f1 == pytest.approx(2 / 3)


def test_nothing_kept_has_no_precision(gold: ModuleType) -> None:
    compared = gold.compare([], [criterion(gold, "scope", "Is the claim scoped?")], "")
    assert (compared.precision, compared.recall, compared.f1) == (None, 0.0, None)


def test_only_wrong_ones_have_an_f1_of_zero(gold: ModuleType) -> None:
    compared = gold.compare([("Log in.", "objective")], [criterion(gold, "scope", "Is the claim scoped?")], "")
    assert (compared.precision, compared.recall, compared.f1) == (0.0, 0.0, 0.0)
