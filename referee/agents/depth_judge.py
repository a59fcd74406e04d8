"""How deep a review goes in five respects, 0 to 3 each.

Source: *ReviewEval* section 3.4 and Eq. 5. The paper gives the scores' range once as [0, 1] and, in its rubric and in
the equation, as 0 to 3: 0 to 3 it is. The text of each level is ours; it stands in the prompt.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/depth"
RESPECTS = ("literature", "logic", "method", "results", "theory")
"""m1 to m5: comparison with literature, logical gaps, methodological scrutiny, interpretation of results, theory."""
HIGHEST = 3
REPLY_TOKENS = 1_200


class Respect(BaseModel):
    """What a review does in one respect."""

    model_config = ConfigDict(extra="ignore")

    finding: str = Field(max_length=320, description="what the review does in this respect")
    quote: str = Field(max_length=320, description="the review's own words that show it, copied; empty where none do")
    score: int = Field(ge=0, le=HIGHEST)


class DepthReply(BaseModel):
    """A review's depth in the five respects."""

    model_config = ConfigDict(extra="ignore")

    literature: Respect
    logic: Respect
    method: Respect
    results: Respect
    theory: Respect


def render_depth(review: str) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(PROMPT).render(review=delimit("review", review))
