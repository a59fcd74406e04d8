"""An anchor: what a model writes when it is plainly asked to review a paper, to compare other reviews with.

Source: "Is Your Paper Being Reviewed by an LLM?", Eq. 1. No form, no guideline and no rating is shown: the prompt must
differ from those that suspected reviews were written with.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import fit_paper, how_read
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, load_prompt
from referee.schemas.paper import Paper

PROMPT = "detect/anchor"
ROLE = "anchor"
REPLY_TOKENS = 2_000


class AnchorReply(BaseModel):
    """A review in plain text and its decision."""

    model_config = ConfigDict(extra="ignore")

    review: str = Field(min_length=1, max_length=12_000, description="the whole review, plain text with short headings")
    decision: Literal["Accept", "Reject"]


async def write_anchor(
    paper: Paper, *, door: Asks, context_tokens: int, count: CountTokens, role: str = ROLE, sample: int = 0
) -> Answer[AnchorReply]:
    """One review of the paper, in one call.

    Args:
        paper: The submission; fitted into what the context leaves.
        door: Answers the prompt.
        context_tokens: The model's context, in tokens.
        count: Counts tokens as the model does.
        role: Whose model writes it.
        sample: Tells repeated askings apart.

    Raises:
        ContextTooLong: The context has no room for the paper.
        ModelError: The model did not answer validly.
    """
    rendered = anchor_question(paper, context_tokens=context_tokens, count=count)
    return await door.ask(rendered, AnchorReply, role=role, max_output_tokens=REPLY_TOKENS, sample=sample)


def anchor_question(paper: Paper, *, context_tokens: int, count: CountTokens) -> RenderedPrompt:
    """What ``write_anchor`` asks.

    Raises:
        ContextTooLong: The context has no room for the paper.
    """
    prompt = load_prompt(PROMPT)
    bare = prompt.render(how_read=how_read(paper, ()), paper="")
    room = tokens_left(bare, AnchorReply, REPLY_TOKENS, context_tokens, count)
    briefing = fit_paper(paper, room, count)
    return prompt.render(how_read=how_read(paper, briefing.cuts), paper=briefing.text)
