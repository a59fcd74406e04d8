"""Real public reviews read on the form of their own year."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.errors import DataError
from referee.schemas import VenueForm
from referee.venues import check_field, load_venue, parse_score, wire_value

pytestmark = pytest.mark.shared_data


def _notes(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """File name and content of each review, values unwrapped."""
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for note in data.get("notes", data.get("replies", [{"content": data}])):
            if any(not invitation.endswith("Review") for invitation in note.get("invitations", [])[:1]):
                continue
            content = note["content"]
            yield path.name, {k: v["value"] if isinstance(v, dict) and "value" in v else v for k, v in content.items()}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _misfits(form: VenueForm, content: dict[str, Any]) -> Iterator[str]:
    """Names that the form does not have, and fields whose value it does not take or would store otherwise."""
    names = {field.name for field in form.fields}
    for name, value in content.items():
        if name not in names:
            yield f"{name} is no field"
            continue
        field = form.field(name)
        try:
            check_field(field, value)
        except DataError:
            yield f"{name} does not take {value!r}"
            continue
        if field.kind == "score" and wire_value(field, value) != value:
            yield f"{name} stores {value!r} otherwise"


@pytest.mark.parametrize(("year", "reviews"), [(2019, 19), (2020, 44)])
def test_raw_notes_of_iclr_2019_and_2020_fit_wholly(shared_data: Path, year: int, reviews: int) -> None:
    form = load_venue(f"iclr-{year}")
    folder = shared_data / "openreview_raw" / "api_v1_note_content_iclr2019_2020"
    contents = [content for name, content in _notes(folder) if name.startswith(str(year))]
    assert len(contents) == reviews
    assert [misfit for content in contents for misfit in _misfits(form, content)] == []
    assert all(set(content) == {field.name for field in form.fields} for content in contents)


def test_raw_notes_of_iclr_2026_fit_wholly(shared_data: Path) -> None:
    form = load_venue("iclr-2026")
    contents = [content for _, content in _notes(shared_data / "openreview_raw" / "api_v2_iclr2026")]
    assert len(contents) == 46
    assert [misfit for content in contents for misfit in _misfits(form, content)] == []
    order = [field.name for field in form.fields]
    assert all(sorted(content, key=order.index) == list(content) for content in contents)
    missing = Counter(name for content in contents for name in order if name not in content)
    assert missing == {"details_of_ethics_concerns": 39}


def test_raw_notes_of_agents4science_misfit_only_in_placeholders(shared_data: Path) -> None:
    form = load_venue("agents4science-2025")
    contents = [content for _, content in _notes(shared_data / "openreview_raw" / "api_v2_agents4science2025")]
    people = [content for content in contents if "ai_review_score" not in content]
    systems = [content for content in contents if "ai_review_score" in content]
    assert (len(people), len(systems)) == (12, 36)
    assert [misfit for content in people for misfit in _misfits(form, content)] == []
    placeholders = [f"{name} does not take 0" for name in ("quality", "clarity", "significance", "originality")]
    expected = {"ai_review_score is no field", *placeholders}
    assert all(set(_misfits(form, content)) == expected for content in systems)


@pytest.mark.parametrize(
    ("file", "ratings"), [("iclr2017_abstract_reviews_decisions", 186), ("iclr2019_2020_titled", 294)]
)
def test_stored_labels_of_older_years_are_the_forms(shared_data: Path, file: str, ratings: int) -> None:
    seen = Counter[str]()
    forms = {year: load_venue(f"iclr-{year}") for year in (2017, 2019, 2020)}
    for row in _lines(shared_data / "papers" / f"{file}.jsonl"):
        form = forms[row["year"]]
        for review in row["reviews"]:
            for name in ("rating", "confidence"):
                if label := review.get(f"{name}_label"):
                    assert wire_value(form.field(name), review[name]) == label
                    assert parse_score(form.field(name), label) == review[name]
                    seen[name] += 1
    assert seen["rating"] == ratings


def test_scores_of_human_reviews_before_language_models(shared_data: Path) -> None:
    forms = {year: load_venue(f"iclr-{year}") for year in (2019, 2020)}
    read = Counter[tuple[int, str]]()
    for row in _lines(shared_data / "human_only" / "iclr2019_2020_reviews.jsonl"):
        for name, score in row["scores"].items():
            if score is not None:
                assert parse_score(forms[row["year"]].field(name), score) == score
                read[row["year"], name] += 1
    assert read == {(2019, "rating"): 902, (2019, "confidence"): 902, (2020, "rating"): 881}


def test_scores_of_iclr_2026_papers(shared_data: Path) -> None:
    form = load_venue("iclr-2026")
    scores = ("rating", "confidence", "soundness", "presentation", "contribution")
    reviews = [
        r for row in _lines(shared_data / "papers/iclr2026_abstract_reviews_rebuttals.jsonl") for r in row["reviews"]
    ]
    assert len(reviews) == 416
    assert all(parse_score(form.field(name), review[name]) == review[name] for review in reviews for name in scores)
    assert {review["rating"] for review in reviews} == {0, 2, 4, 6, 8}


def test_scores_of_agents4science_reviews(shared_data: Path) -> None:
    form = load_venue("agents4science-2025")
    zeros = Counter[str]()
    for row in _lines(shared_data / "paired" / "agents4science2025_reviews.jsonl"):
        for name, score in row["scores"].items():
            if score == 0:
                zeros[row["source"].split(":")[0]] += 1
                assert name in ("quality", "clarity", "significance", "originality")
            elif score is not None:
                assert parse_score(form.field(name), score) == score
    assert set(zeros) == {"ai"}
