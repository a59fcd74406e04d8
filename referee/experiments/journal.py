"""What an experiment began, and how it ended: so that a resumed one knows what it has paid itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from referee.experiments.units import folder_usage
from referee.runs.lines import JsonLines, Line, records
from referee.schemas.base import Frozen
from referee.schemas.usage import Usage

JOURNAL = "units.jsonl"


class Entry(Frozen):
    """One line. ``usage`` is what stood in the folder's ledger at that moment, whoever paid it."""

    event: Literal["began", "finished", "failed", "reused"]
    kind: Literal["review", "evaluation", "proposals"]
    paper: str
    arm: str = ""
    seed: int = 0
    twin: str = ""
    folder: str
    usage: Usage = Usage()
    reason: str = ""


class Journal:
    """Appends entries to a file, and sums up what was paid between them."""

    def __init__(self, path: Path, read_usage: Callable[[Path], Usage] = folder_usage) -> None:
        self._path = path
        self._read_usage = read_usage
        damaged: list[Line] = []  # what these began counts as never begun
        self.entries = [entry for _, entry in records(path, Entry, damaged=lambda line, _: damaged.append(line))]
        self._damaged = sum(line.fault != "torn" for line in damaged)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say of damaged lines; nothing where there are none."""
        told = f"{self._damaged:,} line(s) of {self._path.name} are damaged: what their units took is not counted"
        return (told,) if self._damaged else ()

    def append(self, entry: Entry) -> None:
        """Write one line.

        Raises:
            OSError: It could not be written, with the file's name.
        """
        with JsonLines(self._path) as lines:
            lines.append(entry.model_dump_json(exclude_defaults=True).encode())
        self.entries.append(entry)

    def paid(self) -> Usage:
        """What this experiment paid over all its starts; what began and was killed counts up to now."""
        total, open_since = Usage(), dict[str, Usage]()
        for entry in self.entries:
            if entry.event == "began":
                open_since.setdefault(entry.folder, entry.usage)
            elif entry.folder in open_since:
                total += less(entry.usage, open_since.pop(entry.folder))
        for folder, before in open_since.items():
            total += less(self._read_usage(Path(folder)), before)
        return total

    def reason(self, kind: str, paper: str, arm: str = "", seed: int = 0, twin: str = "") -> str:
        """Why the last try failed; empty where it did not, or was never begun."""
        asked = (kind, paper, arm, seed, twin)
        for entry in reversed(self.entries):
            if (entry.kind, entry.paper, entry.arm, entry.seed, entry.twin) == asked and entry.event != "began":
                return entry.reason if entry.event == "failed" else ""
        return ""


def less(whole: Usage, before: Usage) -> Usage:
    """What came on top of an earlier state; the cost is unknown where either is."""
    unknown = whole.cost_usd is None or before.cost_usd is None
    return Usage(
        calls=whole.calls - before.calls,
        reused_calls=whole.reused_calls - before.reused_calls,
        input_tokens=whole.input_tokens - before.input_tokens,
        output_tokens=whole.output_tokens - before.output_tokens,
        cached_tokens=whole.cached_tokens - before.cached_tokens,
        cache_write_tokens=whole.cache_write_tokens - before.cache_write_tokens,
        cost_usd=None if unknown else max((whole.cost_usd or 0.0) - (before.cost_usd or 0.0), 0.0),
    )
