"""What a strategy is: a way to make a review. And what marks a review that was written for research on reviewing."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from referee.errors import SettingsError
from referee.graphs.job import Job, Written
from referee.llm.door import Door
from referee.prompts import Prompt, load_prompt
from referee.runs import Event, RunFolder
from referee.schemas.estimate import ReviewEstimate


class Strategy:
    """How a review is made.

    What `referee strategies` prints is ``title`` in one line, ``calls`` as a formula and ``chain``, the most calls that
    wait for one another, both without repairs, and ``roles``. ``research_only`` marks what writes reviews that are no
    assessment. ``refines``: it has prompts that rounds of refinement can change. ``takes_steps``: its reviews go by
    the steps of versions that were measured. ``takes_figures``: pictures of the paper's figures are read beside it.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    calls: ClassVar[str] = ""
    chain: ClassVar[str] = ""
    roles: ClassVar[tuple[str, ...]]
    research_only: ClassVar[bool] = False
    refines: ClassVar[bool] = False
    takes_steps: ClassVar[bool] = False
    takes_figures: ClassVar[bool] = False

    def prompts(self, job: Job) -> list[Prompt]:
        """Every prompt a run may use."""
        raise NotImplementedError

    async def plan(self, job: Job) -> ReviewEstimate:
        """Look ahead without a call.

        Raises:
            PaperParseError: The paper has no section to read.
            ContextTooLong: Form and paper do not fit into the writer's context.
        """
        raise NotImplementedError

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Write the review.

        Raises:
            RefereeError: What a node recorded as its failure.
        """
        raise NotImplementedError

    def takes_rules(self, job: Job) -> bool:
        """Whether the rules that need no model read the paper too: for a model that sees little itself, by default."""
        return job.models["writer"].spec.is_local

    def inputs(self, job: Job) -> dict[str, str]:
        """What else must be the same for a run to be resumed; the keys read well after "was started with another".

        Raises:
            SettingsError: The preset ``full`` was asked for, or a step to be taken out.
        """
        refuse_ablation(job)
        refuse_full(job)
        return {}


def load_prompts(*names: str) -> list[Prompt]:
    """The prompts of these ids."""
    return [load_prompt(name) for name in names]


_NO_ASSESSMENT = "this review was written for research on reviewing and is not an assessment of the paper"


def marked_plan(plan: ReviewEstimate, how: str) -> ReviewEstimate:
    """The plan with the mark among its notes, which are shown before the first call."""
    return replace(plan, notes=(*plan.notes, mark(how)))


def marked(job: Job, written: Written, how: str) -> Written:
    """The review with the mark wherever somebody may meet it.

    ``mark`` carries it into the first paragraph of the disclosure, which stands at the top of every report.

    Args:
        job: Its progress says the mark once more.
        written: What the strategy wrote.
        how: What was given to the reviewer, as ``it was given the persona 'nitpicky'``.
    """
    job.progress(Event("note", mark(how)))
    return replace(written, mark=mark(how), notes=(mark(how), *written.notes))


def refuse_ablation(job: Job) -> None:
    """See that no step is to be taken out, and no number of points asked for, of a strategy that cannot do it.

    Raises:
        SettingsError: ``review.ablate`` or ``review.quota`` is set.
    """
    review = job.settings.review
    if not review.ablate and review.quota is None:
        return
    what = f"step {review.ablate[0]!r} that review.ablate" if review.ablate else "prompt that review.quota"
    raise SettingsError(
        f"strategy {review.strategy!r} has no {what} could change.",
        hint="Name the strategy sections, or leave the setting away.",
    )


def refuse_full(job: Job) -> None:
    """See that the preset ``full`` is not asked for of a strategy without prompts of guidelines.

    Raises:
        SettingsError: ``review.preset`` is ``full``.
    """
    if job.settings.review.preset == "full":
        raise SettingsError(
            f"strategy {job.settings.review.strategy!r} has no prompts of guidelines that preset 'full' could refine.",
            hint="Name the strategy audited or sections, or leave --preset away.",
        )


def mark(how: str) -> str:
    """The mark in one sentence, without its full stop."""
    return f"{_NO_ASSESSMENT}: {how}"
