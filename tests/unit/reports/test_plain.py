from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.reports.plain import clean, one_line, shortened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed, and the rest of it", "0;never closed, and the rest of it"),
        ("a\u202eb\u200bc\x00", "abc"),
        ("a\tb", "a    b"),
        ("a\rb\u2029c", "a\nb\nc"),
        ("\ud800", ""),
    ],
)
def test_what_acts_on_a_terminal_goes(text: str, expected: str) -> None:
    assert clean(text) == expected


@settings(deadline=None)
@given(st.text(max_size=200))
def test_cleaning_twice_changes_nothing_and_can_be_written(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    clean(text).encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b", "a b"), ("aaaa bbbb cccc", "aaaa bbbb …"), ("a" * 20, "a" * 10 + " …")],
)
def test_a_cut_is_marked(text: str, expected: str) -> None:
    assert shortened(text, 10) == expected


def test_one_line_is_one() -> None:
    assert one_line(" a\n\n b\t c ") == "a b c"
