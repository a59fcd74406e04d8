from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from referee.runs.files import is_part, naming, write_atomically


def test_an_error_of_the_file_system_gets_the_files_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught, naming(tmp_path / "trace.jsonl"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "trace.jsonl"))
    other = OSError("without a number")
    with pytest.raises(OSError, match="without a number") as kept, naming(tmp_path):
        raise other
    assert kept.value is other


def test_the_old_file_stays_whole_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, "old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"run\.json"):
        write_atomically(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("run.json", "old")]


def test_a_file_gets_the_rights_of_any_other(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "x")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "part"), [(".run.json.x1.part", True), ("run.json.part", False), (".lock", False), (".part.x", False)]
)
def test_parts_are_told_by_their_names(name: str, part: bool) -> None:
    assert is_part(name) is part
