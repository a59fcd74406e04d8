"""One reader of the whole paper: of one part line by line, or of the paper as an area chair reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.agents.focus import LENSES, LONG_WORDS, FocusPart, paper_questions, part_questions, render_questions
from referee.agents.paper_run import PaperRun
from referee.agents.point_reply import Origin
from referee.agents.reading_reply import (
    LONG_READING_TOKENS,
    MOST_POINTS,
    MOST_POINTS_OF_A_LONG_PART,
    READING_TOKENS,
    ReadingBounds,
    reading_model,
    to_reading_points,
)
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.prompts import RenderedPrompt
from referee.schemas.point import PointSource, ReviewPoint
from referee.venues.prompts import SectionPrompt

FOCUS_PROMPT = "review/focus"
WHOLE_PROMPT = "review/whole"
ROLE = "writer"
WHOLE = "W"


@dataclass(frozen=True)
class Reading:
    """What one reader raised, and what was cut on the way."""

    points: tuple[ReviewPoint, ...]
    notes: tuple[str, ...]
    call_id: str


async def read_focus(run: PaperRun, part: FocusPart, steps: Sequence[SectionPrompt]) -> Reading:
    """Read one part line by line, for what the venue asks readers to look at, by guideline.

    Raises:
        ModelError: The model did not answer validly.
    """
    long = part.words > LONG_WORDS
    bounds = ReadingBounds(points=MOST_POINTS_OF_A_LONG_PART if long else MOST_POINTS)
    task = run.task(
        FOCUS_PROMPT,
        venue_name=run.form.name,
        part=part.name,
        lens=LENSES[part.kind],
        questions=render_questions(part_questions(part, steps)),
        most_points=str(bounds.points),
    )
    return await _read(run, task, part.id, "section", bounds, LONG_READING_TOKENS if long else READING_TOKENS)


async def read_whole(run: PaperRun, steps: Sequence[SectionPrompt]) -> Reading:
    """Read the paper as an area chair does; errors as of ``read_focus``."""
    bounds = ReadingBounds(points=MOST_POINTS_OF_A_LONG_PART)
    task = run.task(
        WHOLE_PROMPT,
        venue_name=run.form.name,
        questions=render_questions(paper_questions(steps)),
        most_points=str(bounds.points),
    )
    return await _read(run, task, WHOLE, "whole", bounds, LONG_READING_TOKENS)


async def _read(
    run: PaperRun, prompt: RenderedPrompt, part: str, source: PointSource, bounds: ReadingBounds, tokens: int
) -> Reading:
    reply = reading_model(run.sections, bounds)
    answer = await run.ask(prompt, reply, role=ROLE, tokens=tokens)
    origin = Origin(source, part, None, answer.call_id, answer.model, prompt_digest(prompt, reply_schema(reply)))
    points = to_reading_points(answer.value, origin, run.sections)
    return Reading(tuple(points), tuple(f"{part}: {note}" for note in answer.notes), answer.call_id)
