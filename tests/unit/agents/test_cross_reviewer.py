import random
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.asking import Excerpt
from referee.agents.card import Card, CardLine
from referee.agents.cross_reviewer import CrossBrief, review_across
from referee.agents.point_reply import Choices, cross_model
from referee.errors import ContextTooLong
from referee.llm.dialects import reply_schema
from referee.schemas.point import ReviewPoint
from referee.testing import ScriptedModel
from tests.support import instance

from .paper_on_tests import words

SECTIONS = {"s2": "Method", "s3": "Results"}
NEW: dict[str, Any] = {
    "claim": "The method says two runs, the results report three.",
    "polarity": "weakness",
    "kind": "contradiction",
    "criterion": ["soundness"],
    "threatens": None,
    "severity": "minor",
    "evidence": [
        {"section_id": "s2", "quote": "Each test is run twice.", "role": "shows"},
        {"section_id": "s3", "quote": "All three runs agree.", "role": "contradicts"},
    ],
    "checkable": "paper",
    "refuted_by": "a third run in the method",
    "absence": None,
    "fix": {"kind": "text", "what": "say how many"},
    "confidence": "high",
}


def point(point_id: str, claim: str = "Twice is\nfew.", section_id: str = "s2") -> ReviewPoint:
    return ReviewPoint(
        id=point_id,
        claim=claim,
        polarity="weakness",
        kind="design",
        severity="fatal",
        raised_severity="fatal",
        confidence="high",
        refuted_by="SECRETREFUTATION",
        source="section",
        section_id=section_id,
    )


def brief(**changes: Any) -> CrossBrief:
    card = Card(
        title="On Tests",
        abstract="We test tests.",
        outline=(),
        claims=(CardLine("Testing twice finds more faults.", "s1", "C1"),),
        claims_from="abstract",
        definitions=(),
        captions=(),
        limitations=(),
        ledger=(CardLine("2 runs", "s2"),),
    )
    given = CrossBrief(
        venue_name="NeurIPS 2025",
        how_read="it was read by hand",
        card=card,
        points=(point("p-P1-1"), point("p-P1-2"), point("p-P2-1", "Another.", "s3")),
        conflicts=("2 runs (s2) against 3 runs (s3)",),
        texts=(Excerpt("s3", "Results", "\n".join(["All three runs agree."] * 20)), Excerpt("s4", "End", "We end.")),
        criteria={"soundness": "Is it sound?"},
        sections=SECTIONS,
    )
    return replace(given, **changes)


async def asked(given: dict[str, Any] | None = None, context: int = 8000, **changes: Any) -> Any:
    model = ScriptedModel([given or {"points": [], "duplicates": []}])
    told = await review_across(brief(**changes), door=model, context_tokens=context, count=words)
    return told, model.history[0]


async def test_it_sees_card_conflicts_points_as_one_line_each_and_results() -> None:
    told, call = await asked()
    assert told.points == told.duplicates == ()
    assert "p-P1-1 | Method | Twice is few." in call.user
    assert "2 runs (s2) against 3 runs (s3)" in call.user
    assert "[s3] Results:\nAll three runs agree." in call.user
    assert "[C1]" in call.user
    assert call.role == "cross"
    assert call.user.rstrip().endswith("and name the pairs of listed points that are the same.")


async def test_of_the_points_it_sees_nothing_but_id_section_and_claim() -> None:
    _, call = await asked()
    listed = call.user.partition("<points>")[2].partition("</points>")[0]
    for hidden in ("SECRETREFUTATION", "fatal", "high", "design", "weakness"):
        assert hidden not in listed


async def test_new_points_are_contradictions_with_their_own_ids() -> None:
    told, _ = await asked({"points": [NEW], "duplicates": []})
    (made,) = told.points
    assert (made.id, made.source, made.section_id, made.kind) == ("p-cross-1", "cross", None, "contradiction")
    assert [evidence.section for evidence in made.evidence] == ["Method", "Results"]
    assert told.notes == ()


