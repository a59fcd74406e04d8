"""``referee data`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from .command import Referee


def test_the_arena_takes_ratings_on_the_scale_that_rows_name(referee: Referee, tmp_path: Path) -> None:
    def rows(name: str, scale: str, **about: object) -> Path:
        path, place = tmp_path / f"{name}.jsonl", {"conference": "neurips", "year": 2025}
        reviews = [
            {"review_id": f"{name}{n}", "summary": "S.", "rating": 3 + 5 * bool(about), **about} for n in range(2)
        ]
        path.write_text(json.dumps({"forum_id": "p", **place, "reviews": reviews}), encoding="utf-8")
        out = tmp_path / f"{name}-{scale}"
        assert referee("data", "convert", path, "--out", out, "--scale-override", f"neurips-2025={scale}").code == 0
        return out

    human, model = rows("h", "1-10"), rows("m", "1-10", source="ai:m")
    scored = referee("arena", "score", model, "--human", human, "--out", tmp_path / "scored")
    assert "ratings on neurips-2025 are read on 1-10" in scored.out + scored.err
    line = next(line for line in scored.out.splitlines() if line.startswith("| m "))
    assert [cell.strip()[:6] for cell in line.split("|")[2:6]] == ["1", "0", "5.000", "+5.000"]
    refused = referee("arena", "score", model, "--human", rows("h", "1-9"), "--out", tmp_path / "no")
    assert "are on two scales, 1-10 and 1-9" in refused.err


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
