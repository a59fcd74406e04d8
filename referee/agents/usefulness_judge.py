"""How useful single remarks of a review are to the authors: four aspects from 1 to 5.

Source: the aspects of RevUtil, with which PRAIB (appendix H) asks whether cross-references stand for grounding. The
text of each level is ours; it stands in the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/usefulness"
ASPECTS = ("grounding", "actionability", "verifiability", "helpfulness")
LOWEST, HIGHEST = 1, 5
MOST_POINTS = 40

_TOKENS_A_POINT, _TOKENS_AROUND = 90, 64


def render_points(points: Sequence[str]) -> RenderedPrompt:
    """The prompt for the remarks of one review, numbered from 1."""
    lines = "\n".join(f"{number}. {' '.join(point.split())}" for number, point in enumerate(points, start=1))
    return load_prompt(PROMPT).render(points=delimit("points", lines))


def usefulness_tokens(points: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_POINT * points


@lru_cache(maxsize=64)
def usefulness_model(points: int) -> type[BaseModel]:
    """The reply for so many remarks: one rating a remark under its number; other numbers are refused."""
    closed = ConfigDict(extra="ignore")
    level = Field(ge=LOWEST, le=HIGHEST)
    shape: dict[str, Any] = {
        "point": (Literal[tuple(range(1, points + 1))], ...),
        "reason": (str, Field(max_length=200, description="what decides the ratings")),
        "grounding": (int, level),
        "actionability": (int, level),
        "verifiability": (int | None, Field(ge=LOWEST, le=HIGHEST, description="null where nothing is claimed")),
        "helpfulness": (int, level),
    }
    one = create_model("PointRating", __config__=closed, **shape)
    return create_model("Ratings", __config__=closed, ratings=(list_of(one), Field(max_length=points)))
