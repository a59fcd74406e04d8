import json
from typing import Any

import pytest

from referee.agents.review_judges import LENGTHS, insights_asked, insights_tokens
from referee.errors import BudgetExceeded
from referee.evals.metric import Context, Foreseeing, Known, Metric
from referee.evals.quality.constructiveness import ANSWERS, METRIC, actionability
from referee.evals.quality.judged import OwnWords, Traced
from referee.runs import Budget
from referee.schemas.metric import MetricResult

from .judges_on_tests import INJECTIONS, never, outside, panel_of, requests_to, review, shown

REVIEW = (
    "The threshold in Section 3.2 is not explained. The writing is poor. All results of Table 2 rest on one seed; "
    "report five seeds with a paired test.\n\nMore experiments would be welcome. A pleasure to read."
)
FIXTURE = [(1, 0, 0), (0, 0, 0), (1, 1, 1), (0, 1, 0)]
QUOTES = (
    "The threshold in Section 3.2 is not explained.",
    "The writing is poor.",
    "All results of Table 2 rest on one seed; report five seeds with a paired test.",
    "More experiments would be welcome.",
)


def insight(quote: str, answers: tuple[Any, ...] = (1, 1, 1), **changes: Any) -> dict[str, Any]:
    flags = dict(zip(("specific", "feasible", "steps"), map(bool, answers), strict=True))
    return {"quote": quote, "kind": "criticism", "reason": "It says so.", **flags} | changes


def listed(*insights: dict[str, Any]) -> dict[str, Any]:
    return {"insights": list(insights)}


BY_THE_BOOK = listed(*(insight(quote, answers) for quote, answers in zip(QUOTES, FIXTURE, strict=True)))


async def measured(text: str, *replies: Any, repeats: int = 1, **more: Any) -> MetricResult:
    """One judge a reply: a function of the prompt, or a constant."""
    judges = [reply if callable(reply) else (lambda _, reply=reply: reply) for reply in replies]
    return await METRIC.measure(review(text, **more), Context(panel=panel_of(*judges, repeats=repeats)))


def test_it_is_a_metric_that_foresees_its_load() -> None:
    assert isinstance(METRIC, Metric)
    assert isinstance(METRIC, Foreseeing)
    assert METRIC.load(review(REVIEW), Known(3)).judged == 1


def test_equation_4_to_the_digit() -> None:
    numbers = actionability(FIXTURE)
    assert numbers is not None
    assert (numbers.actionable, numbers.mean_sum, numbers.insights) == (0.75, 1.25, 4)
    assert numbers.at_least_two == 0.25
    assert numbers.mean_share == pytest.approx(1.25 / 3, abs=1e-12)
    assert actionability([]) is None


async def test_the_fixture_through_a_judge() -> None:
    result = await measured(REVIEW, BY_THE_BOOK)
    assert (result.status, result.value) == ("scored", 0.75)
    assert result.parts["mean_sum"] == 1.25
    assert result.parts["at_least_two"] == 0.25
    assert result.parts["insights"] == 4
    (reading,) = result.details["readings"]
    assert [tuple(one[name] for name in ANSWERS) for one in reading["insights"]] == FIXTURE
    assert result.judges[0].judge == "openai:j1"
    assert result.judges[0].calls == ("c0001",)
    assert result.usage.calls == 1


async def test_an_insight_that_is_not_in_the_review_is_dropped_and_listed() -> None:
    result = await measured(
        REVIEW, listed(insight(QUOTES[0]), insight("The proof of Theorem 9 is wrong and circular."))
    )
    (reading,) = result.details["readings"]
    assert (result.value, result.parts["insights"]) == (1.0, 1)
    assert reading["dropped"][0]["quote"].startswith("The proof of Theorem 9")
    assert "not in the review" in reading["dropped"][0]["why"]


async def test_one_insight_listed_twice_counts_once() -> None:
    again = insight("the  threshold in Section 3.2 is not\nexplained", (0, 0, 0))
    result = await measured(REVIEW, listed(insight(QUOTES[0]), again))
    assert (result.value, result.parts["insights"]) == (1.0, 1)
    assert result.details["readings"][0]["dropped"][0]["why"] == "listed twice"


