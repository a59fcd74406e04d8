"""Steps for a guideline: the first ones where it has none of ours, then changed by the supervisor's findings.

One call each, bounded lists of short steps and no essay. Whether changed steps are accepted, code says.

Source: *ReviewEval* section 3.6, ``P_i = GeneratePrompt(g_i)``, and section 3.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks
from referee.errors import ReplyInvalid
from referee.evidence.copied import without_copied
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Guideline
from referee.venues.prompts import guideline_points

PROMPT = "refinement/write"
ROLE = "writer"

MOST_STEPS, MOST_LEAN_STEPS = 8, 5
STEP_CHARS, LEAN_STEP_CHARS = 240, 160
STEPS_TOKENS, LEAN_STEPS_TOKENS = 1_200, 400

_SHORTEST = 8


class StepsReply(BaseModel):
    """Steps for the reviewer of one section, in the order in which they are done."""

    model_config = ConfigDict(extra="ignore")

    steps: list[Annotated[str, Field(min_length=_SHORTEST, max_length=STEP_CHARS)]] = Field(
        min_length=2, max_length=MOST_STEPS, description="one short sentence each, beginning with a verb"
    )


class LeanStepsReply(BaseModel):
    """Steps for the reviewer of one section."""

    model_config = ConfigDict(extra="ignore")

    steps: list[Annotated[str, Field(min_length=_SHORTEST, max_length=LEAN_STEP_CHARS)]] = Field(
        min_length=2, max_length=MOST_LEAN_STEPS, description="one short sentence each, beginning with a verb"
    )


@dataclass(frozen=True)
class WrittenSteps:
    """Steps as a model wrote them, cleaned, and the call they come from."""

    steps: tuple[str, ...]
    call_id: str
    model: str


async def write_steps(
    guideline: Guideline,
    *,
    venue_name: str,
    door: Asks,
    lean: bool = False,
) -> WrittenSteps:
    """Write the steps for one guideline.

    Args:
        guideline: What the venue asks; its text and its page's words.
        venue_name: Whose rule it is.
        door: Answers the prompt.
        lean: Ask for fewer and shorter steps, for models that read and write slowly.

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = render_writing(guideline, venue_name=venue_name, lean=lean)
    answer = await door.ask(rendered, steps_model(lean), role=ROLE, max_output_tokens=steps_tokens(lean))
    return to_steps(answer.value.steps, rendered, answer.call_id, answer.model)


def render_writing(guideline: Guideline, *, venue_name: str, lean: bool) -> RenderedPrompt:
    """The prompt that asks for the first steps."""
    return load_prompt(PROMPT).render(
        venue_name=venue_name,
        guideline=render_guideline(guideline),
        points=render_guideline_points(guideline),
        most=str(most_steps(lean)),
    )


def steps_model(lean: bool) -> type[StepsReply] | type[LeanStepsReply]:
    """The reply model for steps."""
    return LeanStepsReply if lean else StepsReply


def steps_tokens(lean: bool) -> int:
    """The longest reply that holds steps."""
    return LEAN_STEPS_TOKENS if lean else STEPS_TOKENS


def most_steps(lean: bool) -> int:
    """How many steps a reply may hold."""
    return MOST_LEAN_STEPS if lean else MOST_STEPS


def to_steps(lines: Iterable[str], asked: RenderedPrompt, call_id: str, model: str) -> WrittenSteps:
    """The steps of a reply: one line each, without repetitions, copied instructions, and what could pass for a tag.

    Raises:
        ReplyInvalid: Less than two different steps are left.
    """
    steps = tuple(step for step in cleaned(lines) if without_copied(step, asked.system)[0])
    if len(steps) < 2:
        raise ReplyInvalid(
            f"model {model!r} gave {len(steps)} usable step(s), too few to read a section by.",
            hint="Use a stronger model for this role; the reply is in the run's trace.jsonl.",
            ids={"model": model, "call": call_id},
        )
    return WrittenSteps(steps, call_id, model)


def cleaned(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines as prompts may show them outside delimiters; empty and repeated ones are left out."""
    # A reply repeats what a web page says, and what it says ends up among the reviewer's instructions.
    safe = (delimit("line", " ".join(line.split())).split("\n")[1].strip() for line in lines)
    return tuple({line.casefold(): line for line in safe if line}.values())


def render_guideline(guideline: Guideline) -> str:
    """A guideline's text with the words of its page, as material."""
    words = f"\nThe page says: {guideline.words}" if guideline.words and guideline.words != guideline.text else ""
    return delimit("guideline", f"{guideline.text}{words}")


def render_guideline_points(guideline: Guideline) -> str:
    """A guideline's points, one a line, as material."""
    return delimit("points", "\n".join(f"- {point}" for point in guideline_points(guideline)) or "(none)")


def render_steps(steps: Sequence[str]) -> str:
    """Numbered steps, as material."""
    return delimit("steps", "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1)))


REVISE_PROMPT = "refinement/revise"
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

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = render_revising(steps, findings, guideline, venue_name=venue_name, lost=lost, lean=lean)
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
) -> RenderedPrompt:
    """The prompt that asks for revised steps."""
    lines = [f"- {name.replace('_', ' ')}: {finding}" for name, found in findings.items() for finding in found]
    refused = [delimit("lost", "\n".join(f"- {point}" for point in lost))] if lost else []
    return load_prompt(REVISE_PROMPT).render(
        venue_name=venue_name,
        guideline=render_guideline(guideline),
        points=render_guideline_points(guideline),
        steps=render_steps(steps),
        findings=delimit("findings", "\n".join(lines) or "(nothing)"),
        lost="\n".join(["The last revision was thrown away because it lost:", *refused]) if refused else "",
        most=str(most_steps(lean)),
    )
