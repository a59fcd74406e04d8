"""Which points of a guideline a list of steps serves, and whether revised steps lose one that the steps before served.

A model answers yes or no for all points in one call and copies the words of the step that serve each; code looks these
words up. A yes whose words stand in no step is a no. Where the words that served a point before still stand in the
revised steps, nobody is asked about it again.

Source: *ReviewEval* section 3.7: a prompt is revised without losing what its guideline asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.prompt_writer import render_guideline, render_steps
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Guideline
from referee.venues.prompts import guideline_points
from referee.venues.refined import Coverage, steps_digest

PROMPT = "refinement/covered"
ROLE = "supervisor"

WORDS_CHARS = 240
FEWEST_WORDS = 3
"""Words in a row that show a step; of a shorter step all of it."""

_TOKENS_A_POINT, _TOKENS_AROUND = 80, 64
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Guarded:
    """What was found out about steps, and the points of the guideline that the steps after no longer serve."""

    coverages: tuple[Coverage, ...]
    lost: tuple[str, ...]


async def guard_points(
    before: Sequence[str],
    after: Sequence[str],
    guideline: Guideline,
    *,
    known: Sequence[Coverage],
    venue_name: str,
    door: Asks,
    lean: bool = False,
) -> Guarded:
    """Compare steps with their revision.

    At most two calls: one for the steps before, if they are not known, and one for the points that the revision leaves
    open. A guideline without points loses none.

    Args:
        before: The steps that are used now.
        after: Their revision.
        guideline: What both are to serve.
        known: What was found out earlier.
        venue_name: Whose rule it is.
        door: Answers the prompt.
        lean: Whether the model is the embedded one, whose answers are marked.

    Raises:
        ModelError: The model did not answer validly.
    """

    async def served(steps: Sequence[str], words: Mapping[str, str]) -> Coverage:
        kept = {point: said for point, said in words.items() if stands_in(said, steps)}
        left = [point for point in guideline_points(guideline) if point not in kept]
        if not left:
            return Coverage(digest=steps_digest(steps), words=kept, lean=lean)
        rendered = render_covering(left, steps, guideline, venue_name=venue_name)
        ids = point_ids(left)
        answer = await door.ask(rendered, covered_model(ids), role=ROLE, max_output_tokens=covered_tokens(len(left)))
        found, unfound = read_covered(answer.value, dict(zip(ids, left, strict=True)), steps)
        return Coverage(
            digest=steps_digest(steps),
            words={**kept, **found},
            unfound=unfound,
            lean=lean,
            model=answer.model,
            call_id=answer.call_id,
        )

    first = next((one for one in known if one.digest == steps_digest(before)), None) or await served(before, {})
    second = await served(after, first.words)
    lost = tuple(point for point in guideline_points(guideline) if point in first.words and point not in second.words)
    return Guarded((*(() if first in known else (first,)), second), lost)


def render_covering(
    points: Sequence[str],
    steps: Sequence[str],
    guideline: Guideline,
    *,
    venue_name: str,
) -> RenderedPrompt:
    """The prompt that asks which of the points the steps serve."""
    listed = "\n".join(f"{name}: {point}" for name, point in zip(point_ids(points), points, strict=True))
    return load_prompt(PROMPT).render(
        venue_name=venue_name,
        guideline=render_guideline(guideline),
        points=delimit("points", listed),
        steps=render_steps(steps),
    )


@lru_cache(maxsize=64)
def covered_model(ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: an answer for each point."""
    closed = ConfigDict(extra="ignore")
    answer = create_model(
        "PointAnswer",
        __config__=closed,
        point=(one_of(ids), Field(description="id of the point")),
        words=(str, Field(max_length=WORDS_CHARS, description="words of one step that serve it, as they stand there")),
        served=(one_of(("yes", "no")), Field(description="whether a step serves the point")),
    )
    return create_model("CoveredReply", __config__=closed, points=(list_of(answer), Field(max_length=2 * len(ids))))


def covered_tokens(points: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_POINT * points


def read_covered(
    reply: BaseModel, points: Mapping[str, str], steps: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The words by point where a step holds them, and the points called served by words that no step holds.

    A point that the reply leaves out is not served.
    """
    said = [(points[one["point"]], one["words"]) for one in reply.model_dump()["points"] if one["served"] == "yes"]
    found = {point: " ".join(words.split()) for point, words in reversed(said) if stands_in(words, steps)}
    claimed = dict.fromkeys(point for point, _ in said if point not in found)
    return {point: found[point] for point in points.values() if point in found}, tuple(claimed)


def stands_in(words: str, steps: Sequence[str]) -> bool:
    """Whether some step holds these words in a row, case and punctuation aside; fewer than three are too few."""
    told = _words(words)
    return any(
        len(told) >= min(FEWEST_WORDS, len(own := _words(step))) > 0 and f" {' '.join(told)} " in f" {' '.join(own)} "
        for step in steps
    )


def point_ids(points: Sequence[str]) -> tuple[str, ...]:
    """``P1`` is the first point of a list."""
    return tuple(f"P{number}" for number in range(1, len(points) + 1))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
