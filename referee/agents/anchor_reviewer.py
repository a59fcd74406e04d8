"""An anchor: what a model writes when it is plainly asked to review a paper, to compare other reviews with.

Source: "Is Your Paper Being Reviewed by an LLM?", Eq. 1. No form, no guideline and no rating is shown: the prompt must
differ from those that suspected reviews were written with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import fit_paper, how_read
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut

PROMPT = "detect/anchor"
ROLE = "anchor"
REPLY_TOKENS = 2_000


class AnchorReply(BaseModel):
    """A review in plain text and its decision."""

    model_config = ConfigDict(extra="ignore")

    review: str = Field(min_length=1, max_length=12_000, description="the whole review, plain text with short headings")
    decision: Literal["Accept", "Reject"]


@dataclass(frozen=True)
class AnchorQuestion:
    """What is asked about a paper, and what of it is not shown; ``cut`` is None where all of it is."""

    prompt: RenderedPrompt
    cut: PaperCut | None


async def write_anchor(
    question: AnchorQuestion, *, door: Asks, role: str = ROLE, sample: int = 0
) -> Answer[AnchorReply]:
    """One review of the paper, in one call.

    Args:
        question: What is asked.
        door: Answers the prompt.
        role: Whose model writes it.
        sample: Tells repeated askings apart.

    Raises:
        ModelError: The model did not answer validly.
    """
    return await door.ask(question.prompt, AnchorReply, role=role, max_output_tokens=REPLY_TOKENS, sample=sample)


def anchor_question(paper: Paper, *, context_tokens: int, count: CountTokens) -> AnchorQuestion:
    """What ``write_anchor`` asks.

    Args:
        paper: The submission; fitted into what the context leaves.
        context_tokens: The model's context, in tokens.
        count: Counts tokens as the model does.

    Raises:
        ContextTooLong: The context has no room for the paper.
    """
    prompt = load_prompt(PROMPT)
    bare = prompt.render(how_read=how_read(paper, ()), paper="")
    room = tokens_left(bare, AnchorReply, REPLY_TOKENS, context_tokens, count)
    briefing = fit_paper(paper, room, count)
    shown = prompt.render(how_read=how_read(paper, briefing.cuts), paper=briefing.text)
    return AnchorQuestion(shown, briefing.cut)
