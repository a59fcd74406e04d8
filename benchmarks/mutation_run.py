"""One mutant in one copy of the repository: write it, run the tests that see it, put the source back."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

KILLED, SURVIVED, TIMED_OUT, INCOMPETENT = "killed", "survived", "timed out", "incompetent"
MEMORY_BYTES = 6 << 30
BASELINE_LIMIT_S = 600.0

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Ending:
    """How a run of tests ended: its outcome, the test that ended it or what pytest said, and how long it took."""

    outcome: str
    by: str
    seconds: float


@dataclass(frozen=True)
class Baseline:
    """The tests on the source as it is: how long they take, and which fail (an id is cut at its first blank)."""

    seconds: float
    red: tuple[str, ...]


@dataclass(frozen=True)
class Copy:
    """A copy of the repository that may be broken; the shared data beside the original is beside it as well."""

    root: Path

    @classmethod
    def of(cls, repository: Path, folder: Path) -> Copy:
        """Copy what git knows or would know, so no caches and no runs."""
        root = folder / repository.name
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=repository,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (repository / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(repository / name, root / name)
        shared = repository.parent / "shared"
        if shared.is_dir():
            (folder / "shared").symlink_to(shared)
        return cls(root)

    def check(self) -> None:
        """Stop where Python would import another checkout's package: then no mutant could ever be killed."""
        asked = [sys.executable, "-c", "import referee; print(referee.__file__)"]
        done = subprocess.run(asked, cwd=self.root, env=self._environment(), capture_output=True, text=True, check=True)
        if not Path(done.stdout.strip()).is_relative_to(self.root):
            raise SystemExit(f"the tests would import {done.stdout.strip()!r} and not the copy in {str(self.root)!r}")

    def twin(self, folder: Path) -> Copy:
        """Another copy with all that is compiled already, so that no mutant pays for it."""
        return Copy(Path(shutil.copytree(self.root.parent, folder, symlinks=True)) / self.root.name)

    def baseline(self, tests: list[str]) -> Baseline:
        """Run the tests on the source as it is; what fails there can tell nothing and is to be left out."""
        begun = time.monotonic()
        code, said = self._pytest([*tests], BASELINE_LIMIT_S)
        if code not in (0, 1):
            raise SystemExit(f"the tests cannot be run on the source as it is (pytest ends with {code}):\n{said}")
        return Baseline(time.monotonic() - begun, tuple(_FAILED.findall(said)))

    def tried(self, module: str, code: str, tests: list[str], limit_s: float) -> Ending:
        """Run the tests on the changed module until the first fails; the source is put back whatever happens."""
        path = self.root / module
        source = path.read_text(encoding="utf-8")
        begun = time.monotonic()
        try:
            self._write(path, code)
            ended, said = self._pytest(["-x", *tests], limit_s, PYTHONDONTWRITEBYTECODE="1")
        finally:
            self._write(path, source)
        return Ending(*_judged(ended, said), time.monotonic() - begun)

    def _pytest(self, arguments: list[str], limit_s: float, **variables: str) -> tuple[int | None, str]:
        """Pytest's exit code, None where the time was over, and what it said.

        Tests of the embedded model are left out, seconds each; so is a plugin of LangSmith that takes half of a start.
        """
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-m", "not local_model"]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *arguments],
            cwd=self.root,
            env=self._environment() | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_bound_memory,
        )
        try:
            said, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, f"after {limit_s:.0f} s"
        finally:
            _end(process)
        return process.returncode, said

    def _environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self.root)}

    @staticmethod
    def _write(path: Path, code: str) -> None:
        """Compiled files go, too: Python tells them by second and size, and a mutant may share both with the source."""
        path.write_text(code, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()


def _judged(code: int | None, said: str) -> tuple[str, str]:
    """By pytest's exit code: 0 all passed, 1 one failed, 2 one could not be imported, others are no verdict."""
    if code is None:
        return TIMED_OUT, said
    if code == 0:
        return SURVIVED, ""
    failed = _FAILED.search(said)
    if code in (1, 2) or code < 0:
        return KILLED, failed[1] if failed else f"ended with {code}"
    return INCOMPETENT, said[-400:]


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def _end(process: subprocess.Popen[str]) -> None:
    """End what the tests left behind, too: they stand in a session of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()
