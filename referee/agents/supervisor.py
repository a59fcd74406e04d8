"""The supervisor: what is wrong with the steps for a guideline, in four respects; what of it is new, code says.

Source: *ReviewEval* section 3.7. It sees the guideline and the steps, never a paper or a review.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from rapidfuzz import fuzz

from referee.agents.asking import Asks
from referee.agents.prompt_writer import cleaned, render_guideline, render_steps
from referee.evidence.copied import without_copied
from referee.evidence.stems import stems
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Guideline

PROMPT = "refinement/criticise"
ROLE = "supervisor"
DIMENSIONS = ("clarity", "logical_consistency", "alignment", "comprehensiveness")

MOST_FINDINGS, MOST_LEAN_FINDINGS = 3, 1
FINDING_CHARS, LEAN_FINDING_CHARS = 240, 140
FINDINGS_TOKENS, LEAN_FINDINGS_TOKENS = 1_500, 300

# Two findings of which the words agree to this share say the same: chosen on pairs of restatements.
SAME = 75.0


class CriticismReply(BaseModel):
    """What is wrong with the steps; each list may be empty."""

    model_config = ConfigDict(extra="ignore")

    clarity: list[Annotated[str, Field(max_length=FINDING_CHARS)]] = Field(max_length=MOST_FINDINGS)
    logical_consistency: list[Annotated[str, Field(max_length=FINDING_CHARS)]] = Field(max_length=MOST_FINDINGS)
    alignment: list[Annotated[str, Field(max_length=FINDING_CHARS)]] = Field(max_length=MOST_FINDINGS)
    comprehensiveness: list[Annotated[str, Field(max_length=FINDING_CHARS)]] = Field(max_length=MOST_FINDINGS)


class LeanCriticismReply(BaseModel):
    """What is wrong with the steps; each list may be empty."""

    model_config = ConfigDict(extra="ignore")

    clarity: list[Annotated[str, Field(max_length=LEAN_FINDING_CHARS)]] = Field(max_length=MOST_LEAN_FINDINGS)
    logical_consistency: list[Annotated[str, Field(max_length=LEAN_FINDING_CHARS)]] = Field(
        max_length=MOST_LEAN_FINDINGS
    )
    alignment: list[Annotated[str, Field(max_length=LEAN_FINDING_CHARS)]] = Field(max_length=MOST_LEAN_FINDINGS)
    comprehensiveness: list[Annotated[str, Field(max_length=LEAN_FINDING_CHARS)]] = Field(max_length=MOST_LEAN_FINDINGS)


@dataclass(frozen=True)
class Criticised:
    """Findings by dimension, all four named, each list possibly empty; and the call they come from.

    ``echoes`` counts findings that were left out because they only repeat the prompt.
    """

    findings: dict[str, tuple[str, ...]]
    call_id: str
    model: str
    echoes: int = 0

    @property
    def all(self) -> tuple[str, ...]:
        """All findings, in the order of the dimensions."""
        return tuple(finding for found in self.findings.values() for finding in found)


async def criticise_steps(
    steps: Sequence[str],
    guideline: Guideline,
    *,
    venue_name: str,
    door: Asks,
    earlier: Sequence[str] = (),
    lean: bool = False,
    sample: int = 0,
) -> Criticised:
    """Criticise the steps for one guideline.

    Args:
        steps: What a reviewer of one section is told to do.
        guideline: What the venue asks: the problem that the steps are to solve.
        venue_name: Whose rule it is.
        door: Answers the prompt.
        earlier: Findings of earlier rounds.
        lean: Ask for one short finding a dimension.
        sample: The round: the same steps may be read again.

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = render_criticising(steps, guideline, venue_name=venue_name, earlier=earlier)
    tokens = LEAN_FINDINGS_TOKENS if lean else FINDINGS_TOKENS
    answer = await door.ask(rendered, criticism_model(lean), role=ROLE, max_output_tokens=tokens, sample=sample)
    given = answer.value.model_dump()
    found = {name: cleaned(given[name]) for name in DIMENSIONS}
    # Not what was raised earlier: that may be raised again.
    told = "\n".join([rendered.system, guideline.text, guideline.words, *steps])
    own = {
        name: tuple(finding for finding in lines if without_copied(finding, told)[0]) for name, lines in found.items()
    }
    echoes = sum(map(len, found.values())) - sum(map(len, own.values()))
    return Criticised(own, answer.call_id, answer.model, echoes)


def render_criticising(
    steps: Sequence[str],
    guideline: Guideline,
    *,
    venue_name: str,
    earlier: Sequence[str] = (),
) -> RenderedPrompt:
    """The prompt that asks for findings."""
    return load_prompt(PROMPT).render(
        venue_name=venue_name,
        guideline=render_guideline(guideline),
        steps=render_steps(steps),
        earlier=delimit("earlier", "\n".join(f"- {finding}" for finding in earlier) or "(nothing)"),
    )


def new_findings(findings: Iterable[str], earlier: Sequence[str]) -> tuple[str, ...]:
    """The findings that were not raised before, by their words: order, endings and small words do not count."""
    known = [_essence(finding) for finding in earlier]
    return tuple(
        finding
        for finding in findings
        if not any(fuzz.token_sort_ratio(_essence(finding), seen) >= SAME for seen in known)
    )


def criticism_model(lean: bool) -> type[CriticismReply] | type[LeanCriticismReply]:
    """The reply model for findings."""
    return LeanCriticismReply if lean else CriticismReply


def _essence(finding: str) -> str:
    return " ".join(stems(finding))
