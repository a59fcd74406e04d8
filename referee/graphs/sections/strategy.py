"""Strategy ``sections``: the paper read by several readers, their points looked up, grouped, tested and printed.

A model whose window holds the paper reads all of it in every call. A paper that is too long for that, the embedded
model, and the steps of the plan part by part that research takes out go part by part with a card of the paper.
"""

from __future__ import annotations

from dataclasses import replace

from referee.graphs.job import Job, Written
from referee.graphs.sections.ablation import needs_windows
from referee.graphs.sections.guided import Guided
from referee.graphs.sections.whole_strategy import Whole, fits, shared_paper
from referee.graphs.strategy import Strategy
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate


class Sections(Strategy):
    """Over the whole paper, or part by part."""

    name = "sections"
    title = "the whole paper before every reader; points looked up, grouped, tested blind and all printed"
    calls = "R readings + 4 to 7 (R: 1 + the parts read line by line)"
    chain = "4; 5 part by part, 3 on the embedded model"
    roles = ("writer", "mapper", "cross", "checker", "composer")
    refines = True
    takes_steps = True
    takes_figures = True

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        return _way(job).prompts(job)

    async def plan(self, job: Job) -> ReviewEstimate:
        """What the run will need, with a note where the paper is too long to be read whole."""
        planned, note = await _way(job).plan(job), _too_long(job)
        return replace(planned, notes=(*planned.notes, note)) if note else planned

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Run the machine that suits the paper and the model."""
        written, note = await _way(job).run(job, folder, door), _too_long(job)
        return replace(written, notes=(*written.notes, note)) if note else written

    def takes_rules(self, job: Job) -> bool:
        """Unless research takes them out."""
        return "rules" not in job.settings.review.ablate

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides a run beside what every run names.

        Raises:
            SettingsError: A step that is to be taken out has no meaning here.
        """
        return _way(job).inputs(job)


def is_whole(job: Job) -> bool:
    """Whether every call of the run reads the whole paper."""
    return not _asks_for_parts(job) and fits(job)


def _asks_for_parts(job: Job) -> bool:
    return job.models["writer"].spec.is_local or needs_windows(job.settings.review)


def _way(job: Job) -> Guided:
    if is_whole(job):
        return Whole()
    # With the search that it brings along; most runs need neither.
    from referee.graphs.sections.by_part_strategy import ByPart

    return ByPart()


def _too_long(job: Job) -> str:
    """That the paper is read part by part because no window holds it; empty where that is not the reason."""
    if _asks_for_parts(job) or fits(job):
        return ""
    shared, writer = job.once(shared_paper), job.models["writer"]
    return (
        f"the paper's {shared.tokens:,} tokens leave no room to work in the context of {writer.context_tokens:,} of "
        f"{writer.spec.id}: it is read part by part"
    )
