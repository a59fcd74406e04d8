"""The gold lists of criteria, and the comparison with what was kept of a page, worked by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from referee.schemas.venue import Fact, FormField, Option
from referee.venues import load_venue

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TWELVE = {
    *("acl2023_review_basics", "acl2023_review_form", "arr_reviewform", "iclr_blogposts2024"),
    *("naacl2021_reviewer_instructions", "pyopensci_reviewer_guide"),
    *("robustnlp_2026", "fieldnotes_2026", "letters_2026", "soil_physics"),
    *("isd_abstract_reviews", "sig27_review_criteria"),
}
PAGES = {*TWELVE, "arr_reviewerguidelines"}


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
        assert {one.kind for one in page.criteria} <= {"subjective", "objective"}
        assert all(span.strip() for one in page.criteria for span in one.spans)


@pytest.mark.shared_data
def test_every_span_is_the_pages_own_words(gold: ModuleType, shared_data: Path) -> None:
    for page in gold.load_gold():
        path = gold.locate(page)
        if isinstance(path, str):
            assert page.page.startswith("elsewhere/"), path
            continue
        text = " ".join(gold.page_text(path).split())
        for one in page.criteria:
            assert all(" ".join(span.split()) in text for span in one.spans), (page.id, one.id)


def test_the_readme_counts_the_lists_as_they_are(gold: ModuleType) -> None:
    told = (BENCHMARKS / "gold" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.toml` \| `([^`]+)` \| (\d+) \| (\d+) \|", told, re.MULTILINE)
    assert rows == [
        (page.id, page.page, str(len(page.criteria)), str(sum(one.borderline for one in page.criteria)))
        for page in gold.load_gold()
    ]


def test_a_page_that_may_not_be_passed_on_is_known_by_its_letters(
    gold: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = next(page for page in gold.load_gold() if page.id == "isd_abstract_reviews")
    monkeypatch.delenv(gold.ELSEWHERE, raising=False)
    assert "may not be passed on" in gold.locate(page)
    monkeypatch.setenv(gold.ELSEWHERE, str(tmp_path))
    assert "is not there" in gold.locate(page)
    (tmp_path / "isd_abstract_reviews.txt").write_text("another page", encoding="utf-8")
    assert "is not the text" in gold.locate(page)


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


@pytest.fixture
def forms(load: Callable[[str], ModuleType], gold: ModuleType) -> ModuleType:
    return load("guidelines_forms")


def box(name: str, kind: str = "text", *options: tuple[int, str], asks: str = "", known: str = "official") -> FormField:
    return FormField(
        name=name,
        title=name,
        kind=kind,
        asks=asks or name,
        options=tuple(Option(value=value, label=label) for value, label in options),
        aspect="other" if kind == "score" else None,
        fact=Fact(confidence=known, sources=("page",) if known == "official" else ()),
    )


def test_a_form_is_compared_by_its_boxes_scales_and_labels(gold: ModuleType, forms: ModuleType) -> None:
    form = load_venue("iclr-2025").model_copy(
        update={
            "fields": (
                box("Summary", asks="Summary (at most 150 words)"),
                box("policy"),
                box("Overall", "score", (1, "reject"), (2, "accept")),
                box("Robustness", "score", (1, ""), (2, ""), (3, "")),
                box("questions", known="memory"),
            )
        }
    )
    wanted = [
        gold.GoldField(("Summary",), "text", length="at most 150 words"),
        gold.GoldField(("Strengths",), "text"),
        gold.GoldField(("Overall (1-2)", "Rating"), "score", (1, 2), ("reject", "acc"), "overall"),
        gold.GoldField(("Robustness score",), "score", (1, 2, 3, 4)),
    ]
    compared = forms.compare_form(form, wanted, "unknown")
    assert (compared.wanted, compared.found, compared.missed) == (4, 3, ("Strengths",))
    assert (compared.invented, compared.added) == (("policy",), 1)
    assert (compared.scales, compared.scales_right, compared.scales_invented) == (2, 1, ())
    assert (compared.labelled, compared.labels_right) == (1, 1)
    assert (compared.aspects, compared.aspects_right) == (1, 0)
    assert (compared.lengths, compared.lengths_found) == (1, 1)
