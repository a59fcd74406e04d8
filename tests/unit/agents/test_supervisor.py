from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.supervisor import (
    DIMENSIONS,
    CriticismReply,
    LeanCriticismReply,
    criticise_steps,
    new_findings,
)
from referee.schemas.venue import Fact, Guideline
from referee.testing import ScriptedModel

RULE = Guideline(
    id="lanterns",
    text="Lanterns are compared with torches, and the price of oil is stated.",
    kind="subjective",
    fact=Fact(confidence="official"),
)
STEPS = ["Compare each lantern with a torch.", "Find the stated price of the oil."]
NOTHING: dict[str, Any] = {name: [] for name in DIMENSIONS}


async def test_the_guideline_is_the_problem_and_the_steps_are_numbered() -> None:
    model = ScriptedModel([{**NOTHING, "alignment": ["Step 2 asks for more than the rule asks: drop 'stated'."]}])
    done = await criticise_steps(STEPS, RULE, venue_name="Small 2026", door=model, earlier=["Step 1 is vague."])
    (call,) = model.history
    assert (call.role, call.reply, call.sample) == ("supervisor", CriticismReply, 0)
    assert "1. Compare each lantern" in call.user
    assert "- Step 1 is vague." in call.user
    assert list(done.findings) == list(DIMENSIONS)
    assert done.all == ("Step 2 asks for more than the rule asks: drop 'stated'.",)


async def test_nothing_wrong_is_an_answer() -> None:
    done = await criticise_steps(STEPS, RULE, venue_name="Small 2026", door=ScriptedModel([NOTHING]), lean=True)
    assert (done.all, done.echoes) == ((), 0)


async def test_findings_that_only_repeat_the_prompt_are_left_out_and_counted() -> None:
    echoes = {
        "clarity": ["Lanterns are compared with torches, and the price of oil is stated."],
        "alignment": ["A step that serves something else than the rule, or asks more than the rule asks."],
        "comprehensiveness": ["The rule's price of oil has no unit in step 2; name one."],
    }
    done = await criticise_steps(
        STEPS, RULE, venue_name="Small 2026", door=ScriptedModel([{**NOTHING, **echoes}]), earlier=["Name one."]
    )
    assert done.all == ("The rule's price of oil has no unit in step 2; name one.",)
    assert done.echoes == 2


@pytest.mark.parametrize("reply", [CriticismReply, LeanCriticismReply])
def test_the_schema_bounds_what_can_be_said(reply: type[CriticismReply]) -> None:
    for bad in (["Vague step."] * 4, ["word " * 200], "Vague step."):
        with pytest.raises(ValidationError):
            reply.model_validate({**NOTHING, "clarity": bad})
    with pytest.raises(ValidationError):
        reply.model_validate({"clarity": []})


@pytest.mark.parametrize(
    ("finding", "is_new"),
    [
        ("Step 2 does not say where to look.", False),
        ("Step 2 does not say WHERE one looks!", False),
        ("In step 2, it does not say where to look.", False),
        ("Step 1 and step 3 contradict each other.", True),
        ("The price of oil is served by no step.", True),
    ],
)
def test_what_is_new_is_told_by_the_words(finding: str, is_new: bool) -> None:
    earlier = ["Step 2 does not say where to look.", "The torch has two names."]
    assert bool(new_findings([finding], earlier)) is is_new


def test_without_earlier_findings_all_are_new() -> None:
    assert new_findings(["One thing.", "Another."], []) == ("One thing.", "Another.")
    assert new_findings([], ["One thing."]) == ()
