"""Sets of papers with their reviews: counted, checked, written in every format, and parts of them frozen."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from referee.api.benchmark_sets import convert_set, describe_set, draw_split, scale_override, validate_set
from referee.data import read_cases
from referee.data.paper_rows import read_rows
from referee.data.parquet import write_parquet
from referee.data.row_files import FORMS
from referee.data.splits import SplitRules, read_split, row_digest
from referee.errors import DataError, RefereeError, SettingsError
from referee.reports.corpus_tables import corpus_tables


def row(name: str, *ratings: int, conference: str = "iclr", year: int = 2024, **more: Any) -> dict[str, Any]:
    reviews = [
        {"review_id": f"{name}.{n}", "summary": "A bound.", "weaknesses": "The proof has a gap.", "rating": rating}
        for n, rating in enumerate(ratings)
    ]
    return {
        "forum_id": name,
        "conference": conference,
        "year": year,
        "markdown": "# A title\n\nText.",
        "reviews_json": json.dumps(reviews),
        **more,
    }


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Twelve papers of three venue-years, one of them with a rebuttal and a venue's words for an acceptance."""
    more = [row(f"n{n}", 4, 5, conference="neurips", year=2025) for n in range(4)]
    first = row("i0", 6, 8, decision="Accept (oral)", primary_area="theory", author_rebuttal="To all.")
    return lines(
        tmp_path / "corpus.jsonl",
        first,
        *(row(f"i{n}", 3, 5) for n in range(1, 5)),
        *(row(f"j{n}", 1, 3, year=2023) for n in range(3)),
        *more,
    )


def digests(path: Path) -> dict[str, str]:
    return {found.row.forum_id: row_digest(found.row) for found in read_rows(path) if found.row is not None}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_holds_the_same_rows_and_reviews(corpus: Path, tmp_path: Path, form: str) -> None:
    pdfs = None
    if form == "pdffolder":
        pdfs = tmp_path / "pdfs"
        pdfs.mkdir()
        for name in ("i0", "n0"):
            (pdfs / f"{name}.pdf").write_bytes(b"%PDF-1.4")
    done = convert_set(corpus, out=tmp_path / "out", to=form, pdfs=pdfs)
    assert digests(tmp_path / "out") == digests(corpus)
    kept = [
        {c.case_id: (c.text, c.rating, c.venue, c.decision) for c in read_cases(p)} for p in (corpus, tmp_path / "out")
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) == 24
    if pdfs is None:
        assert done.counts == {f"iclr-2024.{form}": 5, f"iclr-2023.{form}": 3, f"neurips-2025.{form}": 4}
    else:
        assert (done.counts, done.without_pdf) == ({"iclr-2024": 1, "neurips-2025": 1}, 10)
        held = json.loads((tmp_path / "out/iclr-2024/metadata.jsonl").read_text(encoding="utf-8"))
        assert (held["file_name"], held["year"], held["tldr"]) == ("i0.pdf", 2024, "")
        assert None not in held.values(), "a column of nulls has no type"
        assert (tmp_path / "out/iclr-2024/i0.pdf").is_file()


def test_packed_rows_are_the_same_bytes_each_time(corpus: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        convert_set(corpus, out=tmp_path / name, to="jsonl.gz")
    one, other = (sorted((tmp_path / name).iterdir()) for name in ("a", "b"))
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in other]


def test_counts_are_those_of_the_set_and_unknown_where_it_does_not_tell(corpus: Path, tmp_path: Path) -> None:
    found = describe_set(corpus, out=tmp_path / "tables")
    iclr = found.slices["iclr-2024"]
    assert [iclr.count(name) for name in ("papers", "reviews", "rated", "paper_rebuttals", "comments", "revised")] == [
        *(5, 10, 10, 1),
        *(None, None),
    ]
    assert found.slices["neurips-2025"].count("review_rebuttals") is None
    assert iclr.count("decision:accept") == 1
    tables = {table.file: table.rows for table in corpus_tables(found)}
    assert tables["coverage.csv"] == [["iclr", "2023-2024", 8, 16], ["neurips", "2025", 4, 8], ["total", "", 12, 24]]
    assert tables["areas.csv"] == [["iclr", "theory", 1]]
    written = json.loads((tmp_path / "tables/describe.json").read_text(encoding="utf-8"))
    assert written["interactions"][-1] == {
        "venue": "total",
        "years": "",
        "papers": 12,
        "reviews": 24,
        "review rebuttals": 0,
        "paper rebuttals": 1,
        "comments": None,
    }


def one_row(path: Path, **more: Any) -> Path:
    return lines(path, row("a", 6), row("b", 6, **more))


BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "scale": (
        lambda p: lines(p / "s.jsonl", row("a", 6, 7)),
        "s.jsonl:1: reviews[1].rating: field 'rating' does not take 7",
    ),
    "json": (lambda p: lines(p / "s.jsonl", row("a", 6), [1]), "s.jsonl:2: row: the record is no object"),
    "key": (lambda p: one_row(p / "s.jsonl", authors=[1]), "s.jsonl:2: authors[0]: "),
    "paper": (lambda p: one_row(p / "s.jsonl", forum_id=""), "s.jsonl:2: forum_id: the row names no paper"),
    "again": (lambda p: lines(p / "s.jsonl", row("a", 6), row("a", 8)), "s.jsonl:2: forum_id: duplicate"),
    "count": (lambda p: one_row(p / "s.jsonl", num_reviews=3), "s.jsonl:2: num_reviews: is 3, and there are 1"),
    "list": (
        lambda p: one_row(p / "s.jsonl", reviews_json="{"),
        "s.jsonl:2: reviews: the string of reviews is not valid JSON",
    ),
    "ids": (
        lambda p: one_row(p / "s.jsonl", reviews_json=json.dumps([{"review_id": "r", "summary": "x"}] * 2)),
        "s.jsonl:2: reviews[1].review_id: duplicate",
    ),
    "words": (
        lambda p: one_row(p / "s.jsonl", reviews_json=json.dumps([{"rating": 6, "rating_raw": "3: reject"}])),
        "s.jsonl:2: reviews[0].rating: is 6, and written '3: reject'",
    ),
    "gzip": (lambda p: cut(p / "s.jsonl.gz"), "breaks off or is damaged as a gzip"),
}


