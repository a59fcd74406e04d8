"""The strategies a review can be made by, by name. Each one file: its plan, its prompts, its run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from referee.api.job import Job, Plan, Written
from referee.api.strategies import aligned, archetype, ensemble, multi_agent, progressive, sections, single
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder


@dataclass(frozen=True)
class Strategy:
    """How a review is made. ``plan`` looks ahead without a call; ``prompts`` are those a run may use.

    ``inputs`` are what else must be the same for a run to be resumed. The rest is what `referee strategies` prints:
    ``title`` in one line, ``calls`` as a formula and ``chain``, the most calls that wait for one another, both without
    repairs. ``research_only`` marks what writes reviews that are no assessment.
    """

    plan: Callable[[Job], Awaitable[Plan]]
    prompts: Callable[[Job], list[Prompt]]
    run: Callable[[Job, RunFolder, Door], Awaitable[Written]]
    roles: tuple[str, ...]
    inputs: Callable[[Job], dict[str, str]]
    title: str = ""
    calls: str = ""
    chain: str = ""
    research_only: bool = False


STRATEGIES = {
    "single": Strategy(
        single.plan,
        single.prompts,
        single.run,
        single.ROLES,
        single.inputs,
        title="one call fills the whole form",
        calls="1",
        chain="1",
    ),
    "sections": Strategy(
        sections.plan,
        sections.prompts,
        sections.run,
        sections.ROLES,
        sections.inputs,
        title="part by part (S parts), points checked blind, merged and placed by code",
        calls="at most 2 S + 5; S + 1 on the embedded model",
        chain="5; 3 on the embedded model",
    ),
    "ensemble": Strategy(
        ensemble.plan,
        ensemble.prompts,
        ensemble.run,
        ensemble.ROLES,
        ensemble.inputs,
        title="k independent reviews, merged by an area chair, then at most r rounds of reflection",
        calls="k + 1 + r (11 by default: k = 5, r = 5)",
        chain="2 + r (7 by default)",
    ),
    "multi-agent": Strategy(
        multi_agent.plan,
        multi_agent.prompts,
        multi_agent.run,
        multi_agent.ROLES,
        multi_agent.inputs,
        title="three experts question workers that hold K chunks of the paper; each of P comments is refined",
        calls="6 K + P + 10, or 11 where scores are sent back; K + 2, or 3, on the embedded model",
        chain="7, or 8; 3, or 4, on the embedded model",
    ),
    "progressive": Strategy(
        progressive.plan,
        progressive.prompts,
        progressive.run,
        progressive.ROLES,
        progressive.inputs,
        title="N passages in order with a running summary, then duplicates are named by id",
        calls="N + 2, or 3 where scores are sent back; N + 1, or 2, on the embedded model",
        chain="all of them, by design: each passage needs the one before",
    ),
    "archetype": Strategy(
        archetype.plan,
        archetype.prompts,
        archetype.run,
        archetype.ROLES,
        archetype.inputs,
        title="one call in the manner of a kind of reviewer",
        calls="1",
        chain="1",
        research_only=True,
    ),
    "aligned": Strategy(
        aligned.plan,
        aligned.prompts,
        aligned.run,
        aligned.ROLES,
        aligned.inputs,
        title="one call that argues for a given rating",
        calls="1",
        chain="1",
        research_only=True,
    ),
}
