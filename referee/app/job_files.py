"""What a job's folder holds beside what was asked for: the estimate, and what happened line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.runs.lines import JsonLines, records

_TAIL_BYTES = 32_768
ESTIMATE, EVENTS, LOG = "estimate.json", "events.jsonl", "worker.log"


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Estimated(_Stored):
    """What a review will take, in lines, with the venue's name and its rule on language models."""

    lines: tuple[str, ...]
    rule: str
    venue: str


class Line(_Stored):
    """One thing that happened: what is done, calls, tokens and money in phrases, and how the work ended if it did."""

    said: str
    hint: str = ""
    phrases: tuple[str, ...] = ()
    done: int = 0
    expected: int = 0
    state: str = ""


def read_estimate(job: Path) -> Estimated | None:
    """The estimate; None where there is none, or one of another version."""
    try:
        return Estimated.model_validate_json((job / ESTIMATE).read_bytes())
    except (OSError, ValidationError):
        return None


def lines_from(job: Path, at: int) -> Iterator[tuple[int, Line]]:
    """The whole lines behind a byte, each with the byte it ends at; those of another version are left out."""
    return ((line.end, said) for line, said in records(job / EVENTS, Line, at=at))


def add_line(job: Path, said: Line) -> None:
    """Write down that something happened; raises ``OSError``."""
    with JsonLines(job / EVENTS) as lines:
        lines.append(said.model_dump_json().encode(), flush=False)


def last_line(job: Path) -> Line | None:
    """What happened last, from the end of the file: it is asked for several times a second."""
    try:
        size = (job / EVENTS).stat().st_size
    except OSError:
        return None
    last = None
    for _, line in lines_from(job, max(0, size - _TAIL_BYTES)):
        last = line
    return last
