"""The papers p7 to p9 of ``benchmarks/planted``: their errors and what proves them stand where the records say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TO_WORK_OUT = ("derived", "absence")


@pytest.mark.shared_data
@pytest.mark.parametrize("paper", ["p7", "p8", "p9"])
def test_ten_errors_fit_their_paper(paper: str, load: Callable[[str], ModuleType], shared_data: Path) -> None:
    keys = load("planted_keys")
    before, after, key = keys.key_of(paper)
    rows = keys.records(paper)["records"]
    assert len(key.records) == 10
    for record, row in zip(key.records, rows, strict=True):
        assert all(edit.before != edit.after for edit in record.edits)
        assert [keys.sha256(anchor.text) for anchor in record.anchors] == [a["sha256"] for a in row["anchors"]]
    assert sum(record.severity == "H" for record in key.records) >= 4
    assert sum(record.difficulty in TO_WORK_OUT for record in key.records) >= 4
    restored = after
    for edit in sorted((e for r in key.records for e in r.edits), key=lambda e: e.start):
        assert restored[edit.start : edit.start + len(edit.after)] == edit.after
        restored = restored[: edit.start] + edit.before + restored[edit.start + len(edit.after) :]
    assert restored == before


@pytest.mark.shared_data
def test_a_mend_that_stands_nowhere_is_refused(load: Callable[[str], ModuleType], shared_data: Path) -> None:
    load("planted_keys")
    with pytest.raises(SystemExit, match="do not stand once"):
        load("texts")._read("01_acl_naacl2018.pdf", (("no such words in the paper", "nor these", "x"),))


def test_the_table_of_audited_is_what_the_kept_marks_come_to(
    load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root / "benchmarks" / "planted")
    page = (root / "docs" / "planted.md").read_text(encoding="utf-8")
    assert "\n".join(load("audited").lines()) in page