def cut(path: Path) -> Path:
    whole = gzip.compress("".join(json.dumps(row(f"p{n}", 6)) + "\n" for n in range(500)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    return path


@pytest.mark.parametrize(("make", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_row_is_named_by_file_line_key_and_cause(
    tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    heard: list[str] = []
    checked = validate_set(make(tmp_path), heard.append)
    assert checked.broken == len(heard) == 1
    assert said in heard[0]


def no_columns(path: Path) -> Path:
    pq.write_table(pa.table({"a": [1]}), path)
    return path


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda p: no_columns(p / "s.parquet"), "no reviews in a known layout"),
        (lambda p: lines(p / "s.jsonl"), "it is empty"),
        (lambda p: pipe(p / "s"), "named pipe"),
        (lambda p: cut(p / "s.jsonl.gz"), "breaks off"),
        (
            lambda p: lines(p / "s.jsonl", row("a", 6, 7, 9)),
            "2 of 3 ratings are not on the scale of the form 'iclr-2024'",
        ),
        (lambda p: lines(p / "s.jsonl", {"paper_id": "p", "text": "Sound."}), "layout 'flat'"),
        (lambda p: lines(p / "s.jsonl", {"reviews": []}), "no usable row"),
    ],
)
def test_what_cannot_be_converted_leaves_nothing_behind(tmp_path: Path, make: Callable[[Path], Path], why: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(DataError, match=why):
        convert_set(make(tmp_path / "in"), out=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_rows_that_cannot_be_used_are_kept_apart_and_a_single_odd_rating_is_counted(tmp_path: Path) -> None:
    source = lines(tmp_path / "s.jsonl", row("a", 6, 7), row("a", 6), row("b", 6))
    done = convert_set(source, out=tmp_path / "out")
    assert (done.counts, done.rejected, done.off_scale) == ({"iclr-2024.jsonl": 2}, 1, 1)
    (rejected,) = (tmp_path / "out/rejected.jsonl").read_text(encoding="utf-8").splitlines()
    assert (json.loads(rejected)["line"], json.loads(rejected)["reason"][:9]) == (2, "duplicate")
    with pytest.raises(DataError, match="is there already"):
        convert_set(source, out=tmp_path / "out")


def test_a_split_has_so_many_papers_of_each_conference_whatever_their_order(corpus: Path, tmp_path: Path) -> None:
    rules = SplitRules(quota=3)
    split = draw_split(corpus, out=tmp_path / "a.json", rules=rules)
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(reversed(corpus.read_text().splitlines(keepends=True))), encoding="utf-8")
    assert draw_split(turned, out=tmp_path / "b.json", rules=rules) == split == read_split(tmp_path / "a.json")
    assert [paper.conference for paper in split.papers] == ["iclr"] * 3 + ["neurips"] * 3
    assert all(paper.target == 4.5 for paper in split.papers if paper.conference == "neurips")
    other = draw_split(corpus, out=tmp_path / "c.json", rules=SplitRules(quota=3, seed=1))
    assert other.digest != split.digest
    assert draw_split(corpus, out=tmp_path / "d.json", rules=SplitRules(quota=5)).short == {"neurips": 4}


def test_a_paper_needs_reviews_text_and_a_number(tmp_path: Path) -> None:
    machine = [{"summary": "S.", "rating": 6, "source": "ai:m"}, {"summary": "T.", "rating": 6}]
    rows = [
        row("ai", reviews_json=json.dumps(machine)),
        row("few", 6),
        row("mute", 6, 6, markdown=""),
        row("off", 7, 7),
        row("good", 6, 8),
    ]
    split = draw_split(lines(tmp_path / "s.jsonl", *rows), out=tmp_path / "a.json", rules=SplitRules())
    assert [paper.forum_id for paper in split.papers] == ["good"]
    assert split.left_out == {
        "fewer than 2 reviews by people": 2,
        "no numeric rating on its form's scale": 1,
        "no text of the paper": 1,
    }
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/mute.md").write_text("# A title\n\nText.", encoding="utf-8")
    more = draw_split(tmp_path / "s.jsonl", out=tmp_path / "b.json", rules=SplitRules(), papers=tmp_path / "papers")
    assert [paper.forum_id for paper in more.papers] == ["good", "mute"]
    with pytest.raises(DataError, match="no paper meets the rules"):
        draw_split(tmp_path / "s.jsonl", out=tmp_path / "c.json", rules=SplitRules(min_reviews=3))


def test_a_split_takes_its_rows_out_of_any_format_and_refuses_a_changed_set(corpus: Path, tmp_path: Path) -> None:
    split = draw_split(corpus, out=tmp_path / "split.json", rules=SplitRules(quota=3))
    wanted = {paper.forum_id: paper.digest for paper in split.papers}
    convert_set(corpus, out=tmp_path / "all", to="parquet")
    convert_set(tmp_path / "all", out=tmp_path / "part", split=tmp_path / "split.json")
    assert digests(tmp_path / "part") == wanted
    name = split.papers[-1].forum_id
    text = corpus.read_text().replace(
        f'"{name}.0\\", \\"summary\\": \\"A bound.', f'"{name}.0\\", \\"summary\\": \\"No bound.'
    )
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(text.splitlines(keepends=True)[1:]), encoding="utf-8")
    gone = "" if "i0" not in wanted else ".*1 missing \\('i0'\\)"
    with pytest.raises(DataError, match=f"1 changed \\('{name}'\\){gone}"):
        convert_set(changed, out=tmp_path / "none", split=tmp_path / "split.json")
    assert not (tmp_path / "none").exists()
    held = json.loads((tmp_path / "split.json").read_text())
    held["papers"].pop()
    lines(tmp_path / "edited.json", held)
    with pytest.raises(DataError, match="not the one that was frozen"):
        convert_set(corpus, out=tmp_path / "none", split=tmp_path / "edited.json")


def test_another_scale_is_read_and_shown(tmp_path: Path) -> None:
    source = lines(tmp_path / "s.jsonl", row("a", 9, 10, conference="neurips", year=2025))
    with pytest.raises(DataError, match="neurips-2025"):
        convert_set(source, out=tmp_path / "out")
    override = scale_override("neurips-2025=1-10")
    split = draw_split(source, out=tmp_path / "split.json", rules=SplitRules(scale_override=override))
    assert split.papers[0].target == 9.5
    convert_set(source, out=tmp_path / "out", split=tmp_path / "split.json")
    (held,) = (json.loads(line) for line in (tmp_path / "out/neurips-2025.jsonl").read_text().splitlines())
    assert held["scale_override"] == {"form": "neurips-2025", "low": 1, "high": 10}
    assert [case.rating for case in read_cases(tmp_path / "out")] == [9, 10]


@pytest.mark.parametrize("given", ["neurips-2025", "neurips-2025=6-1", "tmlr=1-5", "nobody-1999=1-10"])
def test_a_scale_that_cannot_be_is_refused(given: str) -> None:
    with pytest.raises(RefereeError) as error:
        scale_override(given)
    assert error.value.hint


@pytest.mark.parametrize(("to", "pdfs"), [("xml", False), ("pdffolder", False), ("jsonl", True)])
def test_formats_and_their_options_go_together(corpus: Path, tmp_path: Path, to: str, pdfs: bool) -> None:
    with pytest.raises(SettingsError):
        convert_set(corpus, out=tmp_path / "out", to=to, pdfs=tmp_path if pdfs else None)


def test_parquet_is_written_a_few_rows_at_a_time(tmp_path: Path) -> None:
    schema = {"name": "string", "n": "int64", "share": "float64", "on": "bool", "tags": "strings"}
    given = [{"name": f"é{n}", "n": n, "share": n / 7, "on": bool(n % 2), "tags": ["a"] * (n % 3)} for n in range(600)]
    assert write_parquet((one for one in [*given, {"name": None}]), tmp_path / "t.parquet", schema) == 601
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert file.num_row_groups == 3
    assert file.read().to_pylist() == [*given, dict.fromkeys(schema)]
    assert write_parquet([], tmp_path / "none.parquet", schema) == 0
    assert pq.read_table(tmp_path / "none.parquet").schema.names == list(schema)
    with pytest.raises(ValueError, match="no such column: other"):
        write_parquet([{"other": 1}], tmp_path / "t.parquet", schema)
