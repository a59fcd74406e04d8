"""A large set never sits in memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from referee.data import read_cases

ROWS = 2_000
BODY = "The method is sound and the experiments are thin. " * 300


def write(file: Path) -> None:
    with file.open("w", encoding="utf-8") as stream:
        table, listed = file.suffix == ".csv", file.suffix == ".json"
        stream.write("paper_id,source,text\n" if table else "[" if listed else "")
        for number in range(ROWS):
            if table:
                stream.write(f'p{number // 3},human,"{number}\n{BODY}"\n')
                continue
            row = {"paper_id": f"p{number // 3}", "source": "human", "text": f"{number} {BODY}"}
            stream.write(("," if listed and number else "") + json.dumps(row) + ("" if listed else "\n"))
        stream.write("]" if listed else "")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
def test_memory_stays_flat(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"set.{suffix}"
    write(file)
    assert file.stat().st_size > 30_000_000
    list(zip(range(10), read_cases(file), strict=False))  # what is loaded once is no matter of the set's size
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_cases(file)) == ROWS
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
