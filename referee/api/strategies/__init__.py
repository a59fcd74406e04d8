"""The strategies a review can be made by, by name. Each one file: its plan, its prompts, its run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from referee.api.job import Job, Plan, Written
from referee.api.strategies import sections, single
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder


@dataclass(frozen=True)
class Strategy:
    """How a review is made. ``plan`` looks ahead without a call; ``prompts`` are those a run may use.

    ``inputs`` are what else must be the same for a run to be resumed.
    """

    plan: Callable[[Job], Awaitable[Plan]]
    prompts: Callable[[Job], list[Prompt]]
    run: Callable[[Job, RunFolder, Door], Awaitable[Written]]
    roles: tuple[str, ...]
    inputs: Callable[[Job], dict[str, str]]


STRATEGIES = {
    "single": Strategy(single.plan, single.prompts, single.run, single.ROLES, single.inputs),
    "sections": Strategy(sections.plan, sections.prompts, sections.run, sections.ROLES, sections.inputs),
}
