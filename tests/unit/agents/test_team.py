from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from referee.agents.card import build_card
from referee.agents.carded import ModelWindow
from referee.agents.chunks import ChunkSize, paper_chunks
from referee.agents.team import Team, TeamBrief, Turn, hold_talk, talk_with, talk_within
from referee.errors import BudgetExceeded, ContextTooLong, ModelError, ReplyInvalid
from referee.testing import ScriptedModel

from .paper_on_tests import section, small_paper, words

TEXT = "Each test is run twice on the same data, and the mean is taken of both runs."
PAPER = small_paper(
    section(1, "Abstract", "We test tests.", "abstract"),
    section(2, "Method", TEXT, paragraphs=12),
    section(3, "Results", TEXT, paragraphs=12),
)
ASK, ANSWER, GATHER = "review/expert-clarity", "review/team-worker", "review/team-gather"
TOLD = {"answer": "Twice.", "findings": [{"note": "two runs", "section_id": "s2", "quote": TEXT}]}
POINT: dict[str, Any] = {
    "claim": "Two runs give no spread.",
    "polarity": "weakness",
    "kind": "statistics",
    "evidence": [{"section_id": "s2", "quote": TEXT, "role": "shows"}],
    "absence": None,
    "refuted_by": "a third run",
    "threatens": None,
    "severity": "minor",
    "checkable": "paper",
    "fix": {"kind": "text", "what": "say so"},
    "confidence": "high",
}


def brief(tokens: int = 250) -> TeamBrief:
    chunks = paper_chunks(PAPER, ChunkSize(tokens, 100, 10_000), words)
    return TeamBrief("clarity", "the venue", "as text", build_card(PAPER), chunks)


def team(replies: dict[str, Any], context_tokens: int = 20_000) -> tuple[Team, ScriptedModel]:
    door = ScriptedModel(replies)
    window = ModelWindow(context_tokens, words)
    return Team(door, window, window), door


def answers(count: int) -> list[Any]:
    return [lambda asked: answered(asked.user)] * count


def answered(user: str) -> dict[str, Any]:
    """What a worker says: it may only name sections of its own chunk."""
    place = user.partition("<places>\n")[2].partition(":")[0]
    return {"answer": "Twice.", "findings": [{"note": "two runs", "section_id": place, "quote": TEXT}]}


async def test_the_talk_goes_from_message_to_answers_to_points() -> None:
    about = brief()
    chunks = len(about.chunks)
    assert chunks > 1
    messages = [{"message": "How often?"}, {"message": "On which data?"}]
    asked, door = team({ASK: messages, ANSWER: answers(2 * chunks), GATHER: {"points": [POINT]}})
    reply = await hold_talk(about, asked, rounds=2)
    assert [point.id for point in reply.points] == ["p-clarity-1"]
    assert reply.points[0].section_id is None
    assert reply.gaps == ()
    assert len(door.history) == 2 * (1 + chunks) + 1
    second = [call for call in door.history if call.prompt_id == ASK][1].user
    assert "How often?" in second
    assert TEXT in second
    gathered = door.history[-1]
    assert "You are the expert for clarity" in gathered.system
    assert "On which data?" in gathered.user


async def test_a_failed_message_becomes_a_standing_question_and_a_failed_answer_is_missing() -> None:
    about = brief()
    replies: list[Any] = [ReplyInvalid("no answer"), *answers(len(about.chunks) - 1)]
    asked, door = team({ASK: [ReplyInvalid("no message")], ANSWER: replies, GATHER: {"points": []}})
    reply = await hold_talk(about, asked, rounds=1)
    assert [what for what, _ in reply.gaps] == [
        "message 1 of the expert for clarity",
        "answer 1 of K1 to the expert for clarity",
    ]
    assert "What in your chunk bears on clarity?" in door.history[-1].user


async def test_without_any_answer_no_points_are_made_up() -> None:
    asked, door = team({ASK: {"message": "How often?"}, ANSWER: ReplyInvalid("no answer")})
    with pytest.raises(ReplyInvalid):
        await hold_talk(brief(), asked, rounds=2)
    assert all(call.prompt_id != GATHER for call in door.history)


@pytest.mark.parametrize("at", [ASK, ANSWER, GATHER])
async def test_a_used_up_budget_is_no_gap(at: str) -> None:
    replies = {ASK: {"message": "How often?"}, ANSWER: lambda asked: answered(asked.user), GATHER: {"points": []}}
    asked, _ = team({**replies, at: BudgetExceeded("enough")})
    with pytest.raises(BudgetExceeded):
        await hold_talk(brief(), asked, rounds=1)


async def test_a_context_too_short_for_the_points_is_said() -> None:
    replies = {ASK: {"message": "How often?"}, ANSWER: lambda asked: answered(asked.user)}
    asked, _ = team(replies, context_tokens=900)
    with pytest.raises((ContextTooLong, ModelError), match="too long for the model's context"):
        await hold_talk(brief(), asked, rounds=1)


def turns(answers_each: int, count: int = 2) -> Sequence[Turn]:
    return [
        Turn(f"message {n}", {f"K{k}": f"answer {n}.{k}" for k in range(answers_each)}) for n in range(1, count + 1)
    ]


def test_the_earliest_answers_give_way_where_the_talk_is_too_long() -> None:
    whole, gone = talk_within(turns(3), 1_000, words)
    assert gone == 0
    assert "answer 1.0" in whole
    short, gone = talk_within(turns(3), words(whole), lambda text: words(text) + 20 * ("answer 1.0" in text) - 10)
    assert gone == 1
    assert "answer 1.0" not in short
    assert "answer 1.1" in short
    assert "answer 2.0" in short
    assert "(no room for this answer)" in short


def test_no_room_leaves_the_messages_and_counts_every_answer() -> None:
    text, gone = talk_within(turns(3), 0, words)
    assert gone == 6
    assert "message 2" in text
    assert "answer" not in text.replace("(no room for this answer)", "")


def test_a_worker_hears_the_messages_and_itself_alone() -> None:
    heard = talk_with("K1", "clarity", turns(2, 1), "And then?")
    assert "answer 1.1" in heard
    assert "answer 1.0" not in heard
    assert heard.endswith("Expert for clarity: And then?")
