"""The same rows packed, in Parquet and as lines are the same reviews; what is no file of rows is refused at once."""

from __future__ import annotations

import asyncio
import datetime
import gzip
import json
import os
import sys
import tracemalloc
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from referee import api
from referee.data import RejectedSink, find_layouts, read_cases, read_papers
from referee.data.submissions import read_submissions
from referee.errors import DataError, MissingExtra
from referee.evals.behaviour.readability import backend
from referee.literature.index import WorkIndex
from referee.schemas.case import ReviewCase

ROWS: list[dict[str, Any]] = [
    {
        "paper_id": "p1",
        "review_id": "a",
        "source": "human",
        "text": "Schön.",
        "rating": 6,
        "venue": "ICLR",
        "year": 2024,
    },
    {"paper_id": "p1", "review_id": "b", "source": "ai:m", "text": "Thin.", "rating": 8, "venue": "ICLR", "year": 2024},
]


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(path: Path, *rows: dict[str, Any], row_group_size: int | None = None) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=row_group_size)
    return path


def cases(path: Path) -> list[ReviewCase]:
    return [case.model_copy(update={"origin": None}) for case in read_cases(path)]


def test_a_packed_file_and_parquet_hold_the_same_reviews(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_bytes(lines(*ROWS))
    (tmp_path / "set.jsonl.gz").write_bytes(gzip.compress(lines(*ROWS)))
    parquet(tmp_path / "set.parquet", *ROWS, row_group_size=1)
    plain = cases(tmp_path / "set.jsonl")
    assert [case.rating for case in plain] == [6, 8]
    assert cases(tmp_path / "set.jsonl.gz") == plain
    assert cases(tmp_path / "set.parquet") == plain
    origins = [case.origin for case in read_cases(tmp_path / "set.parquet")]
    assert [(one.line, one.layout) for one in origins if one] == [(1, "flat"), (2, "flat")]
    assert len(find_layouts(tmp_path)) == 3, "in a folder they are found by their names"


def test_nested_parquet_is_read_as_rows_of_papers_and_by_a_mapping(tmp_path: Path) -> None:
    reviews = [
        {"review_id": "r1", "summary": "Sum.", "rating": 6},
        {"review_id": "r2", "summary": "Thin.", "rating": 3},
    ]
    paper = {"forum_id": "f", "conference": "ICLR", "year": 2024, "reviews": reviews}
    assert [case.text for case in read_cases(parquet(tmp_path / "papers.parquet", paper))] == ["Sum.", "Thin."]
    odd = parquet(tmp_path / "odd.parquet", {"sub": {"no": 12}, "body": "Text."})
    (tmp_path / "map.toml").write_text('[case]\npaper_id = "sub.no"\ntext = "body"\n', encoding="utf-8")
    (case,) = read_cases(odd, mapping=tmp_path / "map.toml")
    assert (case.paper_id, case.text) == ("12", "Text.")


def test_values_that_json_does_not_have_are_read_from_parquet(tmp_path: Path) -> None:
    odd = {"date": datetime.date(2024, 5, 1), "when": datetime.datetime(2024, 5, 1, 12), "cost": Decimal("1.5")}
    row = {**ROWS[0], **odd, "rating": float("nan"), "hash": b"\x00\xff", "more": [{"at": datetime.date(2024, 5, 2)}]}
    (case,) = cases(parquet(tmp_path / "set.parquet", row))
    assert (case.date, case.rating, case.extra["rating_unread"]) == ("2024-05-01", None, "NaN is no number")
    assert (case.extra["when"], case.extra["cost"], case.extra["hash"]) == ("2024-05-01T12:00:00", 1.5, "00ff")
    assert case.extra["more"] == [{"at": "2024-05-02"}]


def test_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(lines(*ROWS) * 1000)[:-20])
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        assert len(list(read_cases(tmp_path / "cut.jsonl.gz", rejected=sink))) >= 1
    assert "breaks off" in sink.path.read_text(encoding="utf-8")
    for name, said in (("no.jsonl.gz", "no gzip"), ("no.parquet", "no Parquet")):
        (tmp_path / name).write_bytes(b"PAR1 nothing of the kind")
        with pytest.raises(DataError, match=said):
            read_cases(tmp_path / name)


def test_parquet_without_its_package_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = parquet(tmp_path / "set.parquet", *ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra) as refused:
        read_cases(file)
    assert "pip install 'referee[parquet]'" in refused.value.hint


@pytest.mark.parametrize("suffix", [".xlsx", ".xls", ".ods"])
def test_a_spreadsheet_is_refused_with_the_way_round(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"set{suffix}").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError) as refused:
        read_cases(tmp_path / f"set{suffix}")
    assert suffix in refused.value.message
    assert "as CSV" in refused.value.hint


@pytest.mark.parametrize(
    "read",
    [
        read_cases,
        find_layouts,
        read_papers,
        read_submissions,
        WorkIndex.load,
        partial(backend, "cmu"),
        lambda path: asyncio.run(api.review(path, venue="iclr-2024", model="local")),
    ],
)
@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl", "pipe.csv", "pipe.parquet", "pipe.pdf"])
def test_a_named_pipe_is_refused_and_never_opened(tmp_path: Path, read: Any, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="is a named pipe") as refused:
        list(read(tmp_path / name))
    assert refused.value.hint


def test_a_device_is_refused_and_a_pipe_in_a_folder_passed_over(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'/dev/null' is a device"):
        read_cases(Path("/dev/null"))
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_bytes(lines(ROWS[0]))
    assert [case.case_id for case in read_cases(tmp_path)] == ["a"]
    with pytest.raises(DataError, match="named pipe"):
        read_cases(tmp_path / "b.jsonl", mapping=tmp_path / "a.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl.gz", "parquet"])
def test_memory_stays_flat(tmp_path: Path, suffix: str) -> None:
    body = "The method is sound and the experiments are thin. " * 300
    rows = ({**ROWS[0], "review_id": str(n), "text": f"{n} {body}"} for n in range(1_000))
    file = tmp_path / f"set.{suffix}"
    if suffix == "parquet":
        parquet(file, *rows, row_group_size=50)
    else:
        with gzip.open(file, "wb", compresslevel=1) as stream:
            stream.writelines(lines(row) for row in rows)
    list(zip(range(10), read_cases(file), strict=False))
    pa.default_memory_pool().release_unused()
    tracemalloc.start()
    try:
        before = pa.total_allocated_bytes()
        seen = max((pa.total_allocated_bytes() - before for _ in read_cases(file)), default=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak + seen < 8_000_000
