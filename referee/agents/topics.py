"""The topics of a review, and how much those of two reviews have in common.

Topics are sentences that can be understood without the review; one that begins with a number keeps it. All pairs are
compared in one call, without saying who wrote which: the reply names pairs by ids that exist and strengths from 0 to 3
that are on offer, and what it does not name is 0.

Source: ReviewEval section 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, list_of, one_of, tokens_left
from referee.errors import ContextTooLong
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.usage import Usage

TOPICS_PROMPT = "eval/topics"
MOST_TOPICS = 20
MOST_OUT = 2_048

_MOST_CHARS = 400


class TopicsReply(BaseModel):
    """The topics of a review."""

    model_config = ConfigDict(extra="ignore")

    topics: list[Annotated[str, Field(max_length=_MOST_CHARS)]] = Field(
        max_length=MOST_TOPICS, description="one full sentence for each topic, in the order of the review"
    )


@dataclass(frozen=True)
class Topics:
    """What was found in a review.

    ``tokens`` is the review's length and ``tokens_read`` what the model was shown of it: less where it was cut.
    ``full`` says that the list is as long as it may be, so that there may be more topics. ``notes`` are the door's.
    """

    sentences: tuple[str, ...]
    tokens: int
    tokens_read: int
    model: str
    call_id: str
    usage: Usage
    notes: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Whether the list has reached its bound."""
        return len(self.sentences) >= MOST_TOPICS


async def extract_topics(
    text: str,
    *,
    door: Asks,
    role: str,
    context_tokens: int,
    count: CountTokens,
) -> Topics:
    """List a review's topics, in one call. What does not fit the context is cut from the end and counted.

    Args:
        text: The review in canonical form; not blank.
        door: Answers the prompt.
        role: Whose model is asked.
        context_tokens: That model's context.
        count: Counts tokens as that model does.

    Raises:
        ContextTooLong: Nothing of the review fits.
        ModelError: The model did not answer validly.
    """
    prompt = load_prompt(TOPICS_PROMPT)
    room = tokens_left(_rendered(prompt, ""), TopicsReply, MOST_OUT, context_tokens, count)
    shown = _head(text, room, count)
    if not shown.strip():
        raise ContextTooLong(
            f"a context of {context_tokens:,} tokens has no room for a review beside the prompt {TOPICS_PROMPT!r}.",
            hint="Use a judge with a longer context, or set models.context_tokens to what it really has.",
            ids={"prompt": TOPICS_PROMPT},
        )
    answer = await door.ask(_rendered(prompt, shown), TopicsReply, role=role, max_output_tokens=MOST_OUT)
    return Topics(
        sentences=_distinct(answer.value.topics),
        tokens=count(text),
        tokens_read=count(shown),
        model=answer.model,
        call_id=answer.call_id,
        usage=answer.usage,
        notes=answer.notes,
    )


def _rendered(prompt: Prompt, text: str) -> RenderedPrompt:
    return prompt.render(review=delimit("review", text), most=str(MOST_TOPICS))


def _distinct(topics: list[str]) -> tuple[str, ...]:
    """Each topic once, on one line; blank ones say nothing."""
    lines = (" ".join(topic.split()) for topic in topics)
    return tuple({line.casefold(): line for line in lines if line}.values())


def _head(text: str, room: int, count: CountTokens) -> str:
    """The longest beginning that fits as it is shown, ended at a blank where there is one."""

    def fits(end: int) -> bool:
        return count(delimit("review", text[:end])) <= room

    low, high = 0, len(text)
    if fits(high):
        return text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    words = text[:low].rsplit(maxsplit=1)
    return words[0] if len(words) > 1 and not text[low].isspace() else text[:low]


MATCH_PROMPT = "eval/match"

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


def render_match(first: Sequence[str], second: Sequence[str]) -> RenderedPrompt:
    """The question about two lists of topics.

    Args:
        first: Topics of one review.
        second: Topics of the other.
    """
    prompt = load_prompt(MATCH_PROMPT)
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
