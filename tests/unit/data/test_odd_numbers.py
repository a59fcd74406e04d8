"""Values that are no numbers are named and null, and the row and all others are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.data import RejectedSink, read_cases
from referee.data.ratings import rating
from referee.schemas.case import ReviewCase
from referee.venues.registry import load_venue

DIGITS = "9" * 5_000


def line(review_id: str, **raw: str) -> str:
    values = {"paper_id": '"p"', "review_id": f'"{review_id}"', "source": '"human"', "text": f'"{review_id}."', **raw}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}"


def read(file: Path, *lines: str) -> tuple[list[ReviewCase], list[str]]:
    file.write_text("\n".join(lines) if file.suffix == ".jsonl" else f"[{','.join(lines)}]", encoding="utf-8")
    with RejectedSink(file.parent / "rejected.jsonl") as sink:
        cases = list(read_cases(file, rejected=sink))
    text = sink.path.read_text(encoding="utf-8") if sink.count else ""
    return cases, [json.loads(row)["reason"] for row in text.splitlines()]


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (DIGITS, "a number of 5,000 digits is too long"),
        ("1" + "0" * 400, "a number of 401 digits is too long"),
        ("1e999", "Infinity is no number"),
        ("Infinity", "Infinity is no number"),
        ("-Infinity", "-Infinity is no number"),
        ("NaN", "NaN is no number"),
        ("true", "true is no number"),
        ('"great"', "'great' is no number"),
        ("[6, 7]", "[6, 7] is no number"),
    ],
)
def test_a_rating_that_is_no_number_is_null_with_its_reason(tmp_path: Path, suffix: str, raw: str, said: str) -> None:
    rows = (line("a", rating="6"), line("b", rating=raw, confidence=raw), line("c", rating="8", score=raw))
    cases, rejected = read(tmp_path / f"set.{suffix}", *rows)
    assert [case.rating for case in cases] == [6, None, 8]
    assert cases[1].extra["rating_unread"] == cases[1].extra["confidence_unread"] == said
    assert rejected == []
    assert all(ReviewCase.model_validate_json(case.model_dump_json()) == case for case in cases)


def test_a_number_beside_one_that_is_none_is_taken() -> None:
    nan = float("nan")
    assert rating({"rating": nan, "overall": 6}, None).value == 6
    assert rating({"rating": 6}, None, nan).value == 6
    assert rating({"rating": True}, load_venue("iclr-2024")).unread == "true is no number"
    assert rating({"rating": "N/A"}, None).unread == rating({}, None).unread == ""


def test_odd_numbers_elsewhere_in_a_row_harm_nothing(tmp_path: Path) -> None:
    odd = {name: value for name in ("year", "date", "cdate", "seed") for value in ("1e999",)}
    rows = (
        line("a", **odd),
        line("b", year=DIGITS, date=DIGITS, seed=DIGITS),
        line("c", date=f'"{DIGITS}"', year="NaN", seed='[NaN, {"x": Infinity}]'),
        line("d", paper_id=DIGITS),
    )
    cases, rejected = read(tmp_path / "set.jsonl", *rows)
    assert ([case.case_id for case in cases], rejected) == (["a", "b", "c", "d"], [])
    assert [case.year for case in cases] == [None] * 4
    assert cases[2].extra["seed"] == [None, {"x": None}]


def test_notes_of_no_finite_time_are_read(tmp_path: Path) -> None:
    note = {"id": "n", "forum": "p", "invitation": "ICLR.cc/2019/Conference/-/Paper3/Official_Review"}
    row = json.dumps({**note, "mdate": float("nan"), "content": {"review": "Good."}})
    cases, _ = read(tmp_path / "notes.jsonl", row)
    assert [case.text for case in cases] == ["Good."]


def test_our_own_records_take_no_flag_for_a_number(tmp_path: Path) -> None:
    case = ReviewCase(case_id="a", paper_id="p", source="m", kind="ai", text="T.").model_dump(mode="json")
    rows = [json.dumps({**case, "case_id": name, "rating": value}) for name, value in (("a", True), ("b", 6))]
    cases, rejected = read(tmp_path / "set.jsonl", *rows)
    assert [case.case_id for case in cases] == ["b"]
    assert rejected == ["the record is no case: rating: true is no number."]
