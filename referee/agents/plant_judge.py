"""Whether an error is one: a reader who sees both versions and the anchors, and neither the kind nor the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks
from referee.agents.error_planter import numbered
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "plant/judge"
ROLE = "checker"
REPLY_TOKENS = 256
Verdict: TypeAlias = Literal["substantive", "typo-like", "no error"]
_YesNo: TypeAlias = Literal["yes", "no"]


class PlantReply(BaseModel):
    """Four questions in their order."""

    model_config = ConfigDict(extra="ignore")

    reason: str = Field(max_length=300, description="what differs, and what the passages say about it")
    well_formed: _YesNo = Field(description="whether the second version is well formed")
    stated: _YesNo = Field(description="whether passages state concretely what the first version says")
    matters: _YesNo = Field(description="whether something in the paper depends on it")
    cosmetic: _YesNo = Field(description="whether the difference is one of style or spelling alone")


def verdict_of(reply: PlantReply) -> Verdict:
    """What four answers come to; code decides, the reader only answers."""
    if reply.well_formed == "no" or reply.cosmetic == "yes":
        return "typo-like"
    return "substantive" if reply.stated == "yes" and reply.matters == "yes" else "no error"


def render_pair(before: str, after: str, anchors: Sequence[str]) -> RenderedPrompt:
    """The prompt for one error."""
    return load_prompt(PROMPT).render(
        before=delimit("first", before), after=delimit("second", after), anchors=delimit("passages", numbered(anchors))
    )


async def judge_plant(before: str, after: str, anchors: Sequence[str], *, door: Asks) -> Answer[PlantReply]:
    """Ask about one error, in one call.

    Raises:
        ModelError: The model could not be reached, refused, or gave no usable reply.
        BudgetExceeded: The call could pass a limit.
    """
    prompt = render_pair(before, after, anchors)
    return await door.ask(prompt, PlantReply, role=ROLE, max_output_tokens=REPLY_TOKENS)