async def test_two_quotations_from_one_section_are_kept_and_said() -> None:
    told, _ = await asked({"points": [NEW | {"evidence": [NEW["evidence"][0]] * 2}], "duplicates": []})
    assert len(told.points) == 1
    assert "one section" in told.notes[0]


async def test_duplicates_come_once_in_order_and_never_with_themselves() -> None:
    named = [("p-P1-2", "p-P1-1"), ("p-P1-1", "p-P1-2"), ("p-P2-1", "p-P2-1"), ("p-P1-2", "p-P2-1")]
    told, _ = await asked({"points": [], "duplicates": [{"first": a, "second": b} for a, b in named]})
    assert told.duplicates == (("p-P1-1", "p-P1-2"), ("p-P1-2", "p-P2-1"))


@pytest.mark.parametrize("count_of_points", [0, 1])
async def test_without_two_points_no_pairs_are_asked_for(count_of_points: int) -> None:
    told, call = await asked({"points": []}, points=(point("p-P1-1"),) * count_of_points)
    assert "duplicates" not in call.reply.model_fields
    assert told.duplicates == ()


@pytest.mark.parametrize(
    "reply",
    [
        {"points": [NEW | {"kind": "clarity"}], "duplicates": []},
        {"points": [NEW | {"evidence": NEW["evidence"][:1]}], "duplicates": []},
        {"points": [], "duplicates": [{"first": "p-P1-1", "second": "p-P9-9"}]},
        {"points": "none", "duplicates": []},
    ],
)
def test_nonsense_is_refused(reply: dict[str, Any]) -> None:
    model = cross_model(Choices(("soundness",), ("C1",), SECTIONS), ("p-P1-1", "p-P1-2"))
    with pytest.raises(ValidationError):
        model.model_validate(reply)


def test_places_in_another_order_have_a_schema_of_their_own() -> None:
    ids = ("p-P1-1", "p-P1-2")
    model = cross_model(Choices(("soundness",), ("C1",), SECTIONS), ids)
    assert cross_model(Choices(("soundness",), ("C1",), dict(SECTIONS)), ids) is model
    turned = dict(reversed(SECTIONS.items()))
    assert cross_model(Choices(("soundness",), ("C1",), turned), ids) is not model


def test_the_reply_has_no_way_to_change_or_remove_a_point() -> None:
    model = cross_model(Choices(("soundness",), ("C1",), SECTIONS), ("p-P1-1", "p-P1-2"))
    assert set(model.model_fields) == {"points", "duplicates"}
    assert set(reply_schema(model)["properties"]["duplicates"]["items"]["properties"]) == {"first", "second"}


async def test_results_are_shown_as_far_as_they_fit_and_the_cut_is_said() -> None:
    whole, _ = await asked()
    assert whole.notes == ()
    for context in range(1500, 700, -15):
        try:
            told, call = await asked(context=context)
        except ContextTooLong:
            break
        assert "p-P2-1 | Results | Another." in call.user
        sent = words(call.system) + words(call.user) + words(str(reply_schema(call.reply)))
        assert sent + call.max_output_tokens <= context
        shown = call.user.count("All three runs agree.\n")
        cut = "of 'Results' were not shown" in str(told.notes)
        assert cut is (shown < 20)
        assert ("We end." in call.user) is not ("of 'End'" in str(told.notes))
    else:
        pytest.fail("the prompt never became too long")


async def test_points_that_fill_the_context_are_an_error() -> None:
    with pytest.raises(ContextTooLong, match="the list of 3 points"):
        await asked(context=400)


@pytest.mark.parametrize("seed", range(10))
async def test_every_generated_reply_is_read(seed: int) -> None:
    def made(call: Any) -> dict[str, Any]:
        reply: dict[str, Any] = instance(reply_schema(call.reply), call.user, random.Random(seed))
        return reply

    model = ScriptedModel([made])
    told = await review_across(brief(), door=model, context_tokens=8000, count=words)
    assert all(a != b for a, b in told.duplicates)
