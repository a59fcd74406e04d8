"""What a job's folder holds beside what was asked for: the estimate, and what happened line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

ESTIMATE, EVENTS, LOG = "estimate.json", "events.jsonl", "worker.log"


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Estimated(_Stored):
    """What a review will take, in lines, with the venue's name and its rule on language models."""

    calls: int
    lines: tuple[str, ...]
    rule: str
    venue: str


class Line(_Stored):
    """One thing that happened: what is done, calls, tokens and money in phrases, and how the work ended if it did."""

    said: str
    hint: str = ""
    phrases: tuple[str, ...] = ()
    seconds: float = 0
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
    try:
        with (job / EVENTS).open("rb") as file:
            file.seek(at)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return  # it is being written
                at += len(raw)
                try:
                    yield at, Line.model_validate_json(raw)
                except ValidationError:
                    continue
    except FileNotFoundError:
        return


def last_line(job: Path) -> Line | None:
    """What happened last."""
    last = None
    for _, line in lines_from(job, 0):
        last = line
    return last
