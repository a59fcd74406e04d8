"""What metrics share that put one question about a review to every judge, in every repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from referee.evals.judging import Panel, total_usage
from referee.evals.quality.readings import readings_of
from referee.evals.quality.room import fitted, no_room
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Question(Generic[T]):
    """One question about a review.

    Attributes:
        render: Makes the prompt that shows a text.
        reply: The reply model.
        most_out: The longest reply, in tokens.
        read: What is kept of a reply, given the text that was shown.
    """

    render: Callable[[str], RenderedPrompt]
    reply: type[T]
    most_out: int
    read: Callable[[T, str], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """The readings, as ``details`` hold them, what was cut off the review, and the cost.

    ``no_room`` says why nobody was asked; it is empty where the question was put.
    """

    readings: list[dict[str, Any]]
    cut: dict[str, Any] | None
    usage: Usage
    no_room: str = ""


async def ask_judges(question: Question[T], text: str, panel: Panel, unit: str) -> Asked:
    """Show the review to all judges, as much of it as fits the smallest context among them.

    Args:
        question: What is asked.
        text: The review; not blank.
        panel: The judges.
        unit: What is judged, for the log.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    shown = fitted(text, panel, render=question.render, reply=question.reply, most_out=question.most_out)
    if not shown.text:
        return Asked([], None, Usage(), no_room(panel))
    prompt = question.render(shown.text)
    said = await panel.ask(prompt, question.reply, max_output_tokens=question.most_out, unit=unit)
    readings = readings_of(said, lambda value: question.read(value, shown.text))
    return Asked(readings, shown.cut, total_usage(said))
