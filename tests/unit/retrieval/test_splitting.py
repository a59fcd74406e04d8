from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.retrieval.splitting import pack, split_spans

from .small_papers import words


def parts(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end in split_spans(text, limit, words)]


@given(st.text(alphabet="ab .\n!\u00a0。", max_size=200), st.integers(1, 12))
def test_nothing_is_lost_or_doubled_and_no_part_is_too_long(text: str, limit: int) -> None:
    found = parts(text, limit)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(part == part.strip() and part and words(part) <= limit for part in found)


@given(st.text(max_size=80), st.integers(3, 20))
def test_words_over_the_limit_are_cut_between_characters(text: str, limit: int) -> None:
    found = [text[start:end] for start, end in split_spans(text, limit, len)]
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(part) <= limit for part in found)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 5, []),
        ("  short one \n", 5, ["short one"]),
        ("One two three. Four five six. Seven.", 4, ["One two three.", "Four five six. Seven."]),
        ("a | b\nc | d\ne | f", 6, ["a | b\nc | d", "e | f"]),
        ("As Doe et al. Show here, it holds. Then e.g. Fig. 3 says so.", 8, None),
        ("。 a", 1, ["。", "a"]),
        ("one two three four five six", 4, ["one two three", "four five six"]),
    ],
)
def test_where_the_cuts_are(text: str, limit: int, expected: list[str] | None) -> None:
    if expected is None:
        expected = ["As Doe et al. Show here, it holds.", "Then e.g. Fig. 3 says so."]
    assert parts(text, limit) == expected


def test_parts_are_of_about_equal_size() -> None:
    text = " ".join(f"Sentence number {number} has six words." for number in range(70))
    sizes = [words(part) for part in parts(text, 400)]
    assert len(sizes) == 2
    assert max(sizes) - min(sizes) <= 6


def test_what_does_not_fit_when_joined_is_left_for_the_next_range() -> None:
    assert pack([2, 2, 2, 2], 6, 6, lambda start, end: end - start <= 2) == [(0, 2), (2, 4)]
    assert pack([9, 1, 1], 3, 3, lambda start, end: True) == [(0, 1), (1, 3)]
    assert pack([], 3, 3, lambda start, end: True) == []


def test_a_long_text_without_any_sentence_end_is_cut_quickly() -> None:
    text = " ".join(str(number) for number in range(20_000))
    found = parts(text, 400)
    assert len(found) == 50
    assert " ".join(found) == text
