"""Judges of a whole review: how deep it goes, what insights it holds, whether it works with the paper's mathematics.

Depth is a score of 0 to 3 in five respects. Source: *ReviewEval* section 3.4 and Eq. 5, which give the range once as
[0, 1] and, in the rubric and in the equation, as 0 to 3: 0 to 3 it is.

Insights are what a review's authors could act on, in the review's own words, each with three answers. Source:
*ReviewEval* section 3.3. Code checks that the quoted words are in the review, and does the arithmetic.

Genericness is yes or no in three respects, each with the words that show it. Source: "Is Your Paper Being Reviewed by
an LLM?", the factors that it lets a model judge.

Mathematics is yes or no, after the reason. Source: PRAIB's rubric of mathematical engagement.

The text of each level and rubric is ours; it stands in the prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of
from referee.evidence import split_sentences
from referee.prompts import RenderedPrompt, delimit, load_prompt

DEPTH_PROMPT = "eval/depth"
RESPECTS = ("literature", "logic", "method", "results", "theory")
"""m1 to m5: comparison with literature, logical gaps, methodological scrutiny, interpretation of results, theory."""
HIGHEST = 3
DEPTH_TOKENS = 1_200


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
    return load_prompt(DEPTH_PROMPT).render(review=delimit("review", review))


GENERIC_PROMPT = "eval/generic"
PRESENCES = ("prior_work", "details", "criticism")
"""What a review that could be of any paper lacks: prior work by name, details of this paper, criticism of its own."""
GENERIC_TOKENS = 700


class Presence(BaseModel):
    """Whether a review has something, by its own words."""

    model_config = ConfigDict(extra="ignore")

    finding: str = Field(max_length=320, description="what of it the review has")
    quote: str = Field(max_length=320, description="the review's own words that show it, copied; empty where none do")
    present: Literal["yes", "no"]


class GenericReply(BaseModel):
    """What a review has that ties it to its paper."""

    model_config = ConfigDict(extra="ignore")

    prior_work: Presence
    details: Presence
    criticism: Presence


def render_generic(review: str) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(GENERIC_PROMPT).render(review=delimit("review", review))


INSIGHTS_PROMPT = "eval/insights"
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
    return load_prompt(INSIGHTS_PROMPT).render(at_most=str(at_most), review=delimit("review", review))


def insights_tokens(at_most: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_AN_INSIGHT * at_most


@lru_cache(maxsize=64)
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


MATHEMATICS_PROMPT = "eval/mathematics"
MATHEMATICS_TOKENS = 320

_REASON_CHARS, _WORDS_CHARS = 320, 320


class MathReply(BaseModel):
    """Whether a review works with equations, formal results or notation."""

    model_config = ConfigDict(extra="ignore")

    reason: str = Field(max_length=_REASON_CHARS, description="what decides it")
    words: str = Field(max_length=_WORDS_CHARS, description="the review's own words that show it; empty where none do")
    engages: Literal["yes", "no"]


def render_mathematics(review: str) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(MATHEMATICS_PROMPT).render(review=delimit("review", review))
