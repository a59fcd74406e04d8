from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.data.predictions import Prediction, holds_predictions, read_predictions, write_predictions
from referee.data.submissions import NO_TEXT, read_submissions
from referee.errors import DataError
from referee.venues import load_venue

TEXT = "# Title\n\n## 1 Method\n\nWe count.\n"


def rows(path: Path, *found: object) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in found))
    return path


def test_rows_name_their_form_by_conference_and_year(tmp_path: Path) -> None:
    path = rows(
        tmp_path / "p.jsonl",
        {"forum_id": "a", "conference": "NeurIPS", "year": 2025, "title": "A", "markdown": TEXT},
        {"paper_id": "b", "venue": "iclr-2024", "sections": [{"heading": "1 Method", "text": "We count."}]},
        {"forum_id": "c", "venue_id": "ICLR.cc/2026/Conference", "markdown": TEXT},
        {"forum_id": "d", "conference": "EMNLP", "year": "2023", "markdown": TEXT},
        {"forum_id": "e", "conference": "ICLR", "year": 1999, "markdown": TEXT},
        {"forum_id": "f", "conference": "ICLR", "year": 2024, "abstract": "Only this."},
        {"forum_id": "g", "markdown": TEXT},
        "no object",
    )
    found = read_submissions(path)
    assert [(one.paper_id, one.form.id if one.form else None) for one in found[:4]] == [
        ("a", "neurips-2025"),
        ("b", "iclr-2024"),
        ("c", "iclr-2026"),
        ("d", "emnlp-2023"),
    ]
    assert [one.problem for one in found[4:]] == [
        "the form of 'ICLR 1999' is unknown",
        NO_TEXT,
        "the paper names no venue (--venue gives one)",
        "the row is no object",
    ]
    source = found[0].source
    assert callable(source)
    assert [section.heading for section in source().content] == ["Method"]
    given = read_submissions(path, load_venue("iclr-2020"))
    assert [one.form.id if one.form else None for one in given[4:]] == ["iclr-2020", "iclr-2024", "iclr-2020", None]
    assert given[5].problem == NO_TEXT


def test_a_folder_holds_files_and_rows(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(TEXT)
    (tmp_path / "README.md").write_text("About.")
    rows(tmp_path / "papers.jsonl", {"forum_id": "y", "conference": "ICLR", "year": 2024, "markdown": TEXT})
    found = read_submissions(tmp_path, load_venue("tmlr"))
    assert [(one.paper_id, one.form.id if one.form else None) for one in found] == [("y", "iclr-2024"), ("x", "tmlr")]
    assert [one.paper_id for one in read_submissions(tmp_path / "x.md")] == ["x"]


def test_nothing_and_doubles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no"):
        read_submissions(tmp_path / "gone.jsonl")
    with pytest.raises(DataError, match="holds no paper"):
        read_submissions(rows(tmp_path / "empty.jsonl"))
    twice = rows(tmp_path / "papers.jsonl", {"forum_id": "x", "conference": "ICLR", "year": 2024, "markdown": TEXT})
    (tmp_path / "x.md").write_text(TEXT)
    with pytest.raises(DataError, match="two papers 'x'"):
        read_submissions(twice.parent)


def test_predictions_are_written_and_read_and_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    made = [
        Prediction(paper_id="a", source="m", status="answered", rating=6),
        Prediction(paper_id="b", source="m", status="failed", reason="x"),
    ]
    write_predictions(path, made)
    assert holds_predictions(path)
    assert read_predictions(path) == made
    path.write_text(path.read_text() + '{"paper_id": "c"}\n')
    with pytest.raises(DataError, match=r"line 3, is no prediction: .*required"):
        read_predictions(path)
    assert not holds_predictions(rows(tmp_path / "cases.jsonl", {"paper_id": "a", "text": "x"}))
    assert not holds_predictions(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert not holds_predictions(tmp_path / "binary")
