"""What an expert and its workers say to each other: the shapes of message and answer, and the talk as prompt text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.choices import list_of, one_of
from referee.agents.prompt_budget import CountTokens

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


def sample_message_model() -> type[BaseModel]:
    """An expert's message, by which the prompts' headers are checked."""
    return TeamMessage


def sample_answer_model() -> type[BaseModel]:
    """A worker's answer, likewise."""
    return answer_model({"s1": "Method"})


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
