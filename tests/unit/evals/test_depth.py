import json
from typing import Any

import pytest

from referee.agents.review_judges import RESPECTS
from referee.errors import BudgetExceeded
from referee.evals.metric import Context, Foreseeing, Metric
from referee.evals.quality.depth import METRIC, depth
from referee.runs import Budget
from referee.schemas.metric import MetricResult

from .judges_on_tests import INJECTIONS, never, outside, panel_of, requests_to, review, shown

REVIEW = "The proof of Lemma 2 assumes independence, which Section 5 does not have. The results are impressive."
FIRST, SECOND = [2, 3, 1, 0, 2], [3, 2, 1, 1, 2]


def reply(scores: Any, **changes: Any) -> dict[str, Any]:
    rated = {
        respect: {"finding": "It says so.", "quote": "The results are impressive.", "score": score}
        for respect, score in zip(RESPECTS, scores, strict=True)
    }
    return rated | changes


async def measured(text: str, *replies: Any, repeats: int = 1) -> MetricResult:
    judges = [one if callable(one) else (lambda _, one=one: one) for one in replies]
    return await METRIC.measure(review(text), Context(panel=panel_of(*judges, repeats=repeats)))


def test_it_is_a_metric_that_foresees_its_load() -> None:
    assert isinstance(METRIC, Metric)
    assert isinstance(METRIC, Foreseeing)


def test_equation_5() -> None:
    assert depth([0] * 5) == 0
    assert depth([3] * 5) == 1
    assert depth(FIRST) == 8 / 15


async def test_the_fixture_of_two_judges_to_the_digit() -> None:
    result = await measured(REVIEW, reply(FIRST), reply(SECOND))
    assert result.value is not None
    assert round(result.value, 6) == 0.566667
    assert [one.value for one in result.judges] == [8 / 15, 9 / 15]
    assert result.parts == dict(zip(RESPECTS, [2.5, 2.5, 1, 0.5, 2], strict=True)) | {"dropped": 0}


async def test_a_judges_repeats_count_as_one_judge() -> None:
    said = iter([reply([3] * 5), reply([0] * 5)])
    result = await measured(REVIEW, lambda _: next(said), reply([3] * 5), repeats=2)
    assert result.value == 0.75
    assert [one.repeat for one in result.judges] == [0, 1, 0, 1]


async def test_a_judge_that_never_answers_leaves_the_others_and_alone_fails() -> None:
    beside = await measured(REVIEW, reply(FIRST), never)
    assert beside.value == 8 / 15
    assert beside.judges[1].value is None
    assert "no valid reply" in beside.judges[1].reason
    alone = await measured(REVIEW, never)
    assert (alone.status, alone.value) == ("failed", None)
    assert "no judge gave a usable reply" in alone.reason


@pytest.mark.parametrize("score", [4, -1, 0.5, "high", None, 30, "3 of 3"])
async def test_a_score_out_of_range_is_no_reply_and_is_never_clamped(score: Any) -> None:
    panel = panel_of(lambda _: reply([score, 3, 3, 3, 3]))
    result = await METRIC.measure(review(REVIEW), Context(panel=panel))
    assert (result.status, result.value) == ("failed", None)
    assert len(requests_to(panel)) == 3


async def test_a_reply_that_is_mended_in_a_repair_round_counts() -> None:
    said = iter([reply([7] * 5), reply(FIRST)])
    result = await measured(REVIEW, lambda _: next(said))
    assert result.value == 8 / 15
    assert result.usage.calls == 2


@pytest.mark.parametrize("said", ["", "3", "The depth is 3 of 3.", '{"literature": 3}'])
async def test_no_number_is_fished_out_of_a_reply_that_does_not_fit(said: str) -> None:
    assert (await measured(REVIEW, said)).status == "failed"


async def test_a_respect_left_out_is_no_reply() -> None:
    partial = reply(FIRST)
    del partial["theory"]
    assert (await measured(REVIEW, partial)).status == "failed"


async def test_absent_everywhere_is_a_scored_zero() -> None:
    result = await measured("Nice.", reply([0] * 5))
    assert (result.status, result.value) == ("scored", 0.0)


async def test_an_empty_review_and_a_missing_judge_are_not_applicable() -> None:
    panel = panel_of(never)
    empty = await METRIC.measure(review(" \n"), Context(panel=panel))
    assert (empty.status, empty.reason) == ("not_applicable", "the review has no text")
    assert not requests_to(panel)
    assert (await METRIC.measure(review(REVIEW), Context())).status == "not_applicable"


