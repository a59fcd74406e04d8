"""The reviser: steps for a guideline, changed by the supervisor's findings. Whether they are accepted, code says.

Source: *ReviewEval* section 3.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.agents.asking import Asks
from referee.agents.prompt_writer import (
    WrittenSteps,
    most_steps,
    render_guideline,
    render_guideline_points,
    render_steps,
    steps_model,
    steps_tokens,
    to_steps,
)
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Guideline

PROMPT = "refinement/revise"
ROLE = "writer"


async def revise_steps(
    steps: Sequence[str],
    findings: Mapping[str, Sequence[str]],
    guideline: Guideline,
    *,
    venue_name: str,
    door: Asks,
    lost: Sequence[str] = (),
    lean: bool = False,
    sample: int = 0,
    prompt_versions: Mapping[str, str] | None = None,
) -> WrittenSteps:
    """Revise the steps for one guideline.

    Args:
        steps: The steps as they are.
        findings: What the supervisor found, by dimension.
        guideline: What the venue asks.
        venue_name: Whose rule it is.
        door: Answers the prompt.
        lost: Points of the guideline that the last revision lost, for which it was refused.
        lean: Ask for fewer and shorter steps.
        sample: The round.
        prompt_versions: Prompt id to version; the newest by default.

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = render_revising(
        steps, findings, guideline, venue_name=venue_name, lost=lost, lean=lean, prompt_versions=prompt_versions
    )
    answer = await door.ask(rendered, steps_model(lean), role=ROLE, max_output_tokens=steps_tokens(lean), sample=sample)
    return to_steps(answer.value.steps, rendered, answer.call_id, answer.model)


def render_revising(
    steps: Sequence[str],
    findings: Mapping[str, Sequence[str]],
    guideline: Guideline,
    *,
    venue_name: str,
    lost: Sequence[str] = (),
    lean: bool = False,
    prompt_versions: Mapping[str, str] | None = None,
) -> RenderedPrompt:
    """The prompt that asks for revised steps."""
    lines = [f"- {name.replace('_', ' ')}: {finding}" for name, found in findings.items() for finding in found]
    refused = [delimit("lost", "\n".join(f"- {point}" for point in lost))] if lost else []
    return load_prompt(PROMPT, (prompt_versions or {}).get(PROMPT)).render(
        venue_name=venue_name,
        guideline=render_guideline(guideline),
        points=render_guideline_points(guideline),
        steps=render_steps(steps),
        findings=delimit("findings", "\n".join(lines) or "(nothing)"),
        lost="\n".join(["The last revision was thrown away because it lost:", *refused]) if refused else "",
        most=str(most_steps(lean)),
    )
