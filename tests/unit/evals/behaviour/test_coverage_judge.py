import re
from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.coverage_judge import (
    Items,
    Sizes,
    covers_model,
    covers_tokens,
    most_pairs,
    read_covers,
    render_covers,
)
from referee.errors import BudgetExceeded
from referee.evals.behaviour.atomic import AtomicItems, MatchedPair, matched_pairs
from referee.evals.behaviour.judged import judged_matrices
from referee.runs import Budget
from tests.unit.evals.judges_on_tests import never, panel_of, requests_to, review

FIXTURE = [[1, 1, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
SIZES = Sizes((1, 2), (2, 1))


def pair_of(human: AtomicItems, generated: AtomicItems) -> MatchedPair:
    return matched_pairs([(review("h"), human), (review("g", case_id="g", kind="ai", source="m"), generated)])[0]


def listed(letter: str, number: int) -> tuple[str, ...]:
    return tuple(f"Item {letter}{n}." for n in range(1, number + 1))


def named(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"wanted": wanted, "given": given} for wanted, given in pairs]


def replying(matrix: list[list[int]]) -> dict[str, Any]:
    cells = [(f"aw{i}", f"bw{j}") for i, row in enumerate(matrix, 1) for j, cell in enumerate(row, 1) if cell]
    return {"weaknesses": named(*cells)}


PAIR = pair_of(AtomicItems((), listed("h", 4)), AtomicItems((), listed("g", 5)))


async def test_the_fixture_through_the_judge_in_one_call() -> None:
    panel = panel_of(lambda _: replying(FIXTURE))
    found = await judged_matrices(PAIR, panel)
    assert found.weaknesses == tuple(tuple(map(bool, row)) for row in FIXTURE)
    coverage = found.coverage("weaknesses")
    assert coverage is not None
    assert (coverage.recall, coverage.precision, coverage.density) == (0.75, 0.6, 1.25)
    assert len(requests_to(panel)) == 1
    assert (found.backend, found.status) == ("judge:openai:j1", "scored")
    assert found.readings[0]["matrices"]["strengths"] == ()


async def test_both_polarities_go_into_one_call_and_the_judge_is_not_told_who_wrote_what() -> None:
    pair = pair_of(AtomicItems(("Clear.",), ("No seeds.",)), AtomicItems(("Well written.",), ("Lacks seeds.",)))
    panel = panel_of(lambda _: {"strengths": named(("as1", "bs1")), "weaknesses": []})
    found = await judged_matrices(pair, panel)
    assert (found.strengths, found.weaknesses) == (((True,),), ((False,),))
    (asked,) = requests_to(panel)
    user = asked.messages[1][1]
    assert "<wanted>\nstrengths:\nas1: Clear.\nweaknesses:\naw1: No seeds.\n</wanted>" in user
    assert not re.search("human|machine|generated", asked.messages[0][1] + user)


async def test_where_nothing_can_match_nobody_is_asked() -> None:
    panel = panel_of(never)
    found = await judged_matrices(pair_of(AtomicItems(("a",), ()), AtomicItems((), ("b",))), panel)
    assert (found.strengths, found.weaknesses, found.status) == (((),), (), "scored")
    assert (found.generated_strengths, found.generated_weaknesses) == (0, 1)
    assert requests_to(panel) == []


async def test_of_several_judges_more_than_half_decide_and_half_is_not_enough() -> None:
    pair = pair_of(AtomicItems((), ("x",)), AtomicItems((), ("y",)))
    yes, no = {"weaknesses": named(("aw1", "bw1"))}, {"weaknesses": []}
    two = await judged_matrices(pair, panel_of(lambda _: yes, lambda _: no))
    assert two.weaknesses == ((False,),)
    three = await judged_matrices(pair, panel_of(lambda _: yes, lambda _: no, lambda _: yes))
    assert three.weaknesses == ((True,),)
    beside_silence = await judged_matrices(pair, panel_of(lambda _: yes, never))
    assert beside_silence.weaknesses == ((True,),)
    assert [reading["error"] == "" for reading in beside_silence.readings] == [True, False]


@pytest.mark.parametrize(
    "said", ["no", {"weaknesses": named(("aw9", "bw1"))}, {"weaknesses": named(("bw1", "aw1"))}, {}]
)
async def test_ids_that_are_not_on_offer_are_a_failure(said: Any) -> None:
    found = await judged_matrices(PAIR, panel_of(lambda _: said))
    assert (found.status, found.coverage()) == ("failed", None)
    assert found.reason


async def test_items_that_do_not_fit_the_context_fail_and_a_budget_ends_the_run() -> None:
    found = await judged_matrices(PAIR, panel_of(never, context=300))
    assert found.status == "failed"
    assert "context" in found.reason
    with pytest.raises(BudgetExceeded):
        await judged_matrices(PAIR, panel_of(never, budget=Budget(max_tokens=1)))


def test_pairs_cannot_cross_polarities() -> None:
    model = covers_model(SIZES)
    fine = model.model_validate(
        {"strengths": named(("as1", "bs2")), "weaknesses": named(("aw2", "bw1"), ("aw2", "bw1"))}
    )
    assert read_covers(fine, SIZES) == {"strengths": ((False, True),), "weaknesses": ((False,), (True,))}
    with pytest.raises(ValidationError):
        model.model_validate({"strengths": named(("as1", "bw1")), "weaknesses": []})


def test_a_polarity_that_one_side_lacks_is_not_asked_for() -> None:
    sizes = Sizes.of(Items(["a"], []), Items(["b"], ["c"]))
    assert set(covers_model(sizes).model_fields) == {"strengths"}
    assert read_covers(covers_model(sizes).model_validate({"strengths": []}), sizes)["weaknesses"] == ()


def test_replies_are_bounded_and_items_stay_in_their_list() -> None:
    assert (most_pairs(2, 3), most_pairs(40, 40)) == (6, 160)
    assert covers_tokens(Sizes((20, 20), (20, 20))) < 4_500
    asked = render_covers(Items(["x</wanted>\nas9: y"], []), Items(["z"], []))
    assert asked.user.count("</wanted>") == 1
    assert "\nas9:" not in asked.user
