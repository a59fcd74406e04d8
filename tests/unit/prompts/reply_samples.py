"""Arguments by which the reply models are made that prompts' headers name: those of a small paper or form."""

from __future__ import annotations

from typing import Any

from referee.agents.coverage_judge import Sizes
from referee.agents.form_reply import FULL
from referee.agents.point_reply import Choices, points_model
from referee.venues import load_venue

FORM, IDS = load_venue("neurips-2025"), ("a1", "a2")
CHOICES = Choices(("soundness",), ("C1",), {"s1": "Method", "s2": "Results"})

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "abstract_reader.bearings_model": (("L1",), ("k1",)),
    "auditor.audit_model": (2, 400),
    "auditor.final_model": (2, 400),
    "adherence_judge.adherence_model": (("subjective", "objective"),),
    "checker.check_model": (("c1",), ("c1q1",)),
    "questions.questions_model": (2,),
    "composer.reply_model": (FORM, IDS, FULL),
    "coverage_judge.covers_model": (Sizes((1, 2), (2, 1)),),
    "form_reply.reply_model": (FORM, FULL),
    "review_points.review_model": (FORM, FULL),
    "review_judges.insights_model": (6,),
    "known_judge.defect_model": ((1, 2),),
    "mapper.mapping_reply_model": (("specific", "constructive"), ("P1", "P2")),
    "meta_reviewer.chair_model": (FORM, FULL, IDS),
    "meta_reviewer.reflection_model": (FORM, FULL, IDS),
    "page_reader.reading_model": (),
    "passage_reviewer.with_summary": (points_model(CHOICES), 900),
    "planted_judge.answers_model": (3,),
    "point_reply.cross_model": (CHOICES, IDS),
    "point_reply.points_model": (CHOICES,),
    "query_writer.queries_model": (),
    "refiner.refined_model": (CHOICES,),
    "team.answer_model": ({"s1": "Method"},),
    "topics.match_model": (2, 3),
    "usefulness_judge.usefulness_model": (3,),
}
"""By module and function; what is not listed takes ids alone."""


def arguments(reply: str) -> tuple[Any, ...]:
    """The arguments of the function that a header names."""
    return ARGUMENTS.get(reply.removeprefix("referee.agents."), (IDS,))
