"""``referee data`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from .command import Referee


def test_a_set_is_counted_checked_split_and_converted(referee: Referee, tmp_path: Path) -> None:
    reviews = [{"review_id": f"r{n}", "summary": "A bound.", "rating": 6} for n in range(2)]
    rows = [{"forum_id": f"p{n}", "conference": "iclr", "year": 2024, "reviews": reviews} for n in range(3)]
    source, split, out = tmp_path / "set.jsonl", tmp_path / "split.json", tmp_path / "out"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    described = referee("data", "describe", source)
    assert described.code == 0
    assert "| iclr-2024  | 3      | 6       |" in described.out
    assert referee("data", "validate", source).out == "3 row(s) of 1 venue-year(s): 0 broken.\n"
    drawn = referee("data", "split", source, "--out", split, "--quota", 2, "--no-text")
    assert "2 paper(s), digest" in drawn.out
    done = referee("data", "convert", source, "--out", out, "--to", "parquet", "--split", split)
    assert done.out == f"iclr-2024.parquet: 2 paper(s)\nWritten to {out}.\n"
    source.write_text(source.read_text(encoding="utf-8") + "[1]\n", encoding="utf-8")
    broken = referee("data", "validate", source)
    assert broken.code == 1
    assert broken.out.startswith(f"{source}:4: row: the record is no object\n")
    refused = referee("data", "convert", source, "--out", out)
    assert (refused.code, refused.out) == (2, "")
    assert "is there already" in refused.err
