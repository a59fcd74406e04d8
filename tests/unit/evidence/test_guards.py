"""What a quotation must have, and agree on with its passage."""

from __future__ import annotations

import pytest

from referee.evidence.guards import first_difference, is_mathematical, numbers, operators, shortfall, substantial
from referee.evidence.normalise import normalise


def test_numbers_are_read_in_order_whatever_their_spelling() -> None:
    assert numbers("three runs of 1,000 steps at .05 and 3.1.2") == ["3", "1000", "0.05", "3.1.2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a change of −0.3", ["-"]),
        ("gpt-4 in a 10-fold t-test", []),
        ("from 5–10%", ["-", "%"]),
        ("x − y", ["-"]),
        ("a model — a large one", []),
        ("p < .05, q ≥ 2", ["<", "≥"]),
        ("f(x) - 1", ["-"]),
        ("-x is the loss", ["-"]),
        ("an n-gram -based step -a new one-", []),
    ],
)
def test_a_hyphen_is_a_sign_only_beside_a_quantity(text: str, expected: list[str]) -> None:
    assert operators(normalise(text).text) == expected


@pytest.mark.parametrize(
    ("quoted", "found", "kind"),
    [
        ("accuracy of 0.81 here", "accuracy of 0.78 here", "digits"),
        ("with three seeds", "with five seeds", "digits"),
        ("a change of 0.3 points", "a change of -0.3 points", "signs"),
        ("where p > 0.05", "where p < 0.05", "signs"),
        ("x is the loss", "-x is the loss", "signs"),
        ("it does converge", "it does not converge", "negation"),
        ("it can converge", "it cannot converge", "negation"),
        ("with labels", "without labels", "negation"),
        ("a significant gain", "an insignificant gain", "negation"),
        ("it increases the loss", "it decreases the loss", "direction"),
        ("it hurts the loss", "it improves the loss", "direction"),
        ("model b wins", "model c wins", "names"),
    ],
)
def test_what_changes_the_meaning_is_a_difference(quoted: str, found: str, kind: str) -> None:
    difference = first_difference(quoted, found)
    assert difference is not None
    assert difference.kind == kind


@pytest.mark.parametrize(
    ("quoted", "found"),
    [
        ("it isn't stable", "it is not stable"),
        ("with 3 seeds", "with three seeds"),
        ("over 1,000 steps", "over 1000 steps"),
        ("the method works good", "the method works well"),
        ("it incraeses the loss", "it increases the loss"),
        ("we count it here", "we count unit here"),
    ],
)
def test_what_keeps_the_meaning_is_none(quoted: str, found: str) -> None:
    assert first_difference(quoted, found) is None


def test_a_difference_names_both_sides() -> None:
    difference = first_difference("it increases at 5", "it decreases at 5")
    assert difference is not None
    assert (difference.quoted, difference.found) == ("increases", "decreases")


def test_mathematics_is_told_from_prose() -> None:
    assert is_mathematical("l = l_1 + λ l_2 - μ r(θ)")
    assert not is_mathematical("we train the model for 200 epochs on 8 gpus, p < 0.05")


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
