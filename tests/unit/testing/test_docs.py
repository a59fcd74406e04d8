from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.faults import KINDS

ROOT = Path(__file__).parents[3]
PAGE = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("docs/testing.md", "tests/support/README.md"))
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SHELL = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_each_python_block_runs(number: int) -> None:
    exec(compile(PYTHON[number], f"block {number + 1}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("command", SHELL)
def test_each_command_runs(command: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(command)
    assert program == "python"
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_fault_is_described() -> None:
    assert [kind for kind in KINDS if f"`{kind}`" not in PAGE] == []
