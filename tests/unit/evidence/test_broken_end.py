"""Texts that a limit broke off end with a whole sentence or line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.evidence.sentences import MORE, without_broken_end


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It is clear. The narrowest of the intervals that come close", "It is clear."),
        ("It is clear. So is the proof.", "It is clear. So is the proof."),
        ("It is clear. So is the work of Green et al.", "It is clear."),
        ("1. One seed only. 2. The second point is", "1. One seed only."),
        ("Weak points:\n- One seed only\n- The second", "Weak points:\n- One seed only"),
        ("It is clear.\n\nWeak points:\n- The first one is", "It is clear."),
        ("The value is read off Table 3. The second", "The value is read off Table 3."),
        ("No sentence ends here and the la", "No sentence ends here and the" + MORE),
    ],
)
def test_the_unfinished_end_is_left_out(text: str, kept: str) -> None:
    assert without_broken_end(text, len(text)) == kept
    assert without_broken_end(text, len(text) + 5) == text, "no limit broke it off"


def test_a_token_that_did_not_fit_ends_a_text_before_its_limit() -> None:
    text = "It is clear. The " + "word " * 110
    assert without_broken_end(text, len(text) + 12) == "It is clear."
    assert without_broken_end(text, len(text) + 13) == text
    claim = "It covers 82.5% of"
    assert without_broken_end(claim, 100) == claim


@given(st.text(max_size=80), st.integers(1, 80))
def test_what_is_kept_is_the_beginning(text: str, limit: int) -> None:
    kept = without_broken_end(text, limit)
    assert text.startswith(kept.removesuffix(MORE)) or kept == text
