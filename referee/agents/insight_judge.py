"""What in a review its authors could act on: insights in the review's own words, each with three answers.

Source: *ReviewEval* section 3.3. Code checks that the quoted words are in the review, and does the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of
from referee.evidence import split_sentences
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/insights"
# How long a list may be; the shortest with room for an insight a sentence is asked for, so that a small model ends.
LENGTHS = (6, 12, 24, 40)

InsightKind = Literal["criticism", "methodology", "suggestion"]

_QUOTE_CHARS, _REASON_CHARS = 480, 160
_TOKENS_AN_INSIGHT, _TOKENS_AROUND = 120, 64


@dataclass(frozen=True)
class ClaimedInsight:
    """One insight as a judge lists it; whether the review holds its words is not known yet."""

    quote: str
    kind: InsightKind
    reason: str
    specific: bool
    feasible: bool
    steps: bool


def insights_asked(review: str, most_tokens: int | None = None) -> int:
    """How many insights to ask for at most: one a sentence, rounded up to a length that lists may have.

    Args:
        review: The review's text; its lines count as sentences too, since lists need no full stops.
        most_tokens: The longest reply there is room for.
    """
    sentences = sum(len(split_sentences(line)) for line in review.splitlines())
    fitting = [n for n in LENGTHS if most_tokens is None or insights_tokens(n) <= most_tokens] or [LENGTHS[0]]
    return next((n for n in fitting if n >= sentences), fitting[-1])


def render_insights(review: str, at_most: int) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(PROMPT).render(at_most=str(at_most), review=delimit("review", review))


def insights_tokens(at_most: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_AN_INSIGHT * at_most


def insights_model(at_most: int) -> type[BaseModel]:
    """The reply: a list of insights, empty where the review holds none; an answer that is no yes or no is refused."""
    closed = ConfigDict(extra="ignore")
    shape: dict[str, Any] = {
        "quote": (str, Field(min_length=1, max_length=_QUOTE_CHARS, description="the review's own words, copied")),
        "kind": (InsightKind, ...),
        "reason": (str, Field(max_length=_REASON_CHARS, description="what decides the three answers")),
        "specific": (bool, Field(description="it names the exact thing it speaks of")),
        "feasible": (bool, Field(description="the authors could do it within this paper")),
        "steps": (bool, Field(description="it says how to do it")),
    }
    one = create_model("Insight", __config__=closed, **shape)
    return create_model("Insights", __config__=closed, insights=(list_of(one), Field(max_length=at_most)))


def read_insights(reply: BaseModel) -> tuple[ClaimedInsight, ...]:
    """The insights of a reply, in its order."""
    return tuple(ClaimedInsight(**item) for item in reply.model_dump()["insights"])
