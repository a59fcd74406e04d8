"""What ``referee arena run`` is made of: papers on their forms, what they would cost, what resumed runs agree on."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.agents.single_reviewer import ROLE
from referee.api.rating_maps import prompt_name
from referee.data.papers import file_name
from referee.data.predictions import Prediction
from referee.data.submissions import Submission
from referee.errors import ContextTooLong, DataError
from referee.evals.agreement import MapName
from referee.graphs.job import Job
from referee.graphs.strategies import STRATEGIES
from referee.llm.models import Models
from referee.papers.isolated import read_paper
from referee.runs import Progress
from referee.runs.lock import most_run_folders
from referee.schemas.estimate import ArenaEstimate, ReviewEstimate
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import cuts_foreseen
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import venue_digest

REVIEWS = "reviews"
STRATEGY = "single"
PROMPTS = ("review/single", "review/single-brief")
# Reading a paper takes a while, and papers of one set are of similar length.
_PLANNED = 20
_NAME_CHARS = 60


@dataclass(frozen=True)
class ArenaJob:
    """The papers and what they are reviewed with."""

    submissions: tuple[Submission, ...]
    settings: Settings
    models: Models
    progress: Progress

    @property
    def usable(self) -> tuple[Submission, ...]:
        """The papers whose form is known and whose text is there."""
        return tuple(one for one in self.submissions if not one.problem)

    @property
    def model(self) -> str:
        """The id of the model that fills the forms."""
        return self.models[ROLE].spec.id

    @property
    def concurrency(self) -> int:
        """Papers that may be under way at once."""
        return 1 if self.models[ROLE].spec.is_local else most_run_folders(self.settings.units_at_once)


def folder_name(paper_id: str) -> str:
    """The name of a paper's run folder: its id as far as file systems take it, and a digest where they do not."""
    name = file_name(paper_id)
    if name == paper_id and len(name) <= _NAME_CHARS and not name.startswith("."):
        return name
    return f"{name[:_NAME_CHARS].lstrip('.')}-{hashlib.sha256(paper_id.encode()).hexdigest()[:8]}"


async def paper_of(submission: Submission, settings: Settings) -> Paper:
    """Read the paper.

    Raises:
        DataError: It cannot be read.
    """
    if isinstance(submission.source, Path):
        return await read_paper(submission.source, settings.paper)
    if submission.source is None:
        raise DataError(submission.problem, hint="Leave it out.", ids={"paper": submission.paper_id})
    return submission.source()


def single_job(paper: Paper, form: VenueForm, job: ArenaJob) -> Job:
    """The review of one paper."""
    return Job(paper, form, job.settings, job.models, job.progress)


def map_name(paper: Paper, form: VenueForm, job: ArenaJob) -> MapName:
    """The model and the prompt that fill this form."""
    return prompt_name(single_job(paper, form, job))


def arena_inputs(job: ArenaJob) -> dict[str, str]:
    """What must be the same for a run to be resumed; papers and prompts are looked at again one by one."""
    forms = {one.form.id: one.form for one in job.usable if one.form is not None}
    return {
        "set of papers": _digest(job.submissions),
        **{f"venue form {name}": venue_digest(forms[name]) for name in sorted(forms)},
        "temperature": str(job.settings.models.temperature),
        "model for writer": job.model,
    }


async def arena_plan(job: ArenaJob, finished: Sequence[str]) -> ArenaEstimate:
    """The estimate of what is left to do, by the first papers of the set."""
    left = [one for one in job.usable if one.paper_id not in finished]
    plans: list[ReviewEstimate] = []
    notes: list[str] = []
    impossible = 0
    for one in left[:_PLANNED]:
        assert one.form is not None, "usable papers have a form"
        try:
            plan = await STRATEGIES[STRATEGY].plan(single_job(await paper_of(one, job.settings), one.form, job))
            if plan.refusal is not None:
                raise plan.refusal
            plans.append(plan)
        except (DataError, ContextTooLong) as error:
            impossible += 1
            notes.append(f"paper {one.paper_id!r}: {error.message.rstrip('.')}")
    if len(left) > _PLANNED:
        notes.append(f"tokens and cost are estimated by the first {_PLANNED} of {len(left):,} papers")
    return replace(
        _scaled(plans, len(left) - impossible),
        model=job.model,
        forms=dict(Counter(one.form.id for one in job.usable if one.form is not None)),
        skipped=dict(Counter(one.problem for one in job.submissions if one.problem)),
        there=len(job.usable) - len(left),
        notes=(
            *([foreseen] if (foreseen := cuts_foreseen([plan.cut for plan in plans])) else []),
            *notes,
            *dict.fromkeys(note for plan in plans for note in plan.notes),
        ),
    )


def skipped(one: Submission, model: str) -> Prediction:
    """The record of a paper that is not reviewed."""
    return Prediction(
        paper_id=one.paper_id,
        paper_title=one.title,
        venue=one.venue,
        year=one.year,
        source=model,
        status="skipped",
        reason=one.problem,
    )


def _scaled(plans: Sequence[ReviewEstimate], papers: int) -> ArenaEstimate:
    """What so many papers will take if they are like these, a call each."""
    whole = ArenaEstimate().holding(plans)
    share = papers / len(plans) if plans else 0.0
    unknown = whole.cost_usd is None or (papers and not plans)
    return replace(
        whole,
        calls=papers,
        most_calls=papers,
        input_tokens=round(whole.input_tokens * share),
        output_tokens=round(whole.output_tokens * share),
        cost_usd=None if unknown or whole.cost_usd is None else whole.cost_usd * share,
    )


def _digest(submissions: Sequence[Submission]) -> str:
    """Of ids and forms: what the papers hold is compared when each review goes on."""
    named = (f"{one.paper_id}\0{one.form.id if one.form else one.venue}\0{one.problem}" for one in submissions)
    return hashlib.sha256("\n".join(named).encode()).hexdigest()
