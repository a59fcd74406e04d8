"""Strategy ``audited``: the one call of ``single``, a reader who tests its review, and a last reading."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from referee.agents.auditor import AUDIT, FINAL, ROLE
from referee.graphs.job import Job, Written
from referee.graphs.running import run_machine
from referee.graphs.single.strategy import Single, plan_call
from referee.graphs.strategy import load_prompts
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate

# What the answers of the auditor and of the last reading come to, beside the draft's.
_TYPICAL_AUDIT, _TYPICAL_FINAL = 3_000, 1_000


class Audited(Single):
    """One reader writes, another tests what it wrote, and the result is read once more."""

    name = "audited"
    title = "one call fills the form; another tests its points and adds to them; a last reading takes out"
    calls = "3"
    chain = "3"
    roles: ClassVar[tuple[str, ...]] = ("writer", ROLE)

    def prompts(self, job: Job) -> list[Prompt]:
        """The draft's, the audit's and the last reading's."""
        return [*super().prompts(job), *load_prompts(AUDIT, FINAL)]

    async def plan(self, job: Job) -> ReviewEstimate:
        """The draft's question is counted; the others begin with it and hold the draft."""
        draft = await plan_call(*self.prepared(job))
        checker = job.models[ROLE]
        later_in = draft.input_tokens + draft.output_tokens
        tokens_in, tokens_out = 2 * later_in, _TYPICAL_AUDIT + _TYPICAL_FINAL
        cost = checker.cost(tokens_in, tokens_out)
        return replace(
            draft,
            models={**draft.models, ROLE: checker.spec.id},
            calls=3,
            input_tokens=draft.input_tokens + tokens_in,
            output_tokens=draft.output_tokens + tokens_out,
            cost_usd=None if cost is None or draft.cost_usd is None else draft.cost_usd + cost,
        )

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Write, verify, audit, settle, read, compose."""
        from referee.graphs.audited.machine import build_audited_graph, initial_state, notes_of
        from referee.graphs.single.machine import SingleContext

        prepared, variation = self.prepared(job)
        context = SingleContext(
            prepared.paper, prepared.form, door, review_id=f"r-{folder.record.run_id}", variation=variation
        )
        state = await run_machine(build_audited_graph, context, initial_state())
        reply = state["reply"]
        return Written(state["review"], reply.cuts, tuple(notes_of(state)), cut=reply.cut)
