"""One expert and its team: workers hold a chunk of the paper each, the expert holds none and asks them in turns.

Source: MARG, multi-agent review generation. The turns are fixed in number: in each the expert sends one message to all
workers and each of them answers it once. The points are written at the end, from what was answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, CountTokens, list_of, one_of
from referee.agents.card import Card
from referee.agents.carded import ModelWindow, render_criteria, with_card
from referee.agents.chunks import chunk_outline, chunk_sections
from referee.agents.parts import Part, render_part
from referee.agents.point_reply import FULL_REPLY_TOKENS, Choices, Origin, points_model, to_points
from referee.agents.section_reviewer import render_places
from referee.errors import RefereeError, RunStopped
from referee.llm.dialects import reply_schema
from referee.llm.door import Answer, prompt_digest
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.schemas.point import ReviewPoint

MESSAGE_TOKENS, ANSWER_TOKENS = 500, 1_200
MOST_FINDINGS = 5
_NOTHING = "(nothing has been said yet)"


class TeamMessage(BaseModel):
    """The message of one turn, to all workers."""

    model_config = ConfigDict(extra="ignore")

    message: str = Field(min_length=1, max_length=900, description="what the workers are to tell from their chunks")


@dataclass(frozen=True)
class Turn:
    """One message and what came back, by chunk id; a worker whose call failed is not among the answers."""

    message: str
    answers: Mapping[str, str] = field(default_factory=dict)


def answer_model(sections: Mapping[str, str]) -> type[BaseModel]:
    """A worker's reply; it quotes from the sections of its chunk, by id."""
    finding = create_model(
        "Finding",
        __config__=ConfigDict(extra="ignore"),
        note=(str, Field(min_length=1, max_length=200)),
        section_id=(one_of(tuple(sections)), Field()),
        quote=(str, Field(min_length=1, max_length=300, description="copied letter by letter")),
    )
    return create_model(
        "WorkerAnswer",
        __config__=ConfigDict(extra="ignore"),
        answer=(str, Field(max_length=500, description="to the message; what the chunk does not say is unknown")),
        findings=(list_of(finding), Field(max_length=MOST_FINDINGS, description="may be empty")),
    )


def answer_text(reply: BaseModel) -> str:
    """A worker's answer as the expert reads it, the quotations under their section ids."""
    data: dict[str, Any] = reply.model_dump()
    found = [f"- {item['note']} [{item['section_id']}] “{item['quote']}”" for item in data["findings"]]
    return "\n".join([data["answer"].strip() or "(no answer)", *found])


def talk_with(chunk_id: str, expert: str, turns: Sequence[Turn], message: str) -> str:
    """The talk as one worker knows it: who asks, the messages, and its own answers."""
    asks = f"Expert for {expert}:"
    lines: list[str] = []
    for turn in turns:
        lines += [f"{asks} {turn.message}", f"You: {turn.answers.get(chunk_id, '(no answer)')}"]
    return "\n\n".join([*lines, f"{asks} {message}"])


def talk_within(turns: Sequence[Turn], room_tokens: int, count: CountTokens) -> tuple[str, int]:
    """The whole talk as the expert reads it, and how many answers had to go for it to fit: the earliest first."""
    said = [(number, turn, name) for number, turn in enumerate(turns, start=1) for name in sorted(turn.answers)]
    for gone in range(len(said) + 1):
        kept = {(number, name) for number, _, name in said[gone:]}
        text = _talk(turns, kept)
        if gone == len(said) or count(text) <= room_tokens:
            return text, gone
    return _NOTHING, 0


def _talk(turns: Sequence[Turn], kept: set[tuple[int, str]]) -> str:
    lines: list[str] = []
    for number, turn in enumerate(turns, start=1):
        lines.append(f"Turn {number}, you: {turn.message}")
        for name, text in sorted(turn.answers.items()):
            lines.append(f"Turn {number}, {name}: {text if (number, name) in kept else '(no room for this answer)'}")
    return "\n\n".join(lines) or _NOTHING


