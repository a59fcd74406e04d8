"""Commands in processes of their own: what they print, how long they take, how much memory they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
_LAUNCHER = HERE / "review_launcher.py"
# With more calls at once than any strategy makes, only dependent calls follow one another.
LIFTED = 256
_KEPT = frozenset({"REFEREE_CACHE_DIR", "REFEREE_CONFIG_DIR"})


class CommandFailed(Exception):
    """A measured command ended with an error; there is no figure for it."""


@dataclass(frozen=True)
class Ended:
    """A command that ended well.

    Attributes:
        seconds: From start to end.
        cpu_seconds: Processor time, that of its children included.
        peak_bytes: The most memory it held at once (resident set).
        began_at: Its start, in seconds since the epoch.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    began_at: float
    output: str

    def json(self) -> Any:
        """The last line of the output, read as JSON."""
        return json.loads(self.output.splitlines()[-1])


def environment(given: Mapping[str, str], slots: int = LIFTED) -> dict[str, str]:
    """The environment without settings of ours and without keys, so that figures do not depend on who measures.

    Pictures are left out: what is measured are the strategies.
    """
    own = {k: v for k, v in given.items() if not k.startswith("REFEREE_") or k in _KEPT}
    kept = {k: v for k, v in own.items() if not k.endswith(("_API_KEY", "_API_TOKEN"))}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "REFEREE_CALLS__CONCURRENCY": str(slots),
        "REFEREE_REVIEW__FIGURES": "none",
    }


def run_python(arguments: list[str], folder: Path, slots: int = LIFTED) -> Ended:
    """Run this Python with these arguments in a folder, to its end.

    Raises:
        CommandFailed: It ended with an error.
    """
    output = folder / "output.txt"
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), str(output), sys.executable, *arguments]
    done = subprocess.run(
        launcher, cwd=folder, env=environment(os.environ, slots), capture_output=True, text=True, check=True
    )
    figures = json.loads(done.stdout)
    printed = output.read_text(encoding="utf-8", errors="replace")
    if figures["code"] != 0:
        raise CommandFailed(f"{' '.join(arguments)} ended with {figures['code']}:\n{printed[-2000:]}")
    del figures["code"]
    return Ended(**figures, output=printed)


def run_probe(arguments: list[str], folder: Path, slots: int = LIFTED) -> Ended:
    """Run ``review_probe.py`` with these arguments."""
    return run_python([str(HERE / "review_probe.py"), *arguments], folder, slots)
