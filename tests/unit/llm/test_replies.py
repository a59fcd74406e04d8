from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from referee.llm.replies import UnusableReply, read_reply


class Reply(BaseModel):
    name: str = Field(max_length=5)
    count: int = 0


@pytest.mark.parametrize(("given", "shown"), [("x" * 78, "'" + "x" * 78 + "'"), ("x" * 79, "'" + "x" * 76 + "...")])
def test_a_long_value_is_shown_cut(given: str, shown: str) -> None:
    with pytest.raises(UnusableReply) as caught:
        read_reply(f'{{"name": "a", "count": "{given}"}}', Reply)
    assert f"(given: {shown})" in str(caught.value)


def test_a_missing_field_is_named_without_its_surroundings() -> None:
    with pytest.raises(UnusableReply, match=r"- name: Field required$"):
        read_reply('{"count": 1}', Reply)


def test_only_strings_that_are_too_long_are_cut() -> None:
    assert read_reply('{"name": "abcdefg"}', Reply) == (
        Reply(name="abcde"),
        ("name was cut from 7 to 5 characters",),
    )
    with pytest.raises(UnusableReply, match="- count"):
        read_reply('{"name": "abcdefg", "count": "x"}', Reply)


def test_a_fenced_object_counts_before_one_in_the_prose() -> None:
    text = 'Not {"name": "b"} but:\n```json\n{"name": "a"}\n```'
    assert read_reply(text, Reply) == (Reply(name="a"), ())
