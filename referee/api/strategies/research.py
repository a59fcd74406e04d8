"""What marks a review that was written for research on reviewing: in its notes, its disclosure and on the terminal."""

from __future__ import annotations

from dataclasses import replace

from referee.api.job import Job, Written
from referee.errors import SettingsError
from referee.schemas.estimate import ReviewEstimate

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
    from referee.runs import Event

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
        hint="Use --strategy sections, or leave the setting away.",
    )


def refuse_full(job: Job) -> None:
    """See that the preset ``full`` is not asked for of a strategy without prompts of guidelines.

    Raises:
        SettingsError: ``review.preset`` is ``full``.
    """
    if job.settings.review.preset == "full":
        raise SettingsError(
            f"strategy {job.settings.review.strategy!r} has no prompts of guidelines that preset 'full' could refine.",
            hint="Use --strategy sections, or leave --preset away.",
        )


def mark(how: str) -> str:
    """The mark in one sentence, without its full stop."""
    return f"{_NO_ASSESSMENT}: {how}"
