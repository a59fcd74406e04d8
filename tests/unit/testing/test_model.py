from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import ModelUnavailable
from referee.prompts import RenderedPrompt
from referee.testing import ScriptedModel, ScriptedModelError
from tests.support import made_up

from .fake_clients import PAPER, PROMPT, Weakness

ASKED = RenderedPrompt(id="review/map", version="v1", digest="d", system="You review.", user=PROMPT)
GOOD = {"claim": "c", "quote": "q", "severity": "minor", "score": 3}


async def test_queues_by_role_and_keeps_the_history() -> None:
    model = ScriptedModel({"writer": [GOOD, {**GOOD, "score": 4}], "judge": Weakness(**GOOD)})
    first = await model.ask(ASKED, Weakness, role="writer", unit="s1", max_output_tokens=50)
    assert model.left() == {"writer": 1}
    second = await model.ask(ASKED, Weakness, role="writer", max_output_tokens=50)
    judged = [await model.ask(ASKED, Weakness, role="judge", max_output_tokens=50, sample=i) for i in range(2)]
    assert (first.value.score, second.value.score) == (3, 4)
    assert (first.call_id, first.model, first.usage.calls) == ("scripted-1", "scripted", 1)
    assert [answer.value.score for answer in judged] == [3, 3]
    assert [asked.role for asked in model.history] == ["writer", "writer", "judge", "judge"]
    assert (model.history[0].unit, model.history[0].user, model.history[3].sample) == ("s1", PROMPT, 1)


async def test_one_sequence_answers_all_roles_in_order_and_the_prompt_id_wins() -> None:
    model = ScriptedModel([GOOD, lambda asked: {**GOOD, "claim": asked.role}])
    await model.ask(ASKED, Weakness, role="writer")
    assert (await model.ask(ASKED, Weakness, role="judge")).value.claim == "judge"
    model = ScriptedModel({"writer": GOOD, "review/map": {**GOOD, "score": 9}})
    assert (await model.ask(ASKED, Weakness, role="writer")).value.score == 9
    assert (await model.ask(replace(ASKED, id="review/x"), Weakness, role="writer")).value.score == 3


async def test_exceptions_are_raised() -> None:
    model = ScriptedModel({"writer": [ModelUnavailable("gone"), GOOD]})
    with pytest.raises(ModelUnavailable, match="gone"):
        await model.ask(ASKED, Weakness, role="writer")
    assert (await model.ask(ASKED, Weakness, role="writer")).value.score == 3


@pytest.mark.parametrize("replies", [{"writer": []}, {"judge": GOOD}, [{**GOOD, "score": 11}], [{"claim": 1}]])
async def test_a_script_that_does_not_hold_the_reply_is_loud(replies: object) -> None:
    with pytest.raises(ScriptedModelError):
        await ScriptedModel(replies).ask(ASKED, Weakness, role="writer")  # type: ignore[arg-type]


async def test_filling_gives_valid_replies_that_quote_the_prompt() -> None:
    model = ScriptedModel({"*": made_up()})
    first = await model.ask(ASKED, Weakness, role="writer")
    again = await model.ask(ASKED, Weakness, role="writer")
    assert first.value.quote in PAPER
    assert again.value == first.value
