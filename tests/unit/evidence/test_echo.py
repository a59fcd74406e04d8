import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.evidence import without_echo

RULES = (
    "What the venue asks of a review:\n- [clarity] The review judges writing and organisation, and asks whether an "
    "expert could reproduce the results.\nList three questions whose answers could change your assessment."
)


def test_copied_sentences_go_and_own_ones_stay() -> None:
    text = (
        "Table 2 lacks a baseline. The review judges writing and organisation, and asks whether an expert could "
        "reproduce the results. The proof of (3) is short."
    )
    own, copied = without_echo(text, RULES)
    assert own == "Table 2 lacks a baseline. The proof of (3) is short."
    assert copied == 1


def test_a_small_change_does_not_hide_a_copy() -> None:
    own, copied = without_echo("List THREE questions, whose answers could change your assessments!", RULES)
    assert (own, copied) == ("", 1)


@pytest.mark.parametrize(
    "text", ["", "yes", "The results.", "An expert could reproduce Table 2 from the released code."]
)
def test_short_and_own_sentences_stay_as_they_are(text: str) -> None:
    assert without_echo(text, RULES) == (text, 0)


@given(st.text(max_size=300))
def test_any_text_is_taken_and_nothing_is_lost_without_a_count(text: str) -> None:
    own, copied = without_echo(text, RULES)
    assert copied or own == text
