"""Whether a remark of a review is about a planted error: the same defect, a related one, or another matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, shortened
from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/planted-match"
Said = Literal["same", "related", "other"]
ANSWERS: tuple[Said, ...] = ("same", "related", "other")

_MEANING: dict[Said, str] = {
    "same": "the remark says, in whatever words, that these two things conflict or that this one is wrong",
    "related": "it is about the same passage or result and names another fault, or none",
    "other": "it is about something else",
}
_LONGEST = 1_200
_TOKENS_A_PAIR, _TOKENS_AROUND = 80, 64


@dataclass(frozen=True)
class Question:
    """A defect and a remark; nothing says which strategy wrote it."""

    statement: str
    before: str
    after: str
    remark: str
    quotations: tuple[str, ...] = ()


def render_pairs(questions: Sequence[Question], *, reverse: bool) -> RenderedPrompt:
    """The prompt for so many pairs, numbered from 1 as given; ``reverse`` turns the order of the answers."""
    shown = "\n\n".join(f"Pair {number}\n{_pair(one)}" for number, one in enumerate(questions, start=1))
    lines = [f"- `{answer}`: {_MEANING[answer]}." for answer in _order(reverse)]
    return load_prompt(PROMPT).render(pairs=delimit("pairs", shown), answers="\n".join(lines))


@lru_cache(maxsize=64)
def answers_model(pairs: int, *, reverse: bool = False) -> type[BaseModel]:
    """The reply for so many pairs: one answer a pair under its number, on offer in the prompt's order."""
    closed = ConfigDict(extra="ignore")
    shape: dict[str, Any] = {
        "pair": (Literal[tuple(range(1, pairs + 1))], ...),
        "reason": (str, Field(max_length=200, description="what decides it")),
        "answer": (Literal[_order(reverse)], ...),
    }
    one = create_model("PairAnswer", __config__=closed, **shape)
    return create_model("PairAnswers", __config__=closed, answers=(list_of(one), Field(max_length=pairs)))


def answers_tokens(pairs: int) -> int:
    """The longest reply, in tokens."""
    return _TOKENS_AROUND + _TOKENS_A_PAIR * pairs


def _order(reverse: bool) -> tuple[Said, ...]:
    return ANSWERS[::-1] if reverse else ANSWERS


def _pair(one: Question) -> str:
    statement, before, after, remark, *quotes = (
        shortened(" ".join(text.split()), _LONGEST)
        for text in (one.statement, one.before, one.after, one.remark, *one.quotations[:3])
    )
    quoted = "".join(f'\nIt quotes: "{quote}"' for quote in quotes)
    return f"Defect: {statement}\nShould read: {before}\nReads: {after}\nRemark: {remark}{quoted}"
