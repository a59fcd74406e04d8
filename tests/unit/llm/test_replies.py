from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from referee.llm.json_text import UnusableReply
from referee.llm.replies import read_reply


class Reply(BaseModel):
    name: str = Field(max_length=5)
    count: int = 0


@pytest.mark.parametrize(("given", "shown"), [("x" * 78, "'" + "x" * 78 + "'"), ("x" * 79, "'" + "x" * 76 + "...")])
def test_a_long_value_is_shown_cut(given: str, shown: str) -> None:
    with pytest.raises(UnusableReply) as caught:
        read_reply(f'{{"name": "a", "count": "{given}"}}', Reply)
    assert f"(given: {shown})" in str(caught.value)


def test_a_missing_field_is_named_without_its_surroundings() -> None:
    with pytest.raises(UnusableReply, match=r"- name: [^(]+$"):
        read_reply('{"count": 1}', Reply)


def test_only_strings_that_are_too_long_are_cut() -> None:
    assert read_reply('{"name": "abcdefg"}', Reply) == (
        Reply(name="abcde"),
        ("name was cut from 7 to 5 characters",),
    )
    with pytest.raises(UnusableReply, match="- count"):
        read_reply('{"name": "abcdefg", "count": "x"}', Reply)


def test_a_fence_does_not_make_one_of_two_objects_the_reply() -> None:
    text = 'Not {"name": "b"} but:\n```json\n{"name": "a"}\n```'
    with pytest.raises(UnusableReply, match="several JSON objects that differ") as caught:
        read_reply(text, Reply)
    assert caught.value.once


class Nested(BaseModel):
    items: list[Reply] = []
    flag: bool = False
    scores: dict[str, float] = {}


@pytest.mark.parametrize("text", ['{"name": "a", "name": "b"}', '{"items": [{"name": "a", "count": 1, "count": 2}]}'])
def test_a_key_that_is_there_twice_is_no_reply(text: str) -> None:
    with pytest.raises(UnusableReply, match="twice in an object"):
        read_reply(text, Nested)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"items": [{"name": "a"}, {"name": "b", "count": true}]}', "items.1.count"),
        ('{"scores": {"depth": false}}', "scores.depth"),
    ],
)
def test_true_is_no_number(text: str, place: str) -> None:
    with pytest.raises(UnusableReply, match=f"- {place}: (True|False) is no number") as caught:
        read_reply(text, Nested)
    assert caught.value.fields == (place,)


def test_true_is_true() -> None:
    assert read_reply('{"flag": true, "items": [{"name": "a", "count": 1}]}', Nested)[0].flag
