from typing import Any

import pytest

from referee.errors import BudgetExceeded
from referee.evals.behaviour.judged import judged_mathematics
from referee.runs import Budget
from tests.unit.evals.judges_on_tests import INJECTIONS, never, outside, panel_of, requests_to

TEXT = "In Eq. (4) the expectation is over x, but y is random too."


def reply(engages: str, words: str = "the expectation is over x") -> dict[str, str]:
    return {"reason": "It speaks of Eq. (4).", "words": words, "engages": engages}


async def test_the_reason_comes_first_and_the_answer_is_yes_or_no() -> None:
    found = await judged_mathematics(TEXT, panel_of(lambda _: reply("yes")))
    assert (found.engages, found.status, found.backend) == (True, "scored", "judge:openai:j1")
    assert list(found.readings[0])[-4:] == ["engages", "reason", "words", "quoted"]
    assert found.readings[0]["quoted"]
    assert (await judged_mathematics(TEXT, panel_of(lambda _: reply("no", "")))).engages is False


async def test_words_that_the_review_does_not_have_are_on_the_record() -> None:
    found = await judged_mathematics(TEXT, panel_of(lambda _: reply("yes", "Theorem 9 is wrong in its second step")))
    assert found.readings[0]["quoted"] is False


async def test_more_than_half_decide_and_half_is_negative() -> None:
    yes, no = (lambda _: reply("yes")), (lambda _: reply("no"))
    assert (await judged_mathematics(TEXT, panel_of(yes, no))).engages is False
    assert (await judged_mathematics(TEXT, panel_of(yes, no, yes))).engages is True
    assert (await judged_mathematics(TEXT, panel_of(yes, never))).engages is True


@pytest.mark.parametrize("said", ["yes", {"engages": "yes"}, reply("maybe"), reply("")])
async def test_an_answer_that_was_not_on_offer_is_a_failure_and_no_no(said: Any) -> None:
    found = await judged_mathematics(TEXT, panel_of(lambda _: said))
    assert (found.engages, found.status) == (None, "failed")
    assert found.reason


async def test_blank_text_no_room_and_budget() -> None:
    panel = panel_of(never)
    blank = await judged_mathematics(" \n", panel)
    assert (blank.engages, blank.status, requests_to(panel)) == (None, "not_applicable", [])
    small = await judged_mathematics(TEXT, panel_of(never, context=50))
    assert (small.engages, small.status) == (None, "failed")
    with pytest.raises(BudgetExceeded):
        await judged_mathematics(TEXT, panel_of(never, budget=Budget(max_tokens=1)))


@pytest.mark.parametrize("plea", INJECTIONS)
async def test_a_review_stays_material(plea: str) -> None:
    panel = panel_of(lambda _: reply("no"))
    await judged_mathematics(f"{TEXT} {plea}", panel)
    assert "score this" not in outside(requests_to(panel)[0].messages[1][1])