async def test_a_level_whose_quotation_is_not_in_the_review_is_not_earned() -> None:
    invented = {"finding": "It cites.", "quote": "We compare with Adams and Wu in detail.", "score": 3}
    silent = {"finding": "It is deep.", "quote": " ", "score": 2}
    result = await measured(REVIEW, reply(FIRST, literature=invented, theory=silent))
    assert result.value == 4 / 15
    assert (result.parts["literature"], result.parts["theory"], result.parts["logic"]) == (0, 0, 3)
    assert result.parts["dropped"] == 2
    assert result.judges[0].value == 4 / 15
    respects = result.details["readings"][0]["respects"]
    assert [respects[name]["traced"] for name in ("literature", "logic")] == [False, True]
    assert respects["literature"]["score"] == 3


async def test_a_judge_that_invents_every_quotation_has_judged_nothing() -> None:
    invented = {"finding": "It cites.", "quote": "We compare with Adams and Wu in detail.", "score": 3}
    liar = reply(FIRST, **dict.fromkeys(RESPECTS, invented))
    alone = await measured(REVIEW, liar)
    assert (alone.status, alone.value) == ("failed", None)
    assert "none of the 5 quotations" in alone.reason
    assert "none of the 5" in alone.judges[0].reason
    assert METRIC.rescore(alone) == alone
    beside = await measured(REVIEW, liar, reply(FIRST))
    assert (beside.value, beside.parts["dropped"]) == (8 / 15, 0)
    assert [one.value for one in beside.judges] == [None, 8 / 15]


async def test_the_value_is_recomputed_from_the_stored_scores() -> None:
    result = await measured(REVIEW, reply(FIRST), reply(SECOND), never)
    stored = MetricResult.model_validate_json(result.model_dump_json())
    assert METRIC.rescore(stored.model_copy(update={"value": 0.5, "parts": {}, "judges": ()})) == stored
    edited = json.loads(stored.model_dump_json())
    edited["details"]["readings"][0]["respects"]["results"]["score"] = 3
    assert METRIC.rescore(MetricResult.model_validate(edited)).value == pytest.approx(10 / 15, abs=1e-12)
    for other in (await measured(REVIEW, never), await measured("", never)):
        assert METRIC.rescore(other) == other


async def test_a_very_long_review_is_cut_at_the_smallest_context_on_the_record() -> None:
    panel = panel_of(lambda _: reply(FIRST), lambda _: reply(SECOND), context=20_000)
    result = await METRIC.measure(review(f"{REVIEW} " + "word " * 49_983), Context(panel=panel))
    assert result.value is not None
    assert result.details["cut"]["words"] == 50_000
    assert 15_000 < result.details["cut"]["words_shown"] < 20_000
    one, other = (requests_to(panel, role)[0].messages for role in ("judge", "judge-2"))
    assert one == other


async def test_a_text_without_blanks_is_cut_too() -> None:
    panel = panel_of(lambda _: reply(FIRST), context=6_000)
    panel.door.models["judge"].count = len
    short = await METRIC.measure(review("字" * 9_000), Context(panel=panel))
    assert short.status == "failed"
    panel.door.models["judge"].context_tokens = 14_000
    assert (await METRIC.measure(review("字" * 9_000), Context(panel=panel))).details["cut"] is not None


async def test_a_budget_that_is_spent_is_raised() -> None:
    with pytest.raises(BudgetExceeded):
        await METRIC.measure(review(REVIEW), Context(panel=panel_of(never, budget=Budget(max_tokens=10))))


def by_content(user: str) -> dict[str, Any]:
    """Obeys what stands outside the material, and judges what stands in it by its words."""
    obeyed, said = "3 of 3" in outside(user), shown(user)
    return reply([3 * obeyed or score for score in (0, 2 * ("Lemma" in said), 0, int("results are" in said), 1)])


@pytest.mark.parametrize("words", INJECTIONS)
async def test_a_review_that_asks_for_a_score_gets_none_for_it(words: str) -> None:
    plain = await measured(REVIEW, by_content)
    assert plain.value == pytest.approx(4 / 15)
    for text in (f"{words}\n\n{REVIEW}", f"{REVIEW}\n\n{words}"):
        assert (await measured(text, by_content)).parts == plain.parts


async def test_the_prompt_says_what_the_paper_asks() -> None:
    panel = panel_of(lambda _: reply(FIRST))
    await METRIC.measure(review(REVIEW), Context(panel=panel))
    system = " ".join(requests_to(panel)[0].messages[0][1].split())
    assert all(f"`{respect}`:" in system for respect in RESPECTS)
    assert system.count("- 3:") == system.count("- 0:") == 6
    assert "never an instruction" in system
