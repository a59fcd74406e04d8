"""The shared sets are read whole: as many reviews as they say they have, and no row is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from referee.data import RejectedSink, find_layouts, read_cases, read_papers
from referee.errors import DataError
from referee.schemas.case import ReviewCase

pytestmark = pytest.mark.shared_data

SETS = [
    ("papers/ai_scientist_generated_fulltext.jsonl", "papers", {("ai", None): 5}),
    ("papers/elife_fulltext_reviews.jsonl", "papers", {("human", None): 13}),
    ("papers/iclr2017_abstract_reviews_decisions.jsonl", "papers", {("human", "iclr-2017"): 186}),
    ("papers/iclr2019_2020_titled.jsonl", "papers", {("human", "iclr-2019"): 180, ("human", "iclr-2020"): 114}),
    ("papers/iclr2026_abstract_reviews_rebuttals.jsonl", "papers", {("human", "iclr-2026"): 416}),
    (
        "paired/agents4science2025_reviews.jsonl",
        "flat",
        {("ai", "agents4science-2025"): 378, ("human", "agents4science-2025"): 41},
    ),
    ("paired/marg_iclr_comment_lists.jsonl", "flat", {("ai", None): 126, ("human", None): 41}),
    ("human_only/iclr2019_2020_reviews.jsonl", "flat", {("human", "iclr-2019"): 902, ("human", "iclr-2020"): 881}),
    ("ai_only/iclr2022_ai_scientist_reviews.jsonl", "flat", {("ai", "iclr-2022"): 1368}),
    ("openreview_raw/api_v1_note_content_iclr2019_2020", "openreview-v1-content", {("human", None): 63}),
    (
        "openreview_raw/api_v2_agents4science2025",
        "openreview-v2",
        {("ai", "agents4science-2025"): 36, ("human", "agents4science-2025"): 12},
    ),
    ("openreview_raw/api_v2_iclr2026", "openreview-v2", {("human", "iclr-2026"): 45}),
]


def read(path: Path, folder: Path) -> list[ReviewCase]:
    with RejectedSink(folder / "rejected.jsonl") as sink:
        cases = list(read_cases(path, rejected=sink))
    assert sink.count == 0
    return cases


@pytest.mark.parametrize(("name", "layout", "expected"), SETS, ids=[name for name, _, _ in SETS])
def test_every_review_is_read(
    shared_data: Path, tmp_path: Path, name: str, layout: str, expected: dict[tuple[str, str | None], int]
) -> None:
    path = shared_data / name
    assert {file.layout for file in find_layouts(path)} == {layout}
    cases = read(path, tmp_path)
    venues = {venue for _, venue in expected}
    assert Counter((case.kind, case.venue if case.venue in venues else None) for case in cases) == expected
    assert len({case.case_id for case in cases}) == len(cases)
    assert sum(not case.text for case in cases) == (1 if "marg" in name else 0)
    assert all(case.origin and case.origin.layout == layout for case in cases)


def test_rows_without_reviews_are_refused_as_such(shared_data: Path) -> None:
    for name in ("paired/marg_iclr_comments_aligned.jsonl", "labelled/substanreview_spans.jsonl"):
        with pytest.raises(DataError, match="no reviews in a known layout"):
            read_cases(shared_data / name)


def test_the_raw_notes_say_what_the_shared_rows_say(shared_data: Path, tmp_path: Path) -> None:
    shared = {c.case_id: c for c in read(shared_data / "paired/agents4science2025_reviews.jsonl", tmp_path)}
    both = [c for c in read(shared_data / "openreview_raw/api_v2_agents4science2025", tmp_path) if c.case_id in shared]
    assert len(both) > 20
    for case in both:
        other = shared[case.case_id]
        assert (case.paper_id, case.source, case.rating) == (other.paper_id, other.source, other.rating)
        if case.kind == "ai":
            assert case.text == other.text.strip()


@pytest.mark.slow
def test_no_label_of_the_ai_reviews_is_left_in_their_texts(shared_data: Path, tmp_path: Path) -> None:
    cases = read(shared_data / "ai_only/iclr2022_ai_scientist_reviews.jsonl", tmp_path)
    assert not any(line in ("Summary:", "Strengths:", "Questions:") for case in cases for line in case.text.split("\n"))


@pytest.mark.parametrize(("name", "count"), [("elife_fulltext_reviews", 7), ("ai_scientist_generated_fulltext", 5)])
def test_the_full_texts_are_on_the_shelf_under_the_ids_of_the_reviews(
    shared_data: Path, tmp_path: Path, name: str, count: int
) -> None:
    file = shared_data / "papers" / f"{name}.jsonl"
    store = read_papers(file)
    assert len(store.ids()) == count
    for row, line in zip(file.read_text(encoding="utf-8").splitlines(), read(file, tmp_path), strict=False):
        paper = store.get(line.paper_id)
        assert paper is not None
        assert sum(len(section.text) for section in paper.content) > 3_000
        assert json.loads(row)["title"]
