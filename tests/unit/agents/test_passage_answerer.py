from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.questions import ANSWERS_PROMPT, NOT_FOUND, ShownPassage, answer_from_passages, answer_model
from referee.errors import ReplyInvalid
from referee.evals.judging import Panel
from referee.testing import ScriptedModel

SHOWN = (ShownPassage("s1.p1", "1 Method", "Each test is run twice."), ShownPassage("s2.p1.c1", "", "We are done."))


async def answered(**changes: Any) -> Any:
    quoted = [{"passage": "e1", "quote": "Each test is run twice."}, {"passage": "e2", "quote": " "}]
    model = ScriptedModel([{"quotes": quoted, "found": True, "answer": "Twice."} | changes])
    said = await answer_from_passages("How often?", SHOWN, panel=Panel(model), unit="u")
    return said, model.history[0]


async def test_passages_have_ids_and_quotations_lead_back_to_them() -> None:
    said, call = await answered()
    assert (said.found, said.text) == (True, "Twice.")
    assert said.quotes == (("s1.p1", "Each test is run twice."),)
    assert (call.prompt_id, call.role) == (ANSWERS_PROMPT, "judge")
    assert '<passage id="e1">\nFrom 1 Method:\nEach test is run twice.\n</passage>' in call.user
    assert '<passage id="e2">\nFrom the paper:\nWe are done.\n</passage>' in call.user
    assert "<question>\nHow often?\n</question>" in call.user


async def test_our_own_line_above_a_passage_is_no_part_of_a_quotation() -> None:
    quotes = [
        {"passage": "e1", "quote": "From 1 Method:\nEach test is run twice."},
        {"passage": "e2", "quote": "From the paper:"},
    ]
    said, _ = await answered(quotes=quotes)
    assert said.quotes == (("s1.p1", "Each test is run twice."),)


@pytest.mark.parametrize("changes", [{"found": False}, {"answer": "  "}])
async def test_what_is_not_found_says_so_and_quotes_nothing(changes: dict[str, Any]) -> None:
    said, _ = await answered(**changes)
    assert (said.found, said.text, said.quotes) == (False, NOT_FOUND, ())


async def test_without_passages_nobody_is_asked() -> None:
    model = ScriptedModel()
    said = await answer_from_passages("How often?", (), panel=Panel(model), unit="u")
    assert (said.text, said.call_id, model.history) == (NOT_FOUND, "", [])


async def test_only_shown_passages_can_be_named_and_failures_are_raised() -> None:
    with pytest.raises(ValidationError):
        answer_model(("e1",)).model_validate({"quotes": [{"passage": "e2", "quote": "x"}], "found": True, "answer": ""})
    with pytest.raises(ReplyInvalid):
        await answer_from_passages("?", SHOWN, panel=Panel(ScriptedModel([ReplyInvalid("no")])), unit="u")
