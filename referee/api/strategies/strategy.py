"""What a strategy is: a way to make a review."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from referee.api.job import Job, Written
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate


@dataclass(frozen=True)
class Strategy:
    """How a review is made. ``plan`` looks ahead without a call; ``prompts`` are those a run may use.

    ``inputs`` are what else must be the same for a run to be resumed. The rest is what `referee strategies` prints:
    ``title`` in one line, ``calls`` as a formula and ``chain``, the most calls that wait for one another, both without
    repairs. ``research_only`` marks what writes reviews that are no assessment. ``refines``: it has prompts that
    rounds of refinement can change.
    """

    plan: Callable[[Job], Awaitable[ReviewEstimate]]
    prompts: Callable[[Job], list[Prompt]]
    run: Callable[[Job, RunFolder, Door], Awaitable[Written]]
    roles: tuple[str, ...]
    inputs: Callable[[Job], dict[str, str]]
    title: str = ""
    calls: str = ""
    chain: str = ""
    research_only: bool = False
    refines: bool = False
