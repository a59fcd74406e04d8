"""What a guideline page asks for, as a model reads it: criteria, boxes, scales, the rule on language models, lengths.

One call for each piece of the page, each with the same prompt. Everything comes with the page's own words, which code
looks up afterwards (``referee.venues.reading``); nothing is believed here.

Source: *ReviewEval* section 3.6 and appendix A.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.errors import ReplyInvalid
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.venue import Aspect, LlmPolicyStatus

PROMPT = "guidelines/read"
ROLE = "mapper"

LEAST_CONTEXT_TOKENS = 12_000
"""A smaller window holds no piece of a page beside the prompt and a reply worth the call."""

PIECE_TOKENS, MOST_OUT_TOKENS = 6_000, 12_000
MOST_CRITERIA, MOST_BOXES, MOST_OPTIONS = 150, 80, 24
_WORDS_CHARS, _TITLE_CHARS, _SAYS_CHARS = 1_200, 120, 240
_CLOSED = ConfigDict(extra="ignore")
_YesNo = Literal["yes", "no"]


@dataclass(frozen=True)
class PageReply:
    """What a model said of one piece, as plain data; ``reading`` is null where no reply could be used."""

    piece: int
    reading: dict[str, Any] | None
    model: str = ""
    notes: tuple[str, ...] = ()


def reads_pages(*, is_local: bool, context_tokens: int) -> bool:
    """Whether a model is given the page to read: not the embedded one, and none whose window is too small."""
    return not is_local and context_tokens >= LEAST_CONTEXT_TOKENS


def page_pieces(text: str, context_tokens: int, count: Callable[[str], int]) -> tuple[str, ...]:
    """The page's text in pieces that fit a prompt, cut between lines, before a heading where one is near the end."""
    room = min(PIECE_TOKENS, context_tokens // 4)
    pieces: list[list[str]] = [[]]
    used = 0
    for line in text.splitlines():
        size = count(line) + 1
        if pieces[-1] and (used + size > room or (line.startswith("#") and used > room // 2)):
            pieces.append([])
            used = 0
        pieces[-1].append(line)
        used += size
    return tuple("\n".join(piece) for piece in pieces if any(line.strip() for line in piece))


async def read_piece(
    number: int,
    pieces: tuple[str, ...],
    *,
    venue_name: str,
    door: Asks,
    max_output_tokens: int,
) -> PageReply:
    """Read one piece of the page; ``number`` counts from 0. A reply that stays invalid is a reply without a reading.

    Raises:
        ModelError: The model cannot be reached, or refuses.
    """
    rendered = render_piece(number, pieces, venue_name=venue_name)
    try:
        answer = await door.ask(rendered, reading_model(), role=ROLE, max_output_tokens=max_output_tokens)
    except ReplyInvalid:
        return PageReply(number, None, notes=(f"part {number + 1} of the page: the model gave no valid reply",))
    return PageReply(number, answer.value.model_dump(), answer.model, tuple(answer.notes))


def render_piece(number: int, pieces: tuple[str, ...], *, venue_name: str) -> RenderedPrompt:
    """The prompt for one piece, as it is sent."""
    # A page's title is page text: what could open a delimiter in it goes.
    name = " ".join(re.sub(r"[<>]", "", venue_name).split())
    part = "The page:" if len(pieces) == 1 else f"Part {number + 1} of {len(pieces)} of the page:"
    prompt = load_prompt(PROMPT)
    return prompt.render(venue_name=name, part=part, page=delimit("page", pieces[number]))


def most_output(context_tokens: int) -> int:
    """The longest reply to one piece, in tokens."""
    return min(MOST_OUT_TOKENS, context_tokens // 3)


@lru_cache(maxsize=64)
def reading_model() -> type[BaseModel]:
    """The reply's shape. The judgement on the page comes last, after what was found on it."""
    words = (str, Field(max_length=_WORDS_CHARS, description="copied from the page, letter by letter"))
    criterion = create_model(
        "PageCriterion",
        __config__=_CLOSED,
        words=words,
        says=(str, Field(max_length=_SAYS_CHARS, description="the demand in your own words, or empty")),
        kind=(one_of(("subjective", "objective")), ...),
    )
    option = create_model(
        "PageOption",
        __config__=_CLOSED,
        value=(str, Field(max_length=_TITLE_CHARS, description="a number, or the answer itself")),
        label=(str, Field(max_length=_SAYS_CHARS, description="its label as the page has it, or empty")),
    )
    box = create_model(
        "PageBox",
        __config__=_CLOSED,
        words=words,
        title=(str, Field(max_length=_TITLE_CHARS)),
        kind=(one_of(("text", "score", "choice")), ...),
        measures=(one_of(get_args(Aspect)), ...),
        scale=(str, Field(max_length=_SAYS_CHARS, description="the page's words that give the range, or empty")),
        options=(list_of(option), Field(max_length=MOST_OPTIONS)),
        length=(str, Field(max_length=_TITLE_CHARS, description="the page's words on its length, or empty")),
        late=(_YesNo, ...),
    )
    policy = create_model(
        "PagePolicy",
        __config__=_CLOSED,
        words=(list_of(str), Field(max_length=6, description="the page's sentences, copied")),
        status=(one_of(get_args(LlmPolicyStatus)), ...),
    )
    missing = create_model(
        "PageMissing",
        __config__=_CLOSED,
        words=words,
        what=(str, Field(max_length=_SAYS_CHARS, description="what it announces and does not show")),
    )
    return create_model(
        "PageReading",
        __config__=_CLOSED,
        criteria=(list_of(criterion), Field(max_length=MOST_CRITERIA)),
        boxes=(list_of(box), Field(max_length=MOST_BOXES)),
        policy=(policy, ...),
        missing=(list_of(missing), Field(max_length=20)),
        about=(str, Field(max_length=_SAYS_CHARS, description="what the page is, in one sentence")),
        for_reviewers=(_YesNo, ...),
    )
