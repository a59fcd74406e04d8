"""An index of one's own: look-ups and searches in memory and in SQLite."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from referee.api.lookups import Lookup
from referee.errors import DataError
from referee.literature.checking import Record
from referee.literature.index import WorkIndex
from referee.literature.references import cited_of
from referee.literature.searching import IndexSearch
from referee.schemas.paper import Reference

WORKS = [
    Record("Zählen von Laternen", 2019, ("Lö",), "10.1/a", abstract="Lanterns counted.", published="2019-05-01"),
    Record("Lanterns in harbours", 2020, ("Bo Li",), arxiv="2001.00001", abstract="Harbours hold lanterns and boats."),
    Record("Nothing of the kind", None, abstract="No lanterns at all."),
    Record("Lanterns without an abstract", 2018),
]


def in_sqlite(folder: Path, works: list[Record]) -> WorkIndex:
    rows = folder / "works.jsonl"
    rows.write_text("".join(json.dumps(work._asdict()) + "\n" for work in works), encoding="utf-8")
    assert WorkIndex.build(rows, folder / "works.sqlite") == len(works)
    return WorkIndex.load(folder / "works.sqlite")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_ids_come_first_then_titles_that_share_half_of_their_words(kind: str, tmp_path: Path) -> None:
    index = WorkIndex(WORKS) if kind == "memory" else in_sqlite(tmp_path, WORKS)
    by_id = cited_of(Reference(id="r", text="arXiv:2001.00001", title="Zahlen von laternen"))
    assert [work.title for work in index.candidates(by_id)] == ["Lanterns in harbours", "Zählen von Laternen"]
    assert list(index.candidates(cited_of(Reference(id="r", text="", title="?!")))) == []


def test_titles_of_common_words_and_works_of_almost_one_title_are_told() -> None:
    cited = cited_of(Reference(id="r", text="", title="Harbour lanterns"))
    for count, notes in ((99, ()), (100, ("for 1 title(s) of common words the first 100 works were compared",))):
        index = WorkIndex([Record(f"Lanterns of harbour {n}", 2020) for n in range(count)])
        list(index.candidates(cited))
        assert index.notes == notes
        assert Lookup(index, "x").all_notes == notes
    parts = [
        Record(f"Counting lanterns in old northern harbours, part {n}", 2020, doi=f"10.1/{n}", abstract="Lanterns.")
        for n in "12"
    ]
    found = IndexSearch(WorkIndex(parts), "x").find(["lanterns"], None, 5)
    assert ([work.doi for work in found.records], found.merged) == (["10.1/1"], ("10.1/2",))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_search_takes_what_was_surely_there_by_a_day(kind: str, tmp_path: Path) -> None:
    index = WorkIndex(WORKS) if kind == "memory" else in_sqlite(tmp_path, WORKS)
    assert {work.title for work in index.search("lanterns", None, 9)} == {work.title for work in WORKS[:3]}
    assert [work.year for work in index.search("lanterns", date(2020, 6, 1), 9)] == [2019], "2020 was not over"
    assert {work.year for work in index.search("lanterns", date(2020, 12, 31), 9)} == {2019, 2020}
    assert len(index.search("lanterns", None, 1)) == 1
    assert index.search("--", None, 9) == []


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "other.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "broken.jsonl").write_text('{"title": 3}\n', encoding="utf-8")
    for name, words in (("other.sqlite", "no index of works|cannot be read"), ("broken.jsonl", "line 1 is no work")):
        with pytest.raises(DataError, match=words):
            WorkIndex.load(tmp_path / name)
    with pytest.raises(DataError, match="line 1 is no work"):
        WorkIndex.build(tmp_path / "broken.jsonl", tmp_path / "out.sqlite")
    with pytest.raises(DataError, match="cannot be read"):
        WorkIndex.build(tmp_path / "gone.jsonl", tmp_path / "out.sqlite")
    assert not list(tmp_path.glob("*out*")), "nothing is left half written"
