"""What a model would put at a place that code found, so that a passage which code found contradicts it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "plant/replace"
ROLE = "writer"
REPLY_TOKENS = 256


class ReplacementReply(BaseModel):
    """The text that comes there, and the passage that contradicts it."""

    model_config = ConfigDict(extra="ignore")

    reason: str = Field(max_length=300, description="which passage will contradict the new text, and how")
    replacement: str = Field(max_length=300, description="the text that comes in place of the replaced one, alone")
    anchor: int = Field(ge=1, description="the number of the passage that contradicts it")


def render_site(kind: str, sentence: str, replaced: str, anchors: Sequence[str]) -> RenderedPrompt:
    """The prompt for one place; passages are numbered from 1."""
    return load_prompt(PROMPT).render(
        kind=kind,
        sentence=delimit("sentence", sentence),
        replaced=delimit("replaced", replaced),
        anchors=delimit("passages", numbered(anchors)),
    )


def numbered(passages: Sequence[str]) -> str:
    """Passages one a line, numbered from 1."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(passages, start=1)) or "(none)"


async def choose_replacement(
    kind: str, sentence: str, replaced: str, anchors: Sequence[str], *, door: Asks
) -> Answer[ReplacementReply]:
    """Ask for the text at one place, in one call; code examines it afterwards like any other.

    Raises:
        ModelError: The model could not be reached, refused, or gave no usable reply.
        BudgetExceeded: The call could pass a limit.
    """
    prompt = render_site(kind, sentence, replaced, anchors)
    return await door.ask(prompt, ReplacementReply, role=ROLE, max_output_tokens=REPLY_TOKENS)
