"""Start the child, read what it says up to a bound and a deadline, and learn how it ended."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from referee.papers.isolated.limits import ChildLimits

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from referee.papers.isolated.child import main; main()"
)
_ENVIRONMENT = ("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
# Each thread reserves address space, which counts against the limit on machines with many cores.
_FEW_THREADS = {"RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
_CHUNK = 64 * 1024
_KEPT_ERRORS = 8 * 1024


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        reply: What it gave back, at most the bound and one chunk.
        errors: The end of what it and the converters wrote as errors.
        code: Its exit code; negative for a signal.
        timed_out: It was still running at the deadline and was stopped.
        too_long: Its reply passed the bound and it was stopped.
    """

    reply: bytes
    errors: str
    code: int
    timed_out: bool
    too_long: bool


class Child:
    """One reading process; it can be stopped from another thread."""

    def __init__(self, request: Mapping[str, Any], limits: ChildLimits) -> None:
        self._request = {**request, "limits": asdict(limits)}
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> Ending:
        """Start it and wait for its end.

        Raises:
            OSError: No process, pipe or folder can be made.
        """
        with tempfile.TemporaryDirectory(prefix="referee-", ignore_cleanup_errors=True) as folder:
            process = subprocess.Popen(  # noqa: S603
                _command(self._request),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=_environment(folder),
                start_new_session=True,
            )
            with process:
                self._process = process
                try:
                    if self._stopped:
                        process.kill()
                    return self._attended(process)
                finally:
                    process.kill()

    def stop(self) -> None:
        """End it now, also before it has begun."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def _attended(self, process: subprocess.Popen[bytes]) -> Ending:
        assert process.stdout is not None, "it was opened with a pipe"
        assert process.stderr is not None, "it was opened with a pipe"
        deadline = time.monotonic() + self._limits.seconds
        heard = {"reply": bytearray(), "errors": bytearray()}
        timed_out = not self._listen({"reply": process.stdout, "errors": process.stderr}, heard, deadline)
        too_long = len(heard["reply"]) > self._limits.reply_bytes
        if not timed_out and not too_long:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                timed_out = True
        if timed_out or too_long:
            process.kill()
        return Ending(
            bytes(heard["reply"]),
            heard["errors"].decode("utf-8", "backslashreplace"),
            process.wait(),
            timed_out,
            too_long,
        )

    def _listen(self, pipes: Mapping[str, IO[bytes]], heard: Mapping[str, bytearray], deadline: float) -> bool:
        """Read until both pipes are closed or the reply is too long; False at the deadline."""
        with selectors.DefaultSelector() as selector:
            for name, pipe in pipes.items():
                selector.register(pipe, selectors.EVENT_READ, name)
            while selector.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(left):
                    data = os.read(key.fd, _CHUNK)
                    if not data:
                        selector.unregister(key.fileobj)
                    heard[key.data].extend(data)
                del heard["errors"][:-_KEPT_ERRORS]
                if len(heard["reply"]) > self._limits.reply_bytes:
                    return True
        return True


def _command(request: Mapping[str, Any]) -> list[str]:
    """The same interpreter, closed off from the user's own settings, with the parent's places to import from."""
    own, places = str(Path(__file__).parents[3]), [place for place in sys.path if Path(place).is_absolute()]
    places = places if own in places else [own, *places]
    return [
        sys.executable, "-I", "-B", "-c", _START, json.dumps(list(dict.fromkeys(places))), json.dumps(request),
    ]  # fmt: skip


def _environment(folder: str) -> dict[str, str]:
    """What a program needs to run at all: no key, no token, no setting and no home gets in."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**kept, **_FEW_THREADS, "TMPDIR": folder, "HOME": folder}
