"""Strategy ``archetype``: ``single`` in the manner of one kind of reviewer. For research on reviewing only.

Source: "Is Your Paper Being Reviewed by an LLM?" (Yu et al.), appendix on archetype prompts: balanced,
conservative, innovative or nitpicky, drawn uniformly. The words of the four are ours.

Deviations: the persona is drawn by the paper's id and not by a human review's, so that one paper gets one persona
wherever it is reviewed; ``review.persona`` names another. No decision is shown, which the source leaves open.
Quotations are looked up and scores are settled by code, as in ``single``.
"""

from __future__ import annotations

import hashlib

from referee.agents.single_reviewer import ROLE, Variation
from referee.agents.stances import PERSONAS, Persona, persona_text
from referee.api.job import Job, Written
from referee.api.strategies import single
from referee.api.strategies.research import marked, marked_plan
from referee.api.strategies.strategy import Strategy
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate

ROLES = (ROLE,)
PROMPT = "review/archetype"
BRIEF_PROMPT = "review/archetype-brief"


def drawn_persona(paper_id: str) -> Persona:
    """The persona of a paper: one of the four, equally likely, the same each time."""
    number = int.from_bytes(hashlib.sha256(f"archetype\x00{paper_id}".encode()).digest()[:8], "big")
    return PERSONAS[number % len(PERSONAS)]


def prompts(job: Job) -> list[Prompt]:
    """The one prompt that suits the writer's context."""
    return single.prompts(job, _variation(job))


async def plan(job: Job) -> ReviewEstimate:
    """As ``single``."""
    return marked_plan(await single.plan(job, _variation(job)), _how(job))


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``single`` with the persona's prompt.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    return marked(job, await single.run(job, folder, door, _variation(job)), _how(job))


def inputs(job: Job) -> dict[str, str]:
    """The persona decides the run.

    Raises:
        SettingsError: The preset ``full`` was asked for.
    """
    return {**single.inputs(job), "persona": _persona(job)}


def _persona(job: Job) -> Persona:
    return job.settings.review.persona or drawn_persona(job.paper.paper_id)


def _how(job: Job) -> str:
    origin = "named by review.persona" if job.settings.review.persona else "drawn by the paper's id"
    return f"its reviewer was given the persona {_persona(job)!r}, {origin}"


def _variation(job: Job) -> Variation:
    return Variation(PROMPT, BRIEF_PROMPT, {"persona": persona_text(_persona(job))})


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=inputs,
    title="one call in the manner of a kind of reviewer",
    calls="1",
    chain="1",
    research_only=True,
)
