"""A review's strengths and weaknesses, copied from it one by one.

Source: PRAIB, as section 8 of this project's specification tells it. Whether the items are the review's words is not
believed but measured: an item that a judge makes up stays, and shows in its fidelity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.prompts import RenderedPrompt, delimit, load_prompt

PROMPT = "eval/atomic"
MOST_ITEMS = 40
"""The longest list of either polarity."""

Copying = Literal["exact", "trimmed"]

_ITEM_CHARS = 1_200
_LEAST_OUT, _MOST_OUT, _AROUND = 400, 4_096, 160
_COPYING: dict[Copying, str] = {
    "exact": "Copy each item letter by letter, from its first word to its last.",
    "trimmed": (
        "Copy each item nearly letter by letter: you may leave out filler and connecting words at its edges (however, "
        "also, I think that), and nothing else."
    ),
}


class AtomicReply(BaseModel):
    """The strengths and weaknesses of a review, in the review's own words and order."""

    model_config = ConfigDict(extra="ignore")

    strengths: list[Annotated[str, Field(max_length=_ITEM_CHARS)]] = Field(max_length=MOST_ITEMS)
    weaknesses: list[Annotated[str, Field(max_length=_ITEM_CHARS)]] = Field(max_length=MOST_ITEMS)


@dataclass(frozen=True)
class ListedItems:
    """The items of a reply; ``notes`` say what was left out of it and why."""

    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    notes: tuple[str, ...]


def copying_of(kind: str) -> Copying:
    """How a review of that kind is copied: a generated one exactly, one that a person may have written trimmed."""
    return "exact" if kind == "ai" else "trimmed"


def render_atomic(review: str, copying: Copying) -> RenderedPrompt:
    """The prompt for one review."""
    return load_prompt(PROMPT).render(copying=_COPYING[copying], most=str(MOST_ITEMS), review=delimit("review", review))


def atomic_tokens(review_tokens: int, context_tokens: int) -> int:
    """The longest reply: as long as the review and a quarter more, and at most a third of the context."""
    return max(_LEAST_OUT, min(_AROUND + review_tokens * 5 // 4, _MOST_OUT, context_tokens // 3))


def read_atomic(reply: AtomicReply) -> ListedItems:
    """The items of a reply, each once; one that is listed under both polarities is a weakness."""
    bad = _lines(reply.weaknesses)
    good = _lines(reply.strengths)
    both = [item for item in good if item in bad]
    doubled = len(reply.strengths) + len(reply.weaknesses) - len(good) - len(bad)
    notes = [f"{doubled} blank or repeated items were left out"] if doubled else []
    notes += [f"{len(both)} items listed under both polarities count as weaknesses"] if both else []
    for name, given in (("strengths", reply.strengths), ("weaknesses", reply.weaknesses)):
        notes += [f"the list of {name} is as long as it may be; there may be more"] if len(given) >= MOST_ITEMS else []
    return ListedItems(tuple(good[key] for key in good if key not in bad), tuple(bad.values()), tuple(notes))


def _lines(items: Iterable[str]) -> dict[str, str]:
    """The items on one line each, by their words without regard to case."""
    lines = (" ".join(item.split()) for item in items)
    found: dict[str, str] = {}
    for line in lines:
        if line:
            found.setdefault(line.casefold(), line)
    return found
