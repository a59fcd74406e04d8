"""Commands that are killed: started by a nursery, waited for with patience, ended by a signal."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATIENCE_S = 120.0
_LOOK_EVERY_S = 0.002
# The nursery forks, so no library may have threads of its own by then.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Nursery:
    """Starts one command at a time, within milliseconds."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def start(self, argv: Sequence[object], folder: Path, *, log: Path, env: Mapping[str, str]) -> Child:
        """Start ``referee ARGV`` in a folder; what it prints is added to the log."""
        given = {"argv": [str(word) for word in argv], "folder": str(folder), "log": str(log), "env": dict(env)}
        assert self._process.stdin is not None, "it was opened with pipes"
        self._process.stdin.write(json.dumps(given).encode() + b"\n")
        return Child(self.read(PATIENCE_S)["pid"], self, log)

    def read(self, seconds: float) -> Any:
        """What the nursery says next; null where it says nothing for so long."""
        assert self._process.stdout is not None, "it was opened with pipes"
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return None
        return json.loads(self._process.stdout.readline())


@dataclass(frozen=True)
class Child:
    """A running command."""

    pid: int
    nursery: Nursery
    log: Path

    def ended(self, seconds: float = PATIENCE_S) -> int | None:
        """Its exit code once it has ended; null where it still runs after so many seconds."""
        said = self.nursery.read(seconds)
        return None if said is None else int(said["code"])

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def killed_once(self, reached: Callable[[], bool], then_s: float) -> bool:
        """``kill -9`` it so long after something is reached; false where it had ended well by itself."""
        code = None
        until = time.monotonic() + PATIENCE_S
        while code is None and not reached():
            assert time.monotonic() < until, "what was waited for did not happen"
            code = self.ended(_LOOK_EVERY_S)
        if code is None:
            code = self.ended(then_s)
        if code is None:
            self.send(signal.SIGKILL)
            code = self.ended()
        assert code in (0, -signal.SIGKILL), f"the command ended with {code}:\n{self.log.read_text()[-3000:]}"
        return code != 0


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery that ends with the block."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("REFEREE_") or k == "REFEREE_CACHE_DIR"}
    kept = {name: value for name, value in own.items() if not name.endswith(("_API_KEY", "_API_TOKEN"))}
    env = {**kept, **_ONE_THREAD, "PYTHONPATH": str(HERE.parent)}
    command = [sys.executable, str(HERE / "bad_days_nursery.py")]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    with process:
        try:
            nursed = Nursery(process)
            assert nursed.read(PATIENCE_S) == {"ready": True}
            yield nursed
        finally:
            assert process.stdin is not None, "it was opened with pipes"
            process.stdin.close()
            process.wait(PATIENCE_S)
