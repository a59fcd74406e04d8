import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.errors import RunError
from referee.runs import RunFolder
from referee.runs.folder import check_new


def create(path: Path, **inputs: str) -> RunFolder:
    return RunFolder.create(
        path,
        command="review",
        inputs=inputs or {"paper": "p1", "strategy": "single"},
        settings={"a": 1},
        models={},
        prompts={},
        package_version="0",
    )


def test_a_run_is_recorded_from_its_first_moment(tmp_path: Path) -> None:
    with create(tmp_path / "run") as run:
        record = json.loads((run.path / "run.json").read_text())
    assert record["status"] == "running"
    assert record["inputs"] == {"paper": "p1", "strategy": "single"}
    assert record["finished_at"] is None


def test_a_folder_that_holds_a_run_or_files_is_not_overwritten(tmp_path: Path) -> None:
    create(tmp_path / "run").__exit__(None, None, None)
    with pytest.raises(RunError, match="already holds a run"):
        create(tmp_path / "run")
    with pytest.raises(RunError, match="already holds a run"):
        check_new(tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    with pytest.raises(RunError, match=r"not empty \(it holds 'notes.txt'\)"):
        create(tmp_path / "mine")


def test_two_processes_cannot_share_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with create(path):
        code = (
            "import sys; from pathlib import Path; from referee.runs import RunFolder\n"
            "from referee.errors import RunError\n"
            "try: RunFolder.resume(Path(sys.argv[1]), inputs={'paper': 'p1', 'strategy': 'single'}, settings={})\n"
            "except RunError as e: print(e)\n"
        )
        second = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert f"in use by another process (pid {os.getpid()} on " in second.stdout


def test_resume_refuses_other_inputs_and_names_them(tmp_path: Path) -> None:
    create(tmp_path / "run").__exit__(None, None, None)
    with pytest.raises(RunError, match="started with another paper"):
        RunFolder.resume(tmp_path / "run", inputs={"paper": "p2", "strategy": "single"}, settings={})
    with pytest.raises(RunError, match="holds no run"):
        RunFolder.resume(tmp_path, inputs={}, settings={})


def test_resume_takes_new_limits_and_a_damaged_record_is_said(tmp_path: Path) -> None:
    create(tmp_path / "run").__exit__(None, None, None)
    same = {"paper": "p1", "strategy": "single"}
    with RunFolder.resume(tmp_path / "run", inputs=same, settings={"budget": 2}) as run:
        assert run.record.settings == {"budget": 2}
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(RunError, match="damaged"):
        RunFolder.resume(tmp_path / "run", inputs=same, settings={})


def test_an_unwritable_place_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "run", Path("/proc/referee-run")):
        with pytest.raises(RunError):
            check_new(place)
    check_new(tmp_path / "new" / "run")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]
