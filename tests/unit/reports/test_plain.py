from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.reports.plain import clean, excerpt, one_line, shortened


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One. Two."),
        ("It falls at once. It rises again, as Fig. 2 shows. It ends.", "It falls at once. […]"),
        (
            "A first sentence that is longer than the limit. Another.",
            "A first sentence that is longer than the limit. […]",
        ),
        (
            "A sentence that is longer than the limit and has no end",
            "A sentence that is longer than the limit and has no end",
        ),
        ("Weak points:\n1. One seed only.\n2. A second point, which is long.", "Weak points: 1. One seed only. […]"),
        ("- a first item\n- a second item\n- a third", "- a first item - a second item […]"),
    ],
)
def test_an_excerpt_ends_with_a_sentence(text: str, expected: str) -> None:
    assert excerpt(text, 32) == expected


def test_what_has_no_end_is_cut_between_words_all_the_same() -> None:
    cut = excerpt("word " * 1000, 300)
    assert cut.endswith("word […]")
    assert len(cut) < 1210
