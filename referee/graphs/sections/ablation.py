"""Steps of ``sections`` that a run for research takes out: what is said of them, and what is refused.

Source: what each rule of the strategy is worth is known only where the same papers are reviewed without it.
"""

from __future__ import annotations

from referee.agents import checker, composer, cross_reviewer, section_reviewer
from referee.agents.point_reply import MAX_POINTS
from referee.errors import SettingsError
from referee.graphs.job import Job
from referee.schemas.venue import Fact, Guideline, VenueForm
from referee.settings import Ablation
from referee.venues.prompts import general_prompts

CHUNK_TOKENS = 400
"""Length of a chunk where sections are not read whole."""

_SAID: dict[Ablation, str] = {
    "blind-check": "the check saw how grave each author calls a point, and why",
    "card": "readers saw no card of the paper",
    "check": "no point was checked",
    "cross": "nobody read across sections",
    "example": "readers saw no worked example",
    "merge": "points were merged just as a model named them",
    "quotation-check": "quotations were not looked up and count as found",
    "retrieval": "readers saw no passages of other sections",
    "rules": "no rules looked for slips",
    "score-from-points": "scores were given from the paper",
    "venue": "general guidance stood for the venue's guidelines",
    "whole-section": f"sections were read in chunks of about {CHUNK_TOKENS} tokens",
}
_NOT_MERGED = "points that say the same were not merged"
_NOT_LEAN: frozenset[Ablation] = frozenset(("blind-check", "check", "cross", "example", "quotation-check", "retrieval"))


def what_was_changed(job: Job, *, lean: bool) -> str:
    """What makes the run one for research, in words; empty for an ordinary run."""
    review = job.settings.review
    said = {**_SAID, "merge": _NOT_MERGED} if lean or "cross" in review.ablate else _SAID
    parts = [f"{name} ({said[name]})" for name in review.ablate]
    changes = [f"its strategy went without {', '.join(parts)}"] if parts else []
    changes += [f"its readers were asked for {review.quota} points together"] if review.quota else []
    return "; ".join(changes)


def ablation_inputs(job: Job, *, lean: bool) -> dict[str, str]:
    """What the settings for research decide of a run; nothing for an ordinary run.

    Raises:
        SettingsError: A step has no meaning on this plan or beside another one.
    """
    review = job.settings.review
    _refuse_unmeaning(job, lean=lean)
    taken_out = {"set of steps taken out": ", ".join(review.ablate)} if review.ablate else {}
    return taken_out | ({"number of points asked for": str(review.quota)} if review.quota else {})


def used_prompts(job: Job, *, lean: bool) -> tuple[str, ...]:
    """Ids of the prompts of readers, cross pass, check and composition that the run may use."""
    review, plain = job.settings.review, section_reviewer.LEAN_PROMPT if lean else section_reviewer.PROMPT
    bare = section_reviewer.BARE_PROMPT if "example" in review.ablate else plain
    later = {"cross": cross_reviewer.PROMPT, "check": checker.PROMPT}
    return (
        section_reviewer.QUOTA_PROMPT if review.quota else bare,
        *(prompt for step, prompt in later.items() if step not in review.ablate),
        composer.PAPER_PROMPT if "score-from-points" in review.ablate else composer.PROMPT,
    )


def points_a_part(job: Job, parts: int) -> int:
    """How many points each reader is asked for, no more than its reply holds; 0 where no number is asked for."""
    quota = job.settings.review.quota
    return min(-(-quota // max(parts, 1)), MAX_POINTS) if quota else 0


def form_of(job: Job) -> VenueForm:
    """The venue's form; with general guidance in place of the venue's guidelines where the run goes without these."""
    if "venue" not in job.settings.review.ablate:
        return job.form
    own = Fact(confidence="memory", note="general guidance of this package, not the venue's")
    general = tuple(
        Guideline(id=prompt.id, text=" ".join(prompt.steps), kind="subjective", fact=own)
        for prompt in general_prompts()
    )
    return job.form.model_copy(update={"guidelines": general})


def _refuse_unmeaning(job: Job, *, lean: bool) -> None:
    review = job.settings.review
    absent = [name for name in review.ablate if lean and name in _NOT_LEAN]
    if absent or (lean and review.quota):
        what = f"review.ablate {absent[0]!r} takes out a step" if absent else "review.quota goes with a prompt"
        raise SettingsError(
            f"{what} that the lean plan of the embedded model does not have.",
            hint="Name another model for the writer, or leave it away; in a plan, --arm chooses the arms to run.",
        )
    if "blind-check" in review.ablate and "check" in review.ablate:
        raise SettingsError(
            "review.ablate names 'blind-check' beside 'check': a check that is left out sees nothing.",
            hint="Name one of the two.",
        )
    if "example" in review.ablate and review.quota:
        raise SettingsError(
            "review.ablate names 'example' beside review.quota, whose prompt keeps the worked examples.",
            hint="Use one of the two at a time.",
        )
    if "venue" in review.ablate and review.preset == "full":
        raise SettingsError(
            "review.ablate 'venue' takes the venue's guidelines out, and preset 'full' would refine their prompts.",
            hint="Leave --preset away, or take 0 rounds in a plan.",
        )
