"""Strategy ``sections``: the paper read by several readers, their points looked up, grouped, tested and printed.

A model whose window holds the paper reads all of it in every call. A paper that is too long for that, the embedded
model, and the steps of the older plan that research takes out go part by part with a card of the paper.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from referee.api.job import Job, Written
from referee.api.strategies import whole_paper
from referee.api.strategies.ablation import needs_windows
from referee.api.strategies.strategy import Strategy
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate

ROLES = ("writer", "mapper", "cross", "checker", "composer")


def is_whole(job: Job) -> bool:
    """Whether every call of the run reads the whole paper."""
    if job.models["writer"].spec.is_local or needs_windows(job.settings.review):
        return False
    return whole_paper.fits(job)


def prompts(job: Job) -> list[Prompt]:
    """Every prompt a run may use."""
    return whole_paper.prompts(job) if is_whole(job) else _windowed().prompts(job)


async def plan(job: Job) -> ReviewEstimate:
    """What the run will need, with a note where the paper is too long to be read whole."""
    if is_whole(job):
        return await whole_paper.plan(job)
    planned: ReviewEstimate = await _windowed().plan(job)
    note = _too_long(job)
    return replace(planned, notes=(*planned.notes, note)) if note else planned


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine that suits the paper and the model.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    if is_whole(job):
        return await whole_paper.run(job, folder, door)
    written: Written = await _windowed().run(job, folder, door)
    note = _too_long(job)
    return replace(written, notes=(*written.notes, note)) if note else written


def inputs(job: Job) -> dict[str, str]:
    """What decides a run beside what every run names.

    Raises:
        SettingsError: A step that is to be taken out has no meaning here.
    """
    return whole_paper.inputs(job) if is_whole(job) else _windowed().inputs(job)


def _windowed() -> ModuleType:
    """The plan part by part, with the search that it brings along; most runs need neither."""
    from referee.api.strategies import windowed

    return windowed


def _too_long(job: Job) -> str:
    """That the paper is read part by part because no window holds it; empty where that is not the reason."""
    if job.models["writer"].spec.is_local or needs_windows(job.settings.review):
        return ""
    shared, writer = whole_paper.shared_paper(job), job.models["writer"]
    return (
        f"the paper's {shared.tokens:,} tokens leave no room to work in the context of {writer.context_tokens:,} of "
        f"{writer.spec.id}: it is read part by part"
    )


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=inputs,
    title="the whole paper before every reader; points looked up, grouped, tested blind and all printed",
    calls="R readings + 4 to 7 (R: 1 + the parts read line by line)",
    chain="4; 5 part by part, 3 on the embedded model",
    refines=True,
)
