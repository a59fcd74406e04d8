from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.rebuttal_judge import (
    PROMPT,
    Brief,
    Exhibit,
    FactVerdict,
    agreement,
    join_answers,
    majority,
    rebut,
    rebuttal_model,
    settled,
)
from referee.errors import ReplyInvalid
from referee.evals.judging import Panel
from referee.testing import Asked, ScriptedModel

BRIEF = Brief(
    statement="Tests are run once.",
    words="They run it once!",
    question="How often are tests run?",
    joined="How often?\n- Twice. [q1.1]",
    exhibits=(Exhibit("q1.1", "2 Method", "Each test is run twice."), Exhibit("h1", "", "run twice")),
)
SAID: dict[str, Any] = {"rebuttal": "It says twice.", "quotation": "q1.1", "verdict": "invalid", "reason": "twice"}


async def test_every_judge_is_asked_in_every_repeat_and_failures_are_votes_without_a_verdict() -> None:
    def says(asked: Asked) -> dict[str, Any] | ReplyInvalid:
        return ReplyInvalid("no JSON came") if (asked.role, asked.sample) == ("judge-2", 1) else SAID

    model = ScriptedModel({PROMPT: says})
    votes = await rebut(BRIEF, panel=Panel(model, ("judge", "judge-2"), 2), unit="u")
    assert [vote.verdict for vote in votes] == ["invalid", "invalid", "invalid", None]
    assert (votes[0].named, votes[0].rebuttal, votes[0].reason) == ("q1.1", "It says twice.", "twice")
    assert (votes[3].error, votes[3].named) == ("no JSON came", "none")
    assert sum(vote.usage.calls for vote in votes) == 3


async def test_judges_see_the_point_the_joined_answer_and_words_with_ids() -> None:
    model = ScriptedModel([SAID, SAID])
    await rebut(BRIEF, panel=Panel(model), unit="u")
    await rebut(replace(BRIEF, exhibits=(Exhibit("q1.1", "", "x"),), search="Nothing."), panel=Panel(model), unit="u")
    first, second = (asked.user for asked in model.history)
    assert "<point>\nTests are run once.\n</point>" in first
    assert "<review_words>\nThey run it once!\n</review_words>" in first
    assert "<answers>\nHow often?\n- Twice. [q1.1]\n</answers>" in first
    assert '<quotation id="q1.1">\nFrom 2 Method:\nEach test is run twice.\n</quotation>' in first
    assert "was not searched for as an absence" in first
    assert "<search>\nNothing.\n</search>" in second


def test_only_exhibits_can_be_named() -> None:
    rebuttal_model(()).model_validate(SAID | {"quotation": "none"})
    for bad in ({"quotation": "q9.9"}, {"verdict": "true"}):
        with pytest.raises(ValidationError):
            rebuttal_model(("q1.1",)).model_validate(SAID | bad)


@pytest.mark.parametrize(
    ("verdict", "named", "absent", "counts"),
    [
        ("invalid", "q1", False, "invalid"),
        ("invalid", "none", False, "undecided"),
        ("invalid", "none", True, "undecided"),
        ("invalid", "q9", False, "undecided"),
        ("valid", "q1", False, "valid"),
        ("valid", "none", False, "undecided"),
        ("valid", "none", True, "valid"),
        ("undecided", "q1", True, "undecided"),
    ],
)
def test_a_verdict_needs_the_papers_words(verdict: FactVerdict, named: str, absent: bool, counts: str) -> None:
    counted, why = settled(verdict, named, {"q1"}, absent=absent)
    assert counted == counts
    assert bool(why) == (counted != verdict)


@pytest.mark.parametrize(
    ("verdicts", "expected", "agreed"),
    [
        (["valid"], "valid", None),
        (["valid", "valid", "invalid"], "valid", 1 / 3),
        (["valid", "invalid"], "undecided", 0),
        (["valid", "valid", "invalid", "undecided"], "undecided", 1 / 6),
        (["invalid", "invalid"], "invalid", 1),
    ],
)
def test_more_than_half_decide(verdicts: list[FactVerdict], expected: str, agreed: float | None) -> None:
    assert majority(verdicts) == expected
    assert majority(verdicts[::-1]) == expected
    assert agreement(verdicts) == agreed


def test_answers_are_joined_with_the_ids_of_their_words() -> None:
    joined = join_answers([("How often?", "Twice."), ("Where?", "not found in the paper")], {0: ["q1.1", "q1.2"]})
    assert joined == "How often?\n- Twice. [q1.1, q1.2]\nWhere?\n- not found in the paper"
