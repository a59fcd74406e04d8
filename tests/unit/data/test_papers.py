"""The papers of a set: by file name, by row, by digest; none is a result, two for one id an error."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from referee.data import read_papers
from referee.errors import DataError

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


def rows(path: Path, *values: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_a_folder_gives_papers_by_name_row_and_digest(tmp_path: Path) -> None:
    (tmp_path / "forum_1.md").write_text(PAPER, encoding="utf-8")
    (tmp_path / "README.md").write_text("no paper", encoding="utf-8")
    rows(tmp_path / "papers.jsonl", ROW, {"forum_id": "only-abstract", "title": "T", "abstract": "A"})
    shelf = read_papers(tmp_path)
    assert shelf.ids() == ("doi:10.1/x", "forum_1")
    paper = shelf.get("forum:1")
    assert paper is not None
    assert paper is shelf.get("forum_1")
    assert paper is shelf.get(hashlib.sha256(PAPER.encode()).hexdigest())
    assert (paper.title, shelf.get("other"), shelf.get("0" * 64), shelf.get("only-abstract")) == (
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
    shelf = read_papers(tmp_path / "mine.md")
    assert shelf.ids() == ("mine",)
    assert shelf.get("any") is shelf.get("other")


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
    shelf = read_papers(file)
    assert shelf.get("doi:10.1/x") is not None
    assert shelf.problems == (
        "rows.jsonl, line 2: not JSON: Expecting property name enclosed in double quotes at column 2",
    )


def test_the_last_papers_are_kept_and_the_others_read_again(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"p{number}.md").write_text(f"{PAPER}{number}", encoding="utf-8")
    shelf = read_papers(tmp_path)
    first = shelf.get("p0")
    assert shelf.get("p0") is first
    for number in range(1, 10):
        shelf.get(f"p{number}")
    again = shelf.get("p0")
    assert again == first
    assert again is not first
