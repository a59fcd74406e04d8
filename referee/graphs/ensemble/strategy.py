"""Strategy ``ensemble``: independent reviews of the whole paper, an area chair that merges them, rounds of reflection.

Source: The AI Scientist (Lu et al. 2024, 2408.06292), automated reviewing, and its published code: five reviews from
one prompt at a sampling temperature, an area chair's aggregation, five rounds of self-reflection that end when nothing
is left to change, one worked example.

Deviations, each because of what a review here must be:

- Scores are not the rounded average of the reviewers' scores. The merging call chooses them and names evidence; code
  leaves a score null that no verified quotation supports. What the reviewers stated is a note.
- Every reviewer brings quotations, which are looked up before the chair sees them; the merged review rests on these.
- At temperature 0 the reviewers differ in what they look at first, because equal prompts would give equal replies.
- No reviewer is told to reject, or to accept, where it is unsure.
- Each round of reflection is a call of its own with paper and review, not a growing conversation, and the first answer
  is not counted as a round, as it is in that code.
- No worked example ships; ``review.few_shot`` names yours. One reviewer alone is not merged.
"""

from __future__ import annotations

from dataclasses import replace

from referee.agents import meta_reviewer, reflection
from referee.agents.single_reviewer import ROLE, Variation, member_stance
from referee.graphs.ensemble.few_shot import read_examples
from referee.graphs.job import Job, Written
from referee.graphs.running import run_machine
from referee.graphs.single.strategy import plan_of, prompt_of, question_of
from referee.graphs.strategy import Strategy, load_prompts
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost

PROMPT = "review/ensemble"
BRIEF_PROMPT = "review/ensemble-brief"

# What the chair's prompt and a reflection's have beside reviews and paper: instructions, form and schema.
_FRAME_TOKENS = 2_600


class Ensemble(Strategy):
    """Members in parallel, an area chair, rounds of reflection."""

    name = "ensemble"
    title = "k independent reviews, merged by an area chair, then at most r rounds of reflection"
    calls = "k + 1 + r (11 by default: k = 5, r = 5)"
    chain = "2 + r (7 by default)"
    roles = (ROLE, meta_reviewer.ROLE)

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        names = ([meta_reviewer.PROMPT] if _merges(job) else []) + ([reflection.PROMPT] if _rounds(job) else [])
        return [prompt_of(job, _members(job)[0]), *load_prompts(*names)]

    async def plan(self, job: Job) -> ReviewEstimate:
        """The reviewers' prompts are made and counted; chair and reflections are guessed. No round ends early.

        Raises:
            SettingsError: The worked examples cannot be used.
        """
        one = plan_of(question_of(job, _members(job)[0]), job)
        size, chair, rounds = job.settings.review.ensemble_size, int(_merges(job)), _rounds(job)
        writes = (size * one.input_tokens + rounds * (one.input_tokens + one.output_tokens), (size + rounds))
        merges = chair * (size * one.output_tokens + _FRAME_TOKENS)
        costs = [job.models[ROLE].cost(writes[0], writes[1] * one.output_tokens)]
        if chair:
            costs.append(job.models[meta_reviewer.ROLE].cost(merges, one.output_tokens))
        return replace(
            one,
            models={role: job.models[role].spec.id for role in self.roles[: 1 + chair]},
            calls=size + chair + rounds,
            input_tokens=writes[0] + merges,
            output_tokens=(size + chair + rounds) * one.output_tokens,
            cost_usd=total_cost(costs),
            notes=(*one.notes, *_told_apart(job)),
        )

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Run the machine."""
        from referee.evidence import QuotationIndex
        from referee.graphs.ensemble.machine import (
            EnsembleContext,
            build_ensemble_graph,
            cut_of,
            cuts_of,
            initial_state,
        )

        context = EnsembleContext(
            paper=job.paper,
            form=job.form,
            door=door,
            review_id=f"r-{folder.record.run_id}",
            members=_members(job),
            reflections=_rounds(job),
            index=QuotationIndex(job.paper),
        )
        state = await run_machine(build_ensemble_graph, context, initial_state())
        notes = (*_told_apart(job), *dict.fromkeys(state["notes"]))
        return Written(state["review"], cuts_of(state), notes, cut=cut_of(state))

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the calls of a run.

        Raises:
            SettingsError: As for every strategy, or the worked examples cannot be used.
        """
        return {
            **super().inputs(job),
            "size of the ensemble": str(job.settings.review.ensemble_size),
            "rounds of reflection": str(_rounds(job)),
            "worked examples": read_examples(job.settings.review.few_shot).digest,
        }


def _members(job: Job) -> tuple[Variation, ...]:
    size, sampled = job.settings.review.ensemble_size, _sampled(job)
    examples = read_examples(job.settings.review.few_shot)
    return tuple(
        Variation(
            prompt=PROMPT,
            brief_prompt=BRIEF_PROMPT,
            inputs={"reviewer": member_stance(number, size, sampled=sampled), "examples": examples.text},
            sample=number - 1,
        )
        for number in range(1, size + 1)
    )


def _told_apart(job: Job) -> tuple[str, ...]:
    """How the reviewers differ, and what they were shown beside the paper."""
    size, examples = job.settings.review.ensemble_size, read_examples(job.settings.review.few_shot)
    how = "sampling" if _sampled(job) else "what they look at first, since the temperature is 0"
    apart = (f"{size} reviewers, told apart by {how}",) if size > 1 else ()
    return (*apart, *((f"{examples.count} worked example(s) were shown",) if examples.count else ()))


def _sampled(job: Job) -> bool:
    return job.models[ROLE].temperature > 0


def _merges(job: Job) -> bool:
    return job.settings.review.ensemble_size > 1


def _rounds(job: Job) -> int:
    return job.settings.review.reflections
