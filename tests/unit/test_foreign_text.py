"""Foreign text: whatever a parser can raise is one error with the name of what was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from referee.errors import DataError
from referee.schemas.foreign import (
    DEEPEST,
    MOST_VALUES,
    Unreadable,
    encodable,
    json_row,
    json_value,
    number,
    toml_table,
    utf8_text,
    xml_root,
)

DIGITS = "1" * 5_000


def year(text: str, what: str) -> float:
    return number(text, what, most=9_999)


BAD: list[tuple[Callable[[Any, str], object], str | bytes, str]] = [
    (json_value, "{", "syntax"),
    (json_value, b'{"a": "\xff"}', "encoding"),
    (json_value, "[" * 300_000, "depth"),
    (json_value, "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2), "depth"),
    (json_value, '{"a":' * (DEEPEST + 2) + "1" + "}" * (DEEPEST + 2), "depth"),
    (json_value, f'{{"a": {DIGITS}}}', "digits"),
    (json_value, f'{{"a": -{DIGITS}}}', "digits"),
    (json_value, '{"a": 1e999}', "digits"),
    (json_value, '{"a": NaN}', "constant"),
    (json_value, '{"a": -Infinity}', "constant"),
    (json_value, "[" + "[]," * MOST_VALUES + "1]", "size"),
    (json_row, "[" * 300_000, "depth"),
    (json_row, "nothing", "syntax"),
    (toml_table, "a = ", "syntax"),
    (toml_table, b"a = '\xff'", "encoding"),
    (toml_table, "a = " + "[" * 5_000, "depth"),
    (toml_table, ".".join("a" * 5_000) + " = 1", "depth"),
    (toml_table, f"a = {DIGITS}", "digits"),
    (toml_table, f"a = 0x{DIGITS}", "digits"),
    (toml_table, 'a = "\\ud800"', "syntax"),
    (xml_root, b"<a>", "syntax"),
    (xml_root, b"", "syntax"),
    (xml_root, b"<a>" * 300_000, "syntax"),
    (xml_root, b"<a>&#xD800;</a>", "syntax"),
    (year, DIGITS, "syntax"),
    (year, "10000", "digits"),
    (year, "nan", "syntax"),
    (year, "-1", "syntax"),
    (year, "\u0663", "syntax"),
    (utf8_text, b"\xff", "encoding"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_a_parser_refuses_is_one_error_with_a_name(number: int) -> None:
    read, text, problem = BAD[number]
    with pytest.raises(Unreadable, match=r"^the answer (is|holds) ") as caught:
        read(text, "the answer")
    assert isinstance(caught.value, DataError)
    assert caught.value.problem == problem
    assert len(str(caught.value).encode()) < 300


@pytest.mark.parametrize("source", ['{"\\ud800k": ["a\\udfffb"]}', b'{"\xed\xa0\x80k": ["a\xed\xbf\xbfb"]}'])
def test_lone_surrogates_are_replaced_where_text_enters(source: str | bytes) -> None:
    assert json_value(source, "it") == {"\ufffdk": ["a\ufffdb"]}
    assert encodable("a\ud800b") == "a\ufffdb"


def test_sound_text_is_read_as_ever() -> None:
    deep: Any = 1
    for _ in range(DEEPEST):
        deep = [deep]
    sound = {"a": [1, -2.5, None, True, "ä😀", "\U0001f600"], "b": {"c": 10**299}, "deep": deep[0]}
    assert json_value(json.dumps(sound), "it") == sound
    assert json_value(b"\xef\xbb\xbf" + json.dumps(sound, ensure_ascii=False).encode(), "it") == sound
    assert toml_table(b'\xef\xbb\xbfa = 0xff\nb = "x"', "it") == {"a": 255, "b": "x"}
    assert xml_root(b"<a><b>x</b></a>", "it").findtext("b") == "x"
    assert [number(text, "it", most=10**9) for text in ("12", " 1.5 ", "2e3")] == [12, 1.5, 2000]


def test_a_key_that_is_there_twice_is_refused_where_asked() -> None:
    assert json_value('{"a": 1, "a": 2}', "it") == {"a": 2}
    with pytest.raises(Unreadable, match="names 'a' twice"):
        json_value('{"a": 1, "a": 2}', "it", keys_once=True)


def test_a_row_keeps_odd_numbers_for_its_checks_to_name() -> None:
    assert json_row(f'{{"year": {DIGITS}}}', "it") == {"year": DIGITS}
