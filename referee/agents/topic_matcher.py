"""How much the topics of two reviews have in common: all pairs in one call, without saying who wrote which.

Source: ReviewEval section 3.1 (topic similarity from 0 to 3). The reply names pairs by ids that exist and strengths
that are on offer; what it does not name is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/match"

Strength = Literal["strong", "moderate", "weak", "none"]
STRENGTHS: Mapping[str, int] = {"strong": 3, "moderate": 2, "weak": 1, "none": 0}

_PAIRS_A_TOPIC = 4
_TOKENS_A_PAIR, _TOKENS_AROUND = 28, 64


@dataclass(frozen=True)
class Matches:
    """The strengths of all pairs, from 0 to 3: a row for each topic of the first list, a column for the second's.

    ``contradicted`` counts pairs that the reply gave two strengths; the weaker one stands.
    """

    table: list[list[int]]
    contradicted: int


def most_pairs(first: int, second: int) -> int:
    """How many pairs a reply may name for lists of these lengths."""
    return min(first * second, _PAIRS_A_TOPIC * max(first, second))


def most_out(first: int, second: int) -> int:
    """The longest reply for lists of these lengths, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_PAIR * most_pairs(first, second)


@lru_cache(maxsize=64)
def match_model(first: int, second: int) -> type[BaseModel]:
    """The reply's shape for lists of these lengths, each at least 1: their ids are the only choices."""
    pair = create_model(
        "TopicPair",
        __config__=ConfigDict(extra="ignore"),
        first=(one_of(_ids("a", first)), Field(description="id of a topic in <first>")),
        second=(one_of(_ids("b", second)), Field(description="id of a topic in <second>")),
        strength=(Strength, ...),
    )
    pairs = (list_of(pair), Field(max_length=most_pairs(first, second), description="each related pair once"))
    return create_model("TopicMatches", __config__=ConfigDict(extra="ignore"), pairs=pairs)


def render_match(
    first: Sequence[str], second: Sequence[str], prompt_versions: Mapping[str, str] | None = None
) -> RenderedPrompt:
    """The question about two lists of topics.

    Args:
        first: Topics of one review.
        second: Topics of the other.
        prompt_versions: Prompt id to version; the newest by default.
    """
    prompt = load_prompt(PROMPT, (prompt_versions or {}).get(PROMPT))
    return prompt.render(
        first=delimit("first", _listed("a", first)),
        second=delimit("second", _listed("b", second)),
        most=str(most_pairs(len(first), len(second))),
    )


def read_matches(reply: BaseModel, first: int, second: int) -> Matches:
    """The table that a reply gives for lists of these lengths."""
    given: dict[tuple[str, str], set[int]] = {}
    for pair in reply.model_dump()["pairs"]:
        given.setdefault((pair["first"], pair["second"]), set()).add(STRENGTHS[pair["strength"]])
    table = [[min(given.get((row, column), {0})) for column in _ids("b", second)] for row in _ids("a", first)]
    return Matches(table, sum(len(strengths) > 1 for strengths in given.values()))


def _ids(letter: str, number: int) -> tuple[str, ...]:
    return tuple(f"{letter}{place}" for place in range(1, number + 1))


def _listed(letter: str, topics: Sequence[str]) -> str:
    return "\n".join(
        f"{name}: {' '.join(topic.split())}" for name, topic in zip(_ids(letter, len(topics)), topics, strict=True)
    )
