"""Whether points of a review raise a defect that the paper is known to have: same, related or other, point by point.

The question can be turned: points before the defect, the last point first, the verdicts in the other order. Sources and
what of them is ours stand in the prompt's header.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import one_of, shortened
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.known import KnownError

PROMPT = "eval/known-defect"
MOST_POINTS = 10

Verdict = Literal["same", "related", "other"]
VERDICTS: tuple[Verdict, ...] = ("same", "related", "other")

_LONGEST_POINT, _LONGEST_PASSAGE, _MOST_PASSAGES = 1_200, 600, 3
_TOKENS_A_POINT, _TOKENS_AROUND = 110, 64


def render_defect(error: KnownError, points: Mapping[int, str], *, turned: bool) -> RenderedPrompt:
    """The prompt for one defect and some points of a review, by their numbers from 1.

    Args:
        error: What is wrong, where, and the paper's words as far as the set has them.
        points: At most ``MOST_POINTS``.
        turned: Whether everything stands in the other order.
    """
    numbered = [f"[p{number}] {shortened(' '.join(text.split()), _LONGEST_POINT)}" for number, text in points.items()]
    texts = [_defect(error), delimit("points", "\n".join(reversed(numbered) if turned else numbered))]
    first, second = reversed(texts) if turned else texts
    return load_prompt(PROMPT).render(first=first, second=second, verdicts=", ".join(_offered(turned)))


def defect_tokens(points: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_POINT * points


@lru_cache(maxsize=64)
def defect_model(numbers: tuple[int, ...], turned: bool = False) -> type[BaseModel]:
    """The reply: under ``p1``, ``p2``, ... a verdict for every point, in the order in which the points are shown."""
    closed = ConfigDict(extra="ignore")
    shape: dict[str, Any] = {
        "reason": (str, Field(max_length=200, description="what decides")),
        "verdict": (one_of(_offered(turned)), ...),
        "place": (Literal["same", "another", "none"], ...),
        "quote": (str, Field(default="", max_length=400, description="the point's words that name the defect")),
    }
    one = create_model("PointVerdict", __config__=closed, **shape)
    fields: dict[str, Any] = {f"p{number}": (one, ...) for number in (reversed(numbers) if turned else numbers)}
    return create_model("PointVerdicts", __config__=closed, **fields)


def _offered(turned: bool) -> tuple[str, ...]:
    return VERDICTS[::-1] if turned else VERDICTS


def _defect(error: KnownError) -> str:
    lines = [f"What is wrong: {error.description}"]
    lines += [f"Where: {error.place}"] if error.place else []
    lines += [
        f"The paper says: {shortened(' '.join(text.split()), _LONGEST_PASSAGE)}"
        for text in error.passages[:_MOST_PASSAGES]
    ]
    return delimit("defect", "\n".join(lines))
