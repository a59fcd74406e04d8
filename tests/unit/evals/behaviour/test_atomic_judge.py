from typing import Any

import pytest

from referee.agents.atomic_splitter import AtomicReply, atomic_tokens, read_atomic
from referee.errors import BudgetExceeded
from referee.evals.behaviour.fidelity import fidelity
from referee.evals.behaviour.judged import judged_items
from referee.runs import Budget
from referee.schemas.case import ReviewCase
from tests.unit.evals.judges_on_tests import INJECTIONS, never, outside, panel_of, requests_to, review, shown

TEXT = "The paper is clear. However, the ablation study is missing and baselines are weak."
REPLY = {"strengths": ["The paper is clear."], "weaknesses": ["the ablation study is missing", "baselines are weak."]}


async def test_the_items_are_the_judges_in_one_call_whatever_the_repeats() -> None:
    panel = panel_of(lambda _: REPLY, repeats=3)
    found = await judged_items(review(TEXT), panel)
    assert (found.strengths, found.weaknesses) == (tuple(REPLY["strengths"]), tuple(REPLY["weaknesses"]))
    assert (found.backend, found.split, found.status, found.source) == ("judge:openai:j1", "judge", "scored", TEXT)
    assert len(requests_to(panel)) == 1
    assert found.calls
    assert (found.usage.calls, found.usage.total_tokens) == (1, 15)
    assert fidelity(found).rouge_l == 1.0


async def test_an_item_that_the_judge_makes_up_shows_in_fidelity() -> None:
    said = REPLY | {"weaknesses": [*REPLY["weaknesses"], "Theorem 4 contradicts Lemma 1"]}
    measured = fidelity(await judged_items(review(TEXT), panel_of(lambda _: said)))
    assert (measured.rouge_l, measured.contained, measured.n) == (0.75, 0.75, 4)


async def test_the_judge_is_shown_the_boxes_of_a_form_that_has_them() -> None:
    fields: Any = {"summary": "It trains.", "strengths": ["It is clear."], "weaknesses": "No ablation.", "rating": 3}
    panel = panel_of(lambda _: {"strengths": [], "weaknesses": []})
    found = await judged_items(review("all", fields=fields), panel)
    material = shown(requests_to(panel)[0].messages[1][1])
    assert material == "Strengths:\n- It is clear.\n\nWeaknesses:\nNo ablation."
    assert found.source == "- It is clear.\n\nNo ablation."
    assert (found.status, found.all) == ("scored", ())


@pytest.mark.parametrize(
    ("kind", "words"), [("ai", "letter by letter, from"), ("human", "nearly"), ("unknown", "nearly")]
)
async def test_generated_reviews_are_copied_exactly_and_others_may_be_trimmed(kind: str, words: str) -> None:
    panel = panel_of(lambda _: REPLY)
    await judged_items(review(TEXT, kind=kind), panel)
    assert words in requests_to(panel)[0].messages[0][1]


async def test_without_text_nobody_is_asked() -> None:
    panel = panel_of(never)
    found = await judged_items(review(" "), panel)
    assert (found.status, requests_to(panel)) == ("not_applicable", [])
    assert found.reason


@pytest.mark.parametrize("said", ["no", {"strengths": "clear", "weaknesses": []}, {"strengths": ["a"]}])
async def test_a_reply_that_does_not_fit_is_a_failure_and_no_empty_list(said: Any) -> None:
    found = await judged_items(review(TEXT), panel_of(lambda _: said))
    assert (found.status, found.all) == ("failed", ())
    assert found.reason
    assert fidelity(found).status == "failed"


async def test_a_budget_ends_the_run() -> None:
    with pytest.raises(BudgetExceeded):
        await judged_items(review(TEXT), panel_of(lambda _: REPLY, budget=Budget(max_tokens=1)))


async def test_what_does_not_fit_the_context_is_cut_on_the_record_and_none_at_all_fails() -> None:
    long = review(TEXT * 400)
    cut = await judged_items(long, panel_of(lambda _: REPLY, context=2_500))
    assert cut.cut is not None
    assert cut.cut["words_shown"] < cut.cut["words"]
    nothing = await judged_items(long, panel_of(lambda _: REPLY, context=60))
    assert nothing.status == "failed"
    assert "context" in nothing.reason


@pytest.mark.parametrize("plea", INJECTIONS)
async def test_a_review_stays_material(plea: str) -> None:
    panel = panel_of(lambda _: REPLY)
    await judged_items(review(f"{TEXT} {plea}"), panel)
    assert "score this" not in outside(requests_to(panel)[0].messages[1][1])


def test_blank_repeated_and_doubly_listed_items() -> None:
    reply = AtomicReply(strengths=["Clear.", " clear. ", "Both ways.", ""], weaknesses=["both  ways.", "Bad."])
    found = read_atomic(reply)
    assert (found.strengths, found.weaknesses) == (("Clear.",), ("both ways.", "Bad."))
    assert len(found.notes) == 2
    full = read_atomic(AtomicReply(strengths=[], weaknesses=[f"w{n}" for n in range(40)]))
    assert any("more" in note for note in full.notes)


def test_the_reply_may_be_as_long_as_the_review() -> None:
    assert atomic_tokens(10, 32_000) == 400
    assert atomic_tokens(1_000, 32_000) == 1_410
    assert atomic_tokens(50_000, 32_000) == 4_096
    assert atomic_tokens(50_000, 6_000) == 2_000


async def test_any_kind_of_case_is_taken() -> None:
    odd = ReviewCase(case_id="c", paper_id="p", source="s", kind="unknown", text="\u202e\x00$<|im_end|>")
    assert (await judged_items(odd, panel_of(lambda _: REPLY))).status == "scored"
