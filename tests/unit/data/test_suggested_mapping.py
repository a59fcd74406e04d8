"""Rows under other names are refused with a mapping that reads them, or nearly."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from referee.data import read_cases
from referee.data.suggestion import suggested_mapping, write_mapping
from referee.errors import DataError
from referee.schemas.case import ReviewCase

LONG = "The proof of Lemma 2 has a gap, and Table 3 gives no variance over seeds. " * 4


def suggested(path: Path) -> str:
    with pytest.raises(DataError) as refused:
        read_cases(path)
    _, _, toml = refused.value.hint.partition("\n\n")
    return toml


def read_by(path: Path, toml: str) -> list[ReviewCase]:
    mapping = path.parent / "map.toml"
    mapping.write_text(toml, encoding="utf-8")
    return list(read_cases(path, mapping=mapping))


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_suggestion_for_a_table_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    header = "Manuscript ID,Paper Title,Who wrote it,Review Text (full),Overall score,Reviewer confidence,Conf.,Year\n"
    file.write_text(f'{header}m7,Of Whales,human,"{LONG}",6: above,4,ICLR,2024\n', encoding="utf-8")
    (case,) = read_by(file, suggested(file))
    assert (case.paper_id, case.paper_title, case.text) == ("m7", "Of Whales", LONG.strip())
    assert (case.kind, case.rating, case.confidence, case.venue) == ("human", 6, 4, "iclr-2024")


def test_short_names_nested_ones_lists_and_boxes(tmp_path: Path) -> None:
    short = jsonl(tmp_path / "a.jsonl", {"paper": "p1", "reviewer": "human", "comments": "Thin."})
    assert [(case.paper_id, case.kind, case.text) for case in read_by(short, suggested(short))] == [
        ("p1", "human", "Thin.")
    ]
    nested = jsonl(tmp_path / "b.jsonl", {"submission": {"number": 12}, "reports": [{"by": "human", "body": LONG}] * 1})
    assert [(case.paper_id, case.kind) for case in read_by(nested, suggested(nested))] == [("12", "human")]
    boxes = {"Article": "p", "Strong points": LONG, "Strengths noted": LONG, "Weaknesses noted": "Thin.", "Grade": 3}
    boxed = jsonl(tmp_path / "c.jsonl", boxes)
    (case,) = read_by(boxed, suggested(boxed))
    assert (set(case.fields), case.rating) == ({"strengths", "weaknesses"}, 3)


def test_parquet_has_a_suggestion_too(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([{"ManuscriptNo": 4, "ReportBody": LONG}]), tmp_path / "odd.parquet")
    (case,) = read_by(tmp_path / "odd.parquet", suggested(tmp_path / "odd.parquet"))
    assert (case.paper_id, case.source) == ("4", "unknown")


def test_what_is_not_found_is_asked_and_authors_are_never_guessed(tmp_path: Path) -> None:
    toml = suggested(jsonl(tmp_path / "a.jsonl", {"alpha": 1, "written by": "GPT-4", "remarks": LONG}))
    assert '# paper_id = ""' in toml
    assert "alpha" in toml
    assert '# "GPT-4" = "ai"' in toml
    assert tomllib.loads(toml) == {"case": {"text": "remarks", "source": "written by"}, "kinds": {}}


def test_names_with_quotes_and_breaks_stay_toml(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", {'paper "no"\n[case]\x7f': "p", "the\\text": LONG})
    assert [case.paper_id for case in read_by(file, suggested(file))] == ["p"]


def test_the_suggestion_is_written_and_nothing_is_overwritten(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", {"paper": "p1", "comments": "Thin."})
    write_mapping(file, tmp_path / "map.toml")
    assert [case.text for case in read_cases(file, mapping=tmp_path / "map.toml")] == ["Thin."]
    with pytest.raises(DataError, match="there already"):
        write_mapping(file, tmp_path / "map.toml")
    with pytest.raises(DataError, match="no rows"):
        write_mapping(jsonl(tmp_path / "empty.jsonl"), tmp_path / "other.toml")


@pytest.mark.parametrize("name", ["Comments to authors", "comments_for_the_author", "Review text for authors"])
def test_what_is_said_to_the_authors_is_the_review_and_not_who_wrote_it(name: str) -> None:
    rows = [{"Manuscript No": 12, "Rater Overall": 5, name: "Table 2 lacks a baseline, and Lemma 1 skips a step."}]
    made = tomllib.loads(suggested_mapping(rows))
    assert made["case"] == {"paper_id": "Manuscript No", "text": name, "rating": "Rater Overall"}