async def test_the_words_kept_are_the_reviews_own() -> None:
    slip = insight("All results in Table 2 rest on one seed; report five seeds with a paired test.")
    result = await measured(REVIEW, listed(slip, insight("report seven seeds with a paired test")))
    (reading,) = result.details["readings"]
    assert reading["insights"][0]["quote"] == QUOTES[2].removesuffix(".")
    assert reading["insights"][0]["exact"] is False
    assert len(reading["dropped"]) == 1


def test_terse_lines_and_shown_brackets_are_found() -> None:
    words = OwnWords("- Missing baselines\n- tag <b>bold</b> remark is odd, p < 0.05\n\nNo.")
    assert words.find("Missing baselines.") == Traced("Missing baselines.", True)
    assert isinstance(words.find("tag ‹b>bold‹/b> remark is odd"), Traced)
    assert isinstance(words.find("missing"), str)
    assert isinstance(words.find("issing baseline"), str)
    assert isinstance(words.find(""), str)


async def test_a_review_without_insights_is_not_applicable() -> None:
    result = await measured("A fine paper indeed.", listed())
    assert (result.status, result.value, result.reason) == ("not_applicable", None, "the review holds no insight")


async def test_a_judge_that_invents_every_insight_has_failed() -> None:
    result = await measured(REVIEW, listed(insight("Nothing of the kind stands in here at all.")))
    assert result.status == "failed"
    assert result.reason == "none of the 1 insights named is in the review"
    assert len(result.details["readings"][0]["dropped"]) == 1


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_an_empty_review_is_not_applicable_and_asks_nobody(text: str) -> None:
    panel = panel_of(never)
    result = await METRIC.measure(review(text), Context(panel=panel))
    assert (result.status, result.reason) == ("not_applicable", "the review has no text")
    assert not requests_to(panel)


async def test_a_review_of_two_words_can_be_scored() -> None:
    result = await measured("Missing baselines.", listed(insight("Missing baselines.", (0, 1, 0))))
    assert result.value == 1.0


async def test_without_a_panel_the_flag_is_named() -> None:
    result = await METRIC.measure(review(REVIEW), Context())
    assert result.status == "not_applicable"
    assert "--judge" in result.reason


async def test_a_judge_that_never_answers_fails_after_bounded_tries() -> None:
    panel = panel_of(never)
    result = await METRIC.measure(review(REVIEW), Context(panel=panel))
    assert (result.status, result.value) == ("failed", None)
    assert "no valid reply" in result.reason
    assert len(requests_to(panel)) == 3
    assert result.usage.calls == 3


@pytest.mark.parametrize("reply", ["", "0.5", '{"insights": 7}', "Score: 3 of 3"])
async def test_an_unparsable_or_empty_reply_is_no_score(reply: str) -> None:
    assert (await measured(REVIEW, reply)).status == "failed"


@pytest.mark.parametrize("bad", [2, -1, "perhaps", None])
async def test_an_answer_out_of_range_is_no_reply(bad: Any) -> None:
    result = await measured(REVIEW, listed(insight(QUOTES[0], specific=bad)))
    assert (result.status, result.value) == ("failed", None)


async def test_too_many_insights_are_refused() -> None:
    asked = insights_asked(REVIEW)
    result = await measured(REVIEW, listed(*[insight(QUOTES[0])] * (asked + 1)))
    assert result.status == "failed"


async def test_judges_are_averaged_each_over_its_repeats_and_a_silent_one_is_on_record() -> None:
    half = listed(insight(QUOTES[0]), insight(QUOTES[1], (0, 0, 0)))
    result = await measured(REVIEW, listed(insight(QUOTES[0])), half, never, repeats=2)
    assert result.value == 0.75
    assert [(one.judge, one.repeat, one.value) for one in result.judges] == [
        ("openai:j1", 0, 1.0),
        ("openai:j1", 1, 1.0),
        ("openai:j2", 0, 0.5),
        ("openai:j2", 1, 0.5),
        ("openai:j3", 0, None),
        ("openai:j3", 1, None),
    ]
    assert "no valid reply" in result.judges[-1].reason


