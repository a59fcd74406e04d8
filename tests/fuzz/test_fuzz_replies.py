"""Whatever a model writes is a reply or an unusable one, and both can be stored and sent."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from referee.llm.json_text import UnusableReply, mended_prose
from referee.llm.replies import read_reply
from tests.processor_time import within

from .fuzz_budget import tries


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")

    claim: str = Field(min_length=1, max_length=20)
    severity: Literal["minor", "major"] = "minor"
    page: int | None = None


class Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str = Field(max_length=30)
    rating: float | None = None
    points: list[Point] = Field(default_factory=list, max_length=3)


TEXT = st.text(max_size=40) | st.sampled_from(["\ud800", "\udfff\ud800", "\x00", "```json\n{", "{}", "}", "\U000e0041"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just(10**400) | st.just(float("inf"))
KEYS = st.sampled_from(["summary", "rating", "points", "claim", "severity", "page"]) | TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
WRITTEN = VALUES.map(json.dumps) | VALUES.map(lambda value: json.dumps(value, ensure_ascii=False)) | VALUES.map(repr)
BROKEN = st.tuples(WRITTEN, st.integers(0, 200), TEXT).map(
    lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] + 1 :]
)
WRAPS = st.sampled_from(
    ["{}", "```json\n{}\n```", "Here it is:\n```\n{}```", "Sure! {} Done.", "{{{}", "<think>{{</think>{}"]
)
GOOD = st.fixed_dictionaries(
    {"summary": st.text(st.characters(codec="utf-8"), max_size=80)},
    optional={
        "rating": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "points": st.lists(
            st.fixed_dictionaries({"claim": st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)}), max_size=3
        ),
    },
)


def read(text: str) -> Reply | None:
    with within(10):
        try:
            reply, notes = read_reply(text, Reply)
        except UnusableReply as error:
            "".join([str(error), *error.fields]).encode()  # it is sent to the model
            return None
    assert Reply.model_validate_json(reply.model_dump_json()) == reply
    "".join(notes).encode()
    return reply


@tries(300)
@given(st.one_of(TEXT, WRITTEN, BROKEN), WRAPS)
def test_any_text_is_a_reply_or_an_unusable_one(text: str, wrap: str) -> None:
    read(wrap.replace("{{", "{").replace("{}", text, 1))


@tries(150)
@given(GOOD, st.sampled_from(["{}", "```json\n{}\n```", "Sure: {}", " \n{}\n"]), st.booleans())
def test_a_valid_object_is_read_however_it_is_wrapped(value: dict[str, Any], wrap: str, ascii_only: bool) -> None:
    reply = read(wrap.replace("{}", json.dumps(value, ensure_ascii=ascii_only)))
    assert reply is not None
    assert reply.summary == mended_prose(value["summary"])[:30]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", reply.model_dump_json())


@pytest.mark.parametrize("count", [1_000, 100_000])
@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        *[
            ("", "[", ""),
            ("", "{", ""),
            ("", '{"points":', ""),
            ("so ", "{ ", ""),
            ("", "```json\n", ""),
            ("", "```\n{", ""),
        ],
        *[
            ('{"summary": "', "\\ud83d", '"}'),
            ('{"rating": ', "9", "}"),
            ('{"rating": 1e', "9", "}"),
            ('{"summary": "', "a", ""),
        ],
        *[
            ('{"points": [', '{"claim": "a"},', "]}"),
            ("", " ", ""),
            ("", "\n", "{"),
            ("a", " ```", "{}"),
            ("", '{"a":1}', ""),
            ("", '{"summary": "a"} ', ""),
            ("", '{"summary":\n"', ""),
            ("so ", '{"a ', ""),
            ("so ", '{"a": [', ""),
            ("so ", '{"a": } ', ""),
            ("so ", '{"a": } </think> ', ""),
            ("", '```{"a": [', ""),
            ("", '{"a": [</think>', ""),
            ("", "<think>", "{}"),
            ("", "<think ", "{}"),
            ("", "</think>{", "}"),
            ('{"summary": "', "\\n\\t", '"}'),
        ],
    ],
)
def test_long_replies_take_no_long_time(head: str, unit: str, tail: str, count: int) -> None:
    with contextlib.suppress(UnusableReply), within(10):
        read(head + unit * count + tail)
