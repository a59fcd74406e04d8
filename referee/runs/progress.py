"""Progress as plain events; whoever runs the command draws them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from referee.schemas.usage import Usage


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: What it was. The text of ``run`` is the run folder, and its usage what earlier starts have consumed.
        text: What it is about.
        usage: The usage of the run it belongs to, so far; a command may make several runs.
        done: Of ``total``, where something is counted.
        total: 0 where nothing is.
        prompt: Of a call: the prompt's id.
        spent: Of a call that has ended: what it alone consumed, which is nothing where the reply was there already.
    """

    kind: Literal["run", "stage", "call_started", "call_finished", "retry", "note", "fetch"]
    text: str
    usage: Usage | None = None
    done: int = 0
    total: int = 0
    prompt: str = ""
    spent: Usage | None = None


Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Draw nothing."""
