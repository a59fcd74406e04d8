"""Texts that detection is studied on: reviews edited, condensed, written from notes, or written on by a model.

Source: "Is Your Paper Being Reviewed by an LLM?", its levels of editing and its reviews from bullet points; "DNA-GPT:
Divergent N-Gram Analysis for Training-Free Detection of GPT-Generated Text" for the second half of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from referee.agents.asking import Asks, CountTokens, tokens_left
from referee.agents.briefing import fit_paper, how_read
from referee.llm.door import Answer
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut

ROLE = "writer"
REPLY_TOKENS = 3_000
MOST_CHARACTERS = 16_000

Level = Literal["minimum", "moderate", "extensive", "maximum"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""How much of a review a model changed, least first; only the last is shown the paper."""

_TASKS: Mapping[Level, str] = {
    "minimum": "Correct typing errors and grammar only. Every word that is not wrong stays.",
    "moderate": "Polish the structure of its sentences so that it reads well. Its order and its points stay.",
    "extensive": "Rewrite it as a polished, professional review. Its main points stay; words and order are yours.",
}


class TextReply(BaseModel):
    """A text and nothing about it."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1, max_length=MOST_CHARACTERS)


class BulletsReply(BaseModel):
    """The core points of a review."""

    model_config = ConfigDict(extra="ignore")

    points: list[str] = Field(min_length=1, max_length=40)


async def edit_review(review: str, level: Level, *, door: Asks, role: str = ROLE, sample: int = 0) -> Answer[TextReply]:
    """A person's review as a model edits it, without the paper.

    Raises:
        ValueError: The level is ``maximum``, which needs the paper: see ``extend_review``.
        ModelError: The model did not answer validly.
    """
    if level not in _TASKS:
        raise ValueError(f"{level!r} is no level of editing without the paper: {', '.join(_TASKS)}")
    rendered = load_prompt("detect/edit").render(review=delimit("review", review), task=_TASKS[level])
    return await _text(rendered, door, role, sample)


async def extend_review(
    review: str,
    paper: Paper,
    *,
    door: Asks,
    context_tokens: int,
    count: CountTokens,
    role: str = ROLE,
    sample: int = 0,
    check: Callable[[PaperCut | None], None] = lambda cut: None,
) -> tuple[Answer[TextReply], PaperCut | None]:
    """A person's review rewritten and extended with details of its paper: the level ``maximum``.

    Args:
        review: The person's review.
        paper: The submission; fitted into what the context leaves.
        door: Answers the prompt.
        context_tokens: The model's context, in tokens.
        count: Counts tokens as the model does.
        role: Whose model writes it.
        sample: Tells repeated askings apart.
        check: Told what of the paper is not shown, before anything is asked; may raise.

    Returns:
        The answer, and what of the paper was not shown, None where all of it was.

    Raises:
        ContextTooLong: The context has no room for the paper.
        ModelError: The model did not answer validly.
    """
    prompt = load_prompt("detect/extend")
    material = delimit("review", review)
    bare = prompt.render(how_read=how_read(paper, ()), paper="", review=material)
    briefing = fit_paper(paper, tokens_left(bare, TextReply, REPLY_TOKENS, context_tokens, count), count)
    check(briefing.cut)
    rendered = prompt.render(how_read=how_read(paper, briefing.cuts), paper=briefing.text, review=material)
    return await _text(rendered, door, role, sample), briefing.cut


async def condense_review(review: str, *, door: Asks, role: str = ROLE, sample: int = 0) -> Answer[BulletsReply]:
    """A review's core points.

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = load_prompt("detect/bullets").render(review=delimit("review", review))
    return await door.ask(rendered, BulletsReply, role=role, max_output_tokens=REPLY_TOKENS, sample=sample)


async def expand_points(points: list[str], *, door: Asks, role: str = ROLE, sample: int = 0) -> Answer[TextReply]:
    """A review from core points alone; the paper is not shown.

    Raises:
        ModelError: The model did not answer validly.
    """
    notes = "\n".join(f"- {point}" for point in points)
    return await _text(load_prompt("detect/expand").render(points=delimit("notes", notes)), door, role, sample)


async def continue_text(
    beginning: str, words: int, *, door: Asks, role: str = ROLE, sample: int = 0
) -> Answer[TextReply]:
    """What a model writes where a review stops, about so many words of it.

    Raises:
        ModelError: The model did not answer validly.
    """
    rendered = load_prompt("detect/continue").render(beginning=delimit("beginning", beginning), words=str(words))
    return await _text(rendered, door, role, sample)


async def _text(rendered: RenderedPrompt, door: Asks, role: str, sample: int) -> Answer[TextReply]:
    return await door.ask(rendered, TextReply, role=role, max_output_tokens=REPLY_TOKENS, sample=sample)
