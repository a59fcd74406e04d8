"""What a prompt leaves of a model's context."""

from __future__ import annotations

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.llm.dialects import reply_schema
from referee.prompts import RenderedPrompt, load_prompt


class _Part(BaseModel):
    text: str


class _Reply(BaseModel):
    first: _Part
    second: _Part


def _prompt() -> RenderedPrompt:
    return load_prompt("eval/topics").render(review="a b c", most="3")


def test_prompt_schema_reply_and_framing_are_taken() -> None:
    prompt, schema = _prompt(), str(reply_schema(_Reply))
    taken = len(prompt.system) + len(prompt.user) + len(schema) + 100 + 64
    assert tokens_left(prompt, _Reply, 100, taken + 7, len) == 7
    assert tokens_left(prompt, _Reply, 100, taken - 7, len) == -7


def test_the_schema_is_counted_as_it_is_sent() -> None:
    texts: list[str] = []
    tokens_left(_prompt(), _Reply, 0, 0, lambda text: texts.append(text) or 0)
    assert texts[-1] == str(reply_schema(_Reply)) != str(_Reply.model_json_schema())
