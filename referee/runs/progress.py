"""Progress as plain events; whoever runs the command draws them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from referee.schemas.usage import Usage


@dataclass(frozen=True)
class Event:
    """One thing that happened. ``usage`` is the whole run's so far; a ``run`` event's text is the run folder."""

    kind: Literal["run", "stage", "call_started", "call_finished", "retry", "note", "fetch"]
    text: str
    usage: Usage | None = None
    done: int = 0
    total: int = 0


Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Draw nothing."""