EXPERTS = ("experiments", "clarity", "impact")
"""The experts by name; the prompt of each is ``review/expert-NAME``."""

ROUNDS = 2
"""Turns of a team: one message of the expert, one answer of each worker."""

ASK, ANSWER, GATHER = "review/expert-", "review/team-worker", "review/team-gather"
LEADER, WORKER = "supervisor", "writer"

CARD_TOKENS = 3_000
"""The card is in every call of a team, so that it is kept short whatever the context."""

_STANDING = (
    "What in your chunk bears on {expert}? Quote definitions, settings, numbers, and what is concluded from them."
)


@dataclass(frozen=True)
class TeamBrief:
    """What a team works on. ``expert`` is one of ``EXPERTS`` and names the points (``p-<expert>-1``).

    ``criteria`` (guideline id to text) is what a point may name.
    """

    expert: str
    venue_name: str
    how_read: str
    card: Card
    chunks: tuple[Part, ...]
    criteria: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Team:
    """Who answers a team's prompts: the door, and where expert and workers sit."""

    door: Asks
    leader: ModelWindow
    worker: ModelWindow

    def prompt(self, name: str) -> Prompt:
        """The prompt of that id."""
        return load_prompt(name)


@dataclass(frozen=True)
class TeamReply:
    """The points of one expert, what was completed on the way, and the calls that failed, each with what it was.

    ``call_id`` is that of the call that wrote the points.
    """

    points: tuple[ReviewPoint, ...]
    notes: tuple[str, ...]
    gaps: tuple[tuple[str, RefereeError], ...]
    call_id: str


async def hold_talk(brief: TeamBrief, team: Team, *, rounds: int) -> TeamReply:
    """Ask and answer for a fixed number of turns, then write the points.

    A message that fails is replaced by a standing question, an answer that fails is missing; both are gaps. With
    ``n`` chunks this takes ``rounds * (1 + n) + 1`` calls, of which ``2 * rounds + 1`` wait for one another.

    Args:
        brief: The expert, the chunks, and what stands beside them.
        team: Who answers.
        rounds: Turns, at least 1.

    Returns:
        Points whose quotations are not verified yet; none is a valid answer.

    Raises:
        BudgetExceeded: After all calls under way have ended.
        ContextTooLong, ModelError: No worker ever answered, or the points could not be written.
    """
    turns: list[Turn] = []
    gaps: list[tuple[str, RefereeError]] = []
    notes: list[str] = []
    for number in range(1, rounds + 1):
        try:
            message, said = await _message(brief, team, turns, f"This is turn {number} of {rounds}.")
        except RunStopped:
            raise
        except RefereeError as error:
            gaps.append((f"message {number} of the expert for {brief.expert}", error))
            message, said = _STANDING.format(expert=brief.expert), ()
        answers, failed = await _answers(brief, team, turns, message)
        gaps += [(f"answer {number} of {name} to the expert for {brief.expert}", error) for name, error in failed]
        turns.append(Turn(message, answers))
        notes += said
    if not any(turn.answers for turn in turns):
        raise gaps[-1][1]
    points, said, call_id = await _points(brief, team, turns)
    return TeamReply(points, tuple(dict.fromkeys((*notes, *said))), tuple(gaps), call_id)


async def _message(brief: TeamBrief, team: Team, turns: list[Turn], turn: str) -> tuple[str, tuple[str, ...]]:
    prompt = team.prompt(ASK + brief.expert)
    rendered, notes = _for_leader(prompt, brief, team, turns, TeamMessage, MESSAGE_TOKENS, turn=turn)
    answer = await team.door.ask(rendered, TeamMessage, role=LEADER, max_output_tokens=MESSAGE_TOKENS)
    return answer.value.message, (*notes, *answer.notes)


