from __future__ import annotations

import pytest

from referee.evidence.guards import shortfall, substantial


@pytest.mark.parametrize(
    ("wording", "enough"),
    [
        ("one two", False),
        ("one two three", True),
        ("one two thr", False),
        ("0.81", True),
        ("81", False),
        ("a=b+c", False),
        ("a=b+cd", True),
        ("a = b + cd", True),
        ("a = b + c", False),
        ("α≤β∈γ·δ", True),
        ("a=-b+c", True),
        ("====ab", False),
        ("確率は", True),
        ("確率", False),
    ],
)
def test_words_digits_and_formulas_have_bounds_of_their_own(wording: str, enough: bool) -> None:
    assert substantial(wording, words=3, letters=11 if wording[0].isascii() else 3) is enough


def test_what_is_missing_is_said() -> None:
    assert shortfall("... --") == "no words in it"
    assert shortfall("two words") == "too short to be told apart (under three words or twelve letters)"
    assert shortfall("three longer words") is None
