"""The refined steps that a review was given: written down with the run, and named in the review."""

from __future__ import annotations

from collections.abc import Mapping

from referee.runs import RunFolder
from referee.venues.refined import RefinedPrompts, refined_json

PINNED = "refined_prompts.json"
"""The file in a run folder that holds the refined prompts the run goes by."""

Steps = Mapping[str, tuple[str, ...]]
"""By guideline."""


def pin(refined: RefinedPrompts, run: RunFolder) -> None:
    """Write down, in the run's record and folder, which refined prompts it goes by."""
    run.record = run.record.model_copy(update={"prompts": {**run.record.prompts, **refined.digests()}})
    run.save()
    run.write(PINNED, refined_json(refined))


def steps_in_use(refined: RefinedPrompts | None) -> Steps:
    """The steps by guideline."""
    return {one.guideline_id: one.current.steps for one in refined.guidelines} if refined else {}


def given_inputs(refined: RefinedPrompts) -> dict[str, str]:
    """What decides the steps of a run that was given them, for its resumption."""
    return {f"version of {name.rpartition('@')[0]}": digest for name, digest in sorted(refined.digests().items())}


def measured_note(refined: RefinedPrompts) -> str:
    """What a review says of steps that were measured; empty where they were not."""
    if refined.measured is None or refined.measured.selection.tested is None:
        return ""
    if any(one.is_edited for one in refined.guidelines):
        return f"prompts measured on {refined.refined_at[:10]} and edited by hand since: the edits are not measured"
    chosen, gain = refined.measured.selection.kept, refined.measured.selection.tested
    return (
        f"prompts measured on {refined.refined_at[:10]}: {chosen} raised {refined.measured.objective} "
        f"by {gain.mean:+.3f} on {gain.pairs} papers"
    )