async def _answers(
    brief: TeamBrief, team: Team, turns: list[Turn], message: str
) -> tuple[dict[str, str], list[tuple[str, RefereeError]]]:
    """Every worker's answer by chunk id, and the errors of those who have none."""
    said = await asyncio.gather(
        *(_answer(brief, team, chunk, talk_with(chunk.id, brief.expert, turns, message)) for chunk in brief.chunks),
        return_exceptions=True,
    )
    answers: dict[str, str] = {}
    failed: list[tuple[str, RefereeError]] = []
    for chunk, outcome in zip(brief.chunks, said, strict=True):
        if isinstance(outcome, RefereeError) and not isinstance(outcome, RunStopped):
            failed.append((chunk.id, outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            answers[chunk.id] = answer_text(outcome.value)
    return answers, failed


async def _answer(brief: TeamBrief, team: Team, chunk: Part, talk: str) -> Answer[BaseModel]:
    sections = chunk_sections((chunk,))
    reply = answer_model(sections)
    room = team.worker.room(ANSWER_TOKENS, CARD_TOKENS)
    values = {
        "venue_name": brief.venue_name,
        "how_read": brief.how_read,
        "places": render_places(sections),
        "messages": delimit("messages", talk),
        "section": render_part(chunk, numbered=False)[0],
    }
    rendered, _ = with_card(team.prompt(ANSWER), values, brief.card, reply, room)
    return await team.door.ask(rendered, reply, role=WORKER, max_output_tokens=room.reply_tokens)


async def _points(
    brief: TeamBrief, team: Team, turns: list[Turn]
) -> tuple[tuple[ReviewPoint, ...], tuple[str, ...], str]:
    """The points that the talk carries, notes, and the call's id."""
    sections = chunk_sections(brief.chunks)
    reply = points_model(Choices(tuple(brief.criteria), brief.card.claim_ids, sections))
    expertise = _for_leader(team.prompt(ASK + brief.expert), brief, team, [], TeamMessage, MESSAGE_TOKENS, turn="")
    rendered, notes = _for_leader(
        team.prompt(GATHER),
        brief,
        team,
        turns,
        reply,
        FULL_REPLY_TOKENS,
        expertise=expertise[0].system,
        criteria=render_criteria(brief.criteria),
    )
    room = team.leader.room(FULL_REPLY_TOKENS)
    answer = await team.door.ask(rendered, reply, role=LEADER, max_output_tokens=room.reply_tokens)
    digest = prompt_digest(rendered, reply_schema(reply))
    origin = Origin("team", brief.expert, None, answer.call_id, answer.model, digest)
    points, said = to_points(answer.value, origin, sections)
    return tuple(points), (*notes, *answer.notes, *said), answer.call_id


def _for_leader(
    prompt: Prompt,
    brief: TeamBrief,
    team: Team,
    turns: list[Turn],
    reply: type[BaseModel],
    reply_tokens: int,
    **more: str,
) -> tuple[RenderedPrompt, tuple[str, ...]]:
    """A prompt for the expert: the talk as far as it fits beside a card of its share."""
    room = team.leader.room(reply_tokens, CARD_TOKENS)
    given = {
        "venue_name": brief.venue_name,
        "how_read": brief.how_read,
        "team": delimit("team", chunk_outline(brief.chunks)),
        "places": render_places(chunk_sections(brief.chunks)),
        "messages": "",
        **more,
    }
    values = {name: value for name, value in given.items() if name in prompt.inputs}
    left = room.left_by(prompt.render(card="", **values), reply) - room.card_tokens
    talk, gone = talk_within(turns, left, room.count)
    values["messages"] = delimit("messages", talk)
    rendered, notes = with_card(prompt, values, brief.card, reply, room)
    cut = (*notes, f"{gone} of its workers' answers did not fit") if gone else notes
    return rendered, tuple(f"the expert for {brief.expert}: {note}" for note in cut)
