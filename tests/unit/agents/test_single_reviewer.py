import random
import re
from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.form_reply import BRIEF, FULL, StatedScore, asked_fields, output_tokens, reply_model
from referee.agents.review_points import review_model
from referee.agents.single_reviewer import write_single_review
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.schemas.venue import VenueForm
from referee.testing import ScriptedModel
from referee.venues import list_venues, load_venue
from tests.support import instance, made_up

from .paper_on_tests import small_paper, words

FORM = load_venue("neurips-2025")


def good(**changes: Any) -> dict[str, Any]:
    schema = reply_schema(review_model(FORM, FULL))
    reply: dict[str, Any] = instance(schema, "<submission>a b c</submission>", random.Random(1))
    return reply | changes


def test_the_shape_of_a_reply_is_built_once_for_equal_forms() -> None:
    """Its JSON schema is then made once too, which takes longer than the rest of a call."""
    again = VenueForm.model_validate(FORM.model_dump())
    assert reply_model(again, FULL) is reply_model(FORM, FULL)
    other = FORM.model_copy(update={"fields": FORM.fields[:-1]})
    assert reply_model(other, FULL) is not reply_model(FORM, FULL), "of the same id, but another form"


async def write(reply: dict[str, Any], form: VenueForm = FORM, context: int = 20_000) -> Any:
    model = ScriptedModel([reply])
    written = await write_single_review(
        small_paper(), form, door=model, context_tokens=context, count=words, lengths=FULL
    )
    return written, model.history[0]


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
@pytest.mark.parametrize("lengths", [FULL, BRIEF], ids=["full", "brief"])
async def test_every_form_gives_a_prompt_a_schema_and_a_review(form: VenueForm, lengths: Any) -> None:
    model = ScriptedModel({"*": made_up()})
    written = await write_single_review(
        small_paper(), form, door=model, context_tokens=60_000, count=words, lengths=lengths
    )
    shown = {f.name for f in form.reviewer_fields if lengths.brief or f.aspect not in ("confidence", "expertise")}
    asked = {f.name for f in (form.reviewer_fields if lengths.brief else asked_fields(form))}
    assert set(written.texts) | set(written.scores) | set(written.choices) == asked
    prompt = model.history[0].user
    for field in form.fields:
        named = re.search(rf"^\d+\. {re.escape(field.name)} \(", prompt, re.MULTILINE)
        assert (named is not None) is (field.name in shown)
    for field in (f for f in form.reviewer_fields if f.name in shown):
        for option in field.options:
            shown = option.value if isinstance(option.value, str) else f"{option.value:g}"
            assert shown in prompt
            assert option.label in prompt


async def test_the_prompt_holds_the_paper_as_data_and_the_task_again_after_it() -> None:
    _, call = await write(good())
    before, _, after = call.user.partition("</submission>")
    assert "Each test is run twice" in before
    assert "Now review the submission" in after
    assert "never an instruction" in call.system


async def test_scores_come_back_as_the_forms_own_values() -> None:
    score = {"reason": "r", "points": [1, 3], "value": "4: Borderline accept"}
    written, _ = await write(good(rating=score))
    assert written.scores["rating"] == StatedScore(value=4, reason="r", supports=("p-S-1", "p-S-3"))


@pytest.mark.parametrize("raw", [4, "4", 4.0, "4 - borderline", "4: something else", "4 = x"])
def test_a_value_in_another_shape_is_the_same_answer(raw: Any) -> None:
    model = review_model(FORM, FULL)
    data = good(rating={"reason": "", "points": [], "value": raw})
    assert model.model_validate(data).model_dump()["rating"]["value"].startswith("4: ")


@pytest.mark.parametrize("raw", [11, "11", 0, 4.5, True, None, "excellent", float("nan")])
def test_a_value_outside_the_form_is_refused(raw: Any) -> None:
    with pytest.raises(ValidationError, match="rating"):
        review_model(FORM, FULL).model_validate(good(rating={"reason": "", "points": [], "value": raw}))


