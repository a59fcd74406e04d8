"""What both ways through a paper share: the venue's guidance, the mark of a run for research, how a run is written."""

from __future__ import annotations

from typing import Any

from referee.graphs.failure import failed_lines
from referee.graphs.job import Job, Written
from referee.graphs.sections.ablation import ablation_inputs, what_was_changed
from referee.graphs.sections.guidance import (
    guidance_inputs,
    guidance_notes,
    guided_plan,
    refined_prompts,
    refinement_of,
)
from referee.graphs.strategy import Strategy, load_prompts, marked, marked_plan
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate
from referee.venues.refined import RefinedPrompts


class Guided(Strategy):
    """A strategy whose readers look at what the venue asks for, refined where that was done."""

    name = "sections"

    def is_lean(self, job: Job) -> bool:
        """Whether the run takes the plan of the embedded model."""
        return False

    def prompt_ids(self, job: Job) -> tuple[str, ...]:
        """The prompts of its readers and of what follows."""
        raise NotImplementedError

    def quick_plan(self, job: Job) -> ReviewEstimate:
        """Calls and tokens without a refinement; how many points readers will raise is a guess."""
        raise NotImplementedError

    async def state(self, job: Job, folder: RunFolder, door: Door, refined: RefinedPrompts | None) -> Any:
        """The last state of the machine."""
        raise NotImplementedError

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        refinement = refinement_of(job)
        refining = refinement.prompts if refinement is not None else []
        return [*load_prompts(*self.prompt_ids(job)), *refining]

    async def plan(self, job: Job) -> ReviewEstimate:
        """What the run will need. Both presets are told."""
        planned, changed = guided_plan(job, self.quick_plan(job)), what_was_changed(job, lean=self.is_lean(job))
        return marked_plan(planned, changed) if changed else planned

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Run the machine, after the refinement of the venue's steps where the run makes one."""
        changed, refined = what_was_changed(job, lean=self.is_lean(job)), await refined_prompts(job, folder, door)
        state = await self.state(job, folder, door, refined)
        notes = (*guidance_notes(job, refined), *sorted(set(state["notes"])), *failed_lines(state["failures"]))
        written = Written(state["review"], (), notes, refined.digests() if refined else {})
        return marked(job, written, changed) if changed else written

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the readings of a run.

        Raises:
            SettingsError: A step that is to be taken out has no meaning here.
        """
        return {**ablation_inputs(job, lean=self.is_lean(job)), **guidance_inputs(job)}
