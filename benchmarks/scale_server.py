"""The scripted server as a process of its own, and what its log says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any

from review_processes import ROOT

_OK = "ok"


class ServerProcess:
    """``tests.support.server`` in another process, so that what it costs is not counted as ours.

    Args:
        folder: Where its log is written.
        latency_s: How long every reply takes.
        options: Further options of the server.
    """

    def __init__(self, folder: Path, *, latency_s: float, options: tuple[str, ...] = ()) -> None:
        self.log = folder / "server.jsonl"
        self._options = ("--latency", str(latency_s), "--log", str(self.log), "--max-seconds", "7200", *options)
        self.base_url = ""

    def __enter__(self) -> ServerProcess:
        self.log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.support.server", *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment())
        assert self._process.stdout is not None
        self.base_url = str(json.loads(self._process.stdout.readline())["base_url"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.communicate()

    def calls(self) -> list[dict[str, Any]]:
        """The answered calls, as the log holds them."""
        with self.log.open(encoding="utf-8") as lines:
            return [entry for entry in map(json.loads, lines) if entry["outcome"] == _OK]

    def use(self, slots: int) -> float:
        """Seconds in which calls were under way, over what the slots allow between the first call and the last."""
        calls = self.calls()
        began, ended = min(c["started_s"] for c in calls), max(c["finished_s"] for c in calls)
        return float(sum(c["finished_s"] - c["started_s"] for c in calls) / (slots * (ended - began)))

    def requests(self) -> Counter[str]:
        """How often each request was answered, by its digest."""
        return Counter(call["digest"] for call in self.calls())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}
