"""The papers of a set: by file name, by row, by digest, and with the venue they were submitted to."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from referee.data import read_papers
from referee.data.predictions import Prediction, holds_predictions, read_predictions, write_predictions
from referee.data.submissions import NO_TEXT, read_submissions
from referee.errors import DataError
from referee.schemas.paper import Converter
from referee.venues import load_venue

PAPER = "# A title\n\n## 1 Introduction\n\nSome words.\n\n## 2 Method\n\nMore words.\n"
ROW = {
    "local_id": "doi:10.1/x",
    "title": "T",
    "abstract": "In short.",
    "sections": [
        {"level": 1, "heading": "Methods", "text": "First.\nSecond."},
        {"level": 2, "heading": "Data", "text": ""},
    ],
    "references": [{"title": "Old work", "source": "J", "year": "1999"}],
}


def rows(path: Path, *values: object) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_a_folder_gives_papers_by_name_row_and_digest(tmp_path: Path) -> None:
    (tmp_path / "forum_1.md").write_text(PAPER, encoding="utf-8")
    (tmp_path / "README.md").write_text("no paper", encoding="utf-8")
    rows(tmp_path / "papers.jsonl", ROW, {"forum_id": "only-abstract", "title": "T", "abstract": "A"})
    store = read_papers(tmp_path)
    assert store.ids() == ("doi:10.1/x", "forum_1")
    paper = store.get("forum:1")
    assert paper is not None
    assert paper is store.get("forum_1")
    assert paper is store.get(hashlib.sha256(PAPER.encode()).hexdigest())
    assert (paper.title, store.get("other"), store.get("0" * 64), store.get("only-abstract")) == (
        "A title",
        None,
        None,
        None,
    )


def test_a_row_becomes_a_paper_with_its_abstract_sections_and_references(tmp_path: Path) -> None:
    file = rows(tmp_path / "set.jsonl", ROW)
    paper = read_papers(file).get("doi:10.1/x")
    assert paper is not None
    assert [(s.heading, s.level, s.role) for s in paper.sections] == [
        ("Abstract", 1, "abstract"),
        ("Methods", 1, "content"),
        ("Data", 2, "content"),
        ("References", 1, "references"),
    ]
    assert (paper.abstract, paper.format, paper.converter.name) == ("In short.", "text", "referee-rows")
    assert paper.paper_id == hashlib.sha256(file.read_bytes().strip()).hexdigest()
    assert [reference.year for reference in paper.references] == [1999]
    assert [block.text for block in paper.sections[1].blocks] == ["First.", "Second."]


def test_one_file_is_the_paper_of_every_review(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(PAPER, encoding="utf-8")
    store = read_papers(tmp_path / "mine.md")
    assert store.ids() == ("mine",)
    assert store.get("any") is store.get("other")


def test_two_of_one_id_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(PAPER, encoding="utf-8")
    (tmp_path / "a.txt").write_text(PAPER, encoding="utf-8")
    with pytest.raises(DataError, match=r"two files are there for paper 'a'"):
        read_papers(tmp_path)
    (tmp_path / "a.txt").unlink()
    rows(tmp_path / "papers.jsonl", {**ROW, "local_id": "a"})
    with pytest.raises(DataError, match=r"a row of 'papers.jsonl' as well"):
        read_papers(tmp_path)
    with pytest.raises(DataError, match=r"two rows for paper 'doi:10.1/x', the second in line 2"):
        read_papers(rows(tmp_path / "two.jsonl", ROW, ROW))


def test_a_missing_or_empty_place_is_an_error_and_a_bad_row_is_not(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no"):
        read_papers(tmp_path / "gone")
    with pytest.raises(DataError, match="holds no paper"):
        read_papers(tmp_path)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\n{broken\n")
    store = read_papers(file)
    assert store.get("doi:10.1/x") is not None
    (problem,) = store.problems
    assert problem.startswith("rows.jsonl, line 2: not JSON: ")
    assert problem.endswith(" at column 2")


def test_the_last_papers_are_kept_and_the_others_read_again(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"p{number}.md").write_text(f"{PAPER}{number}", encoding="utf-8")
    store = read_papers(tmp_path)
    first = store.get("p0")
    assert store.get("p0") is first
    for number in range(1, 10):
        store.get(f"p{number}")
    again = store.get("p0")
    assert again == first
    assert again is not first


@pytest.mark.parametrize("suffix", ["jsonl.gz", "parquet"])
def test_a_packed_list_and_a_parquet_one_give_the_papers_of_the_lines(tmp_path: Path, suffix: str) -> None:
    more = {"local_id": "second", "title": "S", "markdown": PAPER}
    lines, file = rows(tmp_path / "set.jsonl", ROW, more), tmp_path / f"set.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist([{**ROW, "markdown": ""}, {**dict.fromkeys(ROW), **more}]), file)
    else:
        file.write_bytes(gzip.compress(lines.read_bytes()))
    same = {"converter": Converter(name="any", version="1"), "paper_id": "0"}
    for name in ("second", "doi:10.1/x"):
        found, plain = (read_papers(path).get(name) for path in (file, lines))
        assert found is not None
        assert plain is not None
        assert found.model_copy(update=same) == plain.model_copy(update=same)
    assert [one.paper_id for one in read_submissions(file)] == ["doi:10.1/x", "second"]


def test_a_damaged_packed_list_is_named(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl.gz").write_bytes(gzip.compress(b"{}\n" * 9000)[:-20])
    with pytest.raises(DataError, match="breaks off"):
        read_papers(tmp_path / "set.jsonl.gz")


TEXT = "# Title\n\n## 1 Method\n\nWe count.\n"


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