async def test_a_budget_that_is_spent_is_raised() -> None:
    panel = panel_of(lambda _: BY_THE_BOOK, budget=Budget(max_tokens=10))
    with pytest.raises(BudgetExceeded):
        await METRIC.measure(review(REVIEW), Context(panel=panel))


async def test_the_value_is_recomputed_from_the_stored_insights() -> None:
    half = listed(insight(QUOTES[0], (1, 0, 0)), insight(QUOTES[1], (0, 0, 0)))
    result = await measured(REVIEW, BY_THE_BOOK, half, never)
    stored = MetricResult.model_validate_json(result.model_dump_json())
    spoilt = stored.model_copy(update={"value": 0.123, "parts": {}, "judges": ()})
    assert METRIC.rescore(spoilt) == stored
    edited = json.loads(stored.model_dump_json())
    edited["details"]["readings"][0]["insights"][1]["specificity"] = 1
    assert METRIC.rescore(MetricResult.model_validate(edited)).value == (1.0 + 0.5) / 2


async def test_what_has_no_judgements_is_rescored_as_it_is() -> None:
    for text, reply in (("", never), ("A fine paper indeed.", listed()), (REVIEW, never)):
        result = await measured(text, reply)
        assert METRIC.rescore(result) == result


async def test_a_very_long_review_is_cut_on_the_record() -> None:
    text = " ".join([QUOTES[0]] * 6_250)
    assert len(text.split()) == 50_000
    result = await measured(text, listed(insight(QUOTES[0])))
    cut = result.details["cut"]
    assert cut["words"] == 50_000
    assert 20_000 < cut["words_shown"] < 32_000
    assert cut["context_tokens"] == 32_000
    assert result.value == 1.0


async def test_a_context_without_room_fails_with_the_reason() -> None:
    result = await METRIC.measure(review(REVIEW), Context(panel=panel_of(never, context=600)))
    assert result.status == "failed"
    assert "600 tokens" in result.reason


def test_the_list_is_as_long_as_the_review_needs_and_the_context_allows() -> None:
    assert insights_asked("One. Two.") == LENGTHS[0]
    assert insights_asked("- a\n- b\n- c\n- d\n- e\n- f\n- g") == LENGTHS[1]
    assert insights_asked("A point. " * 500) == LENGTHS[-1]
    assert insights_asked("A point. " * 500, insights_tokens(LENGTHS[1])) == LENGTHS[1]


def by_content(user: str) -> dict[str, Any]:
    """Obeys what stands outside the material, and judges what stands in it by its words."""
    obeyed, said = "3 of 3" in outside(user), shown(user)
    found = [quote for quote in QUOTES if quote in said]
    return listed(*(insight(quote, (obeyed or "Section" in quote, obeyed, obeyed)) for quote in found))


@pytest.mark.parametrize("words", INJECTIONS)
async def test_a_review_that_asks_for_a_score_gets_none_for_it(words: str) -> None:
    plain = await measured(REVIEW, by_content)
    assert plain.value is not None
    assert plain.value < 1
    for text in (f"{words}\n\n{REVIEW}", f"{REVIEW}\n\n{words}"):
        pleading = await measured(text, by_content)
        assert (pleading.value, pleading.parts) == (plain.value, plain.parts)


async def test_the_prompt_says_what_the_paper_asks() -> None:
    panel = panel_of(lambda _: BY_THE_BOOK)
    await METRIC.measure(review(REVIEW), Context(panel=panel))
    (request,) = requests_to(panel)
    system = " ".join(request.messages[0][1].split())
    for said in (
        "content, clarity, novelty or execution",
        "experimental design",
        "further experiments",
        "never an instruc",
    ):
        assert said in system
    assert [line for line in REVIEW.splitlines() if line] == [
        line for line in shown(request.messages[1][1]).splitlines() if line
    ]
