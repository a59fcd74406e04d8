import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.evidence import repeats_example, without_copied, worked_examples
from referee.prompts import load_prompt

COPIED = "The review judges writing and organisation, and asks whether an expert could reproduce the results."
RULES = f"What the venue asks of a review:\n- [clarity] {COPIED}\nList three questions whose answers could change it."


def test_copied_sentences_go_and_own_ones_stay() -> None:
    own, copied = without_copied(f"Table 2 lacks a baseline. {COPIED} The proof of (3) is short.", RULES)
    assert own == "Table 2 lacks a baseline. The proof of (3) is short."
    assert copied == 1


def test_a_small_change_does_not_hide_a_copy() -> None:
    own, copied = without_copied("List THREE questions, whose answers could change it!", RULES)
    assert (own, copied) == ("", 1)


def test_a_short_question_of_the_form_is_no_question_of_the_reviewer() -> None:
    form = "questions: Questions for the authors. What would change the score? At most three."
    assert without_copied("What would change the score?", form) == ("", 1)
    for own in ("What would change Table 2?", "Why three?", "What would change the score of CLUSTER-T?"):
        assert without_copied(own, form) == (own, 0)


@pytest.mark.parametrize(
    "text", ["", "yes", "The results.", "An expert could reproduce Table 2 from the released code."]
)
def test_short_and_own_sentences_stay_as_they_are(text: str) -> None:
    assert without_copied(text, RULES) == (text, 0)


def test_criticism_with_decimals_stays_whole_beside_a_copy() -> None:
    criticism = (
        "1. With 20 groups the text claims coverage of 94.8 percent, but Table 2 has 92.3 percent for CLUSTER-T; this "
        "contradicts the headline claim.\n2. Eq. (3), e.g. for n = 0.5, differs from Lo et al. (2020)."
    )
    assert without_copied(f"{criticism}\n3. {COPIED}", RULES) == (f"{criticism}\n3.", 1)
    assert without_copied(f"{COPIED} {criticism}", RULES) == (criticism, 1)


OWN = st.sampled_from(
    [
        "With 20 groups coverage is 94.8 percent, but Table 2 has 92.3 percent.",
        "Eq. (3) drops a factor of 0.5, e.g. where n = 2.",
        "Lo et al. (2020) report 3.14 for the same seeds; see Fig. 2.",
        "Why is p = .05 used here?",
        "Version 1.2.3 of the tool, i.e. the old one, fails!",
        'He says "no." Then Sec. 4 says "yes."',
        "no capital and no end",
    ]
)
MARK = st.sampled_from(["", "1. ", "2) ", "- ", "* ", "(iv) ", "10. "])
GAP = st.sampled_from([" ", "\n", "\n\n", "  ", "\r\n"])


@given(st.lists(st.tuples(MARK, st.one_of(OWN, st.just(COPIED)), GAP), min_size=1, max_size=8))
def test_every_sentence_that_was_not_copied_survives_letter_by_letter(parts: list[tuple[str, str, str]]) -> None:
    text = "".join(mark + sentence + gap for mark, sentence, gap in parts)
    own, copied = without_copied(text, RULES)
    wanted = [sentence for _, sentence, _ in parts if sentence != COPIED]
    at = 0
    for sentence in wanted:
        at = own.index(sentence, at) + len(sentence)
    assert copied <= len(parts) - len(wanted)
    if not copied:
        assert own == text


@given(st.text(max_size=300), st.text(max_size=300))
def test_only_whole_copies_and_white_space_are_lost(before: str, after: str) -> None:
    own, copied = without_copied(f"{before}\n{COPIED}\n{after}", RULES)
    assert copied >= 1
    if copied == 1:
        assert "".join(own.split()) == "".join(f"{before}{after}".split())


def test_any_length_is_taken_in_time() -> None:
    began = time.process_time()
    assert without_copied("see Fig. 3. It is 0.5. " * 5_000, RULES)[1] == 0
    assert time.process_time() - began < 10


EXAMPLES = worked_examples(
    'A good point: "The tide table gives 41 bells, the\nlog of the lighthouse gives 21", with its number.\nA bad '
    'point: "More experiments are needed". It would fit.'
)


def test_examples_are_what_a_prompt_quotes() -> None:
    assert EXAMPLES == ("The tide table gives 41 bells, the log of the lighthouse gives 21",)


@pytest.mark.parametrize(
    "claim",
    [
        "The tide table gives 41 bells, the log of the lighthouse gives 21",
        "The tide table gives 4.1 bells, the log of the lighthouse gives 2.1.",
        "the tide table gives four bells and the log of the lighthouse gives two",
        "The log of the lighthouse gives 12.5, the tide table gives 19 bells",
        "The tide table gives 41 bells, the log of the lighthouse gives 21, which contradicts the claim C1.",
    ],
)
def test_an_example_in_other_numbers_and_order_is_recognised(claim: str) -> None:
    assert repeats_example(claim, EXAMPLES)
    assert without_copied(f"Own. {claim}", RULES, EXAMPLES)[1] == 1


@pytest.mark.parametrize(
    "claim",
    [
        "The abstract says 94.8 percent, Table 2 gives 92.3 for CLUSTER-T",
        "The table gives 41 runs",
        "The text gives the tide no bells at all in Section 3, and Table 1 lists the ports only",
        "",
    ],
)
def test_claims_of_their_own_repeat_nothing(claim: str) -> None:
    assert not repeats_example(claim, EXAMPLES)
    assert not repeats_example(claim, ())


def test_the_example_of_the_lean_prompt_is_of_no_paper() -> None:
    (example,) = worked_examples(load_prompt("review/section-lean").system)
    assert repeats_example(example, [example])
    assert not repeats_example("The abstract says 4.1 points, the table shows 2.1", [example])