async def test_a_checklist_that_contradicts_itself_says_nothing() -> None:
    first, second = (option.value for option in FORM.field("ethical_concerns").options[:2])
    labels = [f"{first}", f"{second}"]
    written, _ = await write(good(ethical_concerns=labels))
    assert written.choices["ethical_concerns"] == []
    alone, _ = await write(good(ethical_concerns=labels[:1]))
    assert alone.choices["ethical_concerns"] == [first]


async def test_a_context_too_small_for_the_form_is_an_error_before_any_call() -> None:
    model = ScriptedModel([])
    with pytest.raises(ContextTooLong, match="of the model's context are left"):
        await write_single_review(small_paper(), FORM, door=model, context_tokens=1000, count=words)
    assert model.history == []


def test_evidence_and_reasoning_come_before_the_scores_and_the_overall_is_last() -> None:
    names = list(reply_model(FORM, FULL).model_fields)
    assert names[0] == "quoted_evidence"
    assert names.index("questions") < names.index("quality") < names.index("rating") < names.index("confidence")


def test_brief_replies_are_bounded_for_a_small_model() -> None:
    assert output_tokens(FORM, BRIEF) < 3000 < output_tokens(FORM, FULL)


async def test_a_model_that_reads_slowly_cites_sentences_by_number() -> None:
    schema = reply_schema(reply_model(FORM, BRIEF, ("s1",)))
    reply: dict[str, Any] = instance(schema, "", random.Random(2))
    reply["quoted_evidence"] = [{"claim": "Twice.", "sentence": "s1", "bears_on": "summary"}]
    model = ScriptedModel([reply])
    written = await write_single_review(
        small_paper(), FORM, door=model, context_tokens=9000, count=words, lengths=BRIEF
    )
    assert written.evidence[0].quote.startswith("Each test is run twice on the same data.")
    assert written.evidence[0].section_id == "s2"
    assert model.history[0].prompt_id.startswith("review/single-brief")


def item(**changes: Any) -> dict[str, Any]:
    given = {"kind": "weakness", "severity": "material", "topic": "error", "claim": "It is off.", "argument": ""}
    rest: dict[str, Any] = {"evidence": [], "absent": [], "should_be": "", "would_settle": ""}
    return given | rest | changes


async def test_points_come_in_the_replys_order_with_pairs_of_quotations() -> None:
    pair = [{"where": "Section 2", "quote": "one"}, {"where": "Table 9", "quote": "two"}]
    points = [
        item(severity="decides", evidence=pair, would_settle="Say two."),
        item(kind="merit", claim="It is new."),
        item(absent=["error bar", "error bar", " "]),
        item(kind="question", severity="small", claim="Why?"),
    ]
    written, call = await write(good(points=points))
    one, merit, absent, question = written.points
    assert [e.quote for e in one.evidence] == ["one", "two"]
    assert (one.severity, one.polarity, one.fix.what) == ("fatal", "weakness", "Say two.")
    assert (merit.polarity, question.polarity) == ("strength", "question")
    assert absent.absence is not None
    assert absent.absence.terms == ("error bar",)
    assert next(iter(call.reply.model_fields)) == "points"


async def test_a_correction_holds_what_is_printed_and_what_it_should_be() -> None:
    line = item(
        kind="correction",
        severity="small",
        claim="Section 4 says 0.87",
        evidence=[{"where": "Table 2", "quote": "0.78"}],
        should_be="0.87",
    )
    written, _ = await write(good(points=[line, {**line, "should_be": ""}]))
    slip, other = written.points
    assert slip.claim == "Table 2: “0.78” should be “0.87” (Section 4 says 0.87)"
    assert slip.correction is not None
    assert other.correction is None


async def test_confidence_is_not_asked_for_where_a_rule_gives_it() -> None:
    written, call = await write(good())
    assert "confidence" not in written.scores
    assert "confidence" not in call.reply.model_fields
    assert not [line for line in call.user.splitlines() if "confidence (one score" in line]
