"""Whether a review works with the paper's mathematics: yes or no, after the reason.

Source: PRAIB's rubric of mathematical engagement, in our words; they stand in the prompt.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/mathematics"
REPLY_TOKENS = 320

_REASON_CHARS, _WORDS_CHARS = 320, 320


class MathReply(BaseModel):
    """Whether a review works with equations, formal results or notation."""

    model_config = ConfigDict(extra="ignore")

    reason: str = Field(max_length=_REASON_CHARS, description="what decides it")
    words: str = Field(max_length=_WORDS_CHARS, description="the review's own words that show it; empty where none do")
    engages: Literal["yes", "no"]


def render_mathematics(review: str) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(PROMPT).render(review=delimit("review", review))
