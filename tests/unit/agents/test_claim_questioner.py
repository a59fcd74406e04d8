from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.questions import QUESTIONS_PROMPT, ask_questions, claims_absence, questions_model
from referee.errors import ReplyInvalid
from referee.evals.judging import Panel
from referee.testing import ScriptedModel

POINT = "The paper lacks an ablation of the loss."


async def asked(point: str = POINT, *, most: int = 3, **changes: Any) -> Any:
    reply = {"question": "Is the loss ablated?", "sub_questions": ["Which losses were tried?"], "absent": []} | changes
    model = ScriptedModel([reply])
    return await ask_questions(point, f"Also: {point}", panel=Panel(model), most=most, unit="u"), model.history[0]


async def test_the_point_and_its_words_are_shown_and_questions_come_back() -> None:
    said, call = await asked(
        sub_questions=["Which losses?", " which  losses? ", "Where ablated?"], absent=["ablation", "loss"]
    )
    assert said.question == "Is the loss ablated?"
    assert said.sub_questions == ("Which losses?", "Where ablated?")
    assert said.absent == ("ablation", "loss")
    assert (call.prompt_id, call.role) == (QUESTIONS_PROMPT, "judge")
    assert f"<point>\n{POINT}\n</point>" in call.user
    assert f"<review_words>\nAlso: {POINT}\n</review_words>" in call.user
    assert "1 to 3 shorter questions" in call.system


async def test_a_question_about_something_else_is_replaced_by_the_point() -> None:
    said, _ = await asked(question="Who won the match?", sub_questions=["  "])
    assert said.question == f"Is it true of the paper: {POINT}"
    assert said.sub_questions == (said.question,)
    assert "replaced by the point" in said.notes[0]


@pytest.mark.parametrize(
    ("point", "terms", "counts"),
    [
        (POINT, ("ablation study", "component removal"), True),
        ("The authors should add error bars.", ("error bars",), True),
        ("The seeds aren't given.", ("seed",), True),
        (POINT, ("xylophone",), False),
        (POINT, ("the paper lacks an ablation",), False),
        ("There are no F1 scores.", ("F1 scores", "top-5"), True),
        ("It is not run on 4,000 sets.", ("4,000 sets",), False),
        ("Training took 12 hours.", ("hours",), False),
        (POINT, (), False),
    ],
)
def test_an_absence_is_one_by_the_points_own_words(point: str, terms: tuple[str, ...], counts: bool) -> None:
    assert claims_absence(point, point, terms) is counts


async def test_sub_questions_about_something_else_are_left_out() -> None:
    said, _ = await asked(sub_questions=["Who won the match?", "What does the ablation show?"])
    assert said.sub_questions == ("What does the ablation show?",)


async def test_words_without_a_claimed_absence_are_not_searched() -> None:
    said, _ = await asked("Training took 12 hours on the loss.", absent=["hours"])
    assert said.absent == ()
    assert "do not belong to a claimed absence" in said.notes[-1]


async def test_bounds_and_failures() -> None:
    with pytest.raises(ValidationError):
        questions_model(2).model_validate({"question": "q", "sub_questions": ["a", "b", "c"], "absent": []})
    with pytest.raises(ValidationError):
        questions_model(2).model_validate({"question": "q", "sub_questions": [], "absent": []})
    with pytest.raises(ReplyInvalid):
        await ask_questions(POINT, POINT, panel=Panel(ScriptedModel([ReplyInvalid("no")])), most=2, unit="u")
