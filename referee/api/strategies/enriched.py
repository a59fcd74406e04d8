"""Strategy ``enriched``: ``aligned`` with a list of what to do and what not. For research on reviewing only.

Source: "Is Your Paper Being Reviewed by an LLM?" (Yu et al.), reviews by an enriched prompt: cite sections, tables and
equations, engage related work, be specific, no boilerplate. The words are ours; deviations are those of ``aligned``.
"""

from __future__ import annotations

from dataclasses import replace

from referee.agents.single_reviewer import ROLE, Variation
from referee.api.job import Job, Written
from referee.api.strategies import aligned, single
from referee.api.strategies.research import marked, marked_plan
from referee.api.strategies.strategy import Strategy
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate

ROLES = (ROLE,)
PROMPT = "review/enriched"
BRIEF_PROMPT = "review/enriched-brief"


def prompts(job: Job) -> list[Prompt]:
    """The one prompt that suits the writer's context."""
    return single.prompts(*_enriched(job))


async def plan(job: Job) -> ReviewEstimate:
    """As ``single``."""
    return marked_plan(await single.plan(*_enriched(job)), aligned._how(job))


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``single`` on a form whose overall field offers the target alone.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    narrowed, variation = _enriched(job)
    return marked(job, await single.run(narrowed, folder, door, variation), aligned._how(job))


def _enriched(job: Job) -> tuple[Job, Variation]:
    narrowed, variation = aligned._aligned(job)
    return narrowed, replace(variation, prompt=PROMPT, brief_prompt=BRIEF_PROMPT)


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=aligned.inputs,
    title="aligned, with a list of dos and don'ts",
    calls="1",
    chain="1",
    research_only=True,
)
