"""What differs from system to system, and what holds where a system lacks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee import machine


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without affinity, quotas, locks and limits."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(machine, "_CPU_QUOTA", Path("/nowhere/cpu.max"))
    monkeypatch.setattr(machine, "fcntl", None)
    monkeypatch.setattr(machine, "resource", None)


def test_a_lock_is_taken_once(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as first, (tmp_path / "lock").open("w") as second:
        assert machine.try_lock(first.fileno())
        assert not machine.try_lock(second.fileno())
    with (tmp_path / "lock").open("w") as third:
        assert machine.try_lock(third.fileno())


@pytest.mark.usefixtures("bare")
def test_without_locks_all_are_free_and_without_limits_none_holds(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as first, (tmp_path / "lock").open("w") as second:
        assert machine.try_lock(first.fileno())
        assert machine.try_lock(second.fileno())
    assert machine.open_file_limit(10**9) is None
    assert machine.usable_cores() == os.cpu_count()


def test_a_process_lives_until_it_was_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert machine.process_lives(child.pid)
    child.communicate(b"\n")
    assert not machine.process_lives(child.pid)
    assert machine.process_lives(1), "somebody else's"
    assert not machine.process_lives(2**40)


BOUND = """
import resource, signal, sys
from referee import machine
if sys.argv[1] == "mac":
    real = resource.setrlimit
    def setrlimit(kind, pair):
        if kind == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")
        real(kind, pair)
    resource.setrlimit = setrlimit
elif sys.argv[1] == "none":
    machine.resource = None
    del signal.alarm
machine.bound_process(30, memory_bytes=2**31, file_bytes=2**20, open_files=64)
print([resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)])
"""


@pytest.mark.parametrize(
    ("system", "bounds"),
    [("linux", [2**31, 2**20, 64]), ("mac", [None, 2**20, 64]), ("none", [None, None, None])],
)
def test_a_process_is_bounded_as_far_as_the_system_can(system: str, bounds: list[int | None]) -> None:
    done = subprocess.run([sys.executable, "-c", BOUND, system], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert [value if wanted is not None else None for value, wanted in zip(found, bounds, strict=True)] == bounds
    if system == "none":
        assert 2**20 not in found


def test_whatever_else_asks_the_system_does_so_through_this_module() -> None:
    package = Path(machine.__file__).parent
    asking = ("sched_getaffinity", "import fcntl", "import resource\n", '"/proc/', "os.fork(")
    found = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if any(word in file.read_text(encoding="utf-8") for word in asking)
    }
    assert found == {"machine.py"}
