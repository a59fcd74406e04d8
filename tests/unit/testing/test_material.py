from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tests.support.material import quotation, sentences, spans

PROMPT = (
    "Rules: be fair.\n<guidelines>Be kind.</guidelines>\n"
    '<paper title="A <b> test"><section id="s1">Alpha beta gamma.\nDelta epsilon.</section>'
    "<section id='s2'>Zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau.</section></paper>"
)


def test_spans_of_a_tag_and_of_all_outermost_elements() -> None:
    assert spans("<a>one</a> <b x='1'> two </b> <a>three</a>", "a") == ["one", "three"]
    assert spans("<a>one</a> <b x='1'> two </b>") == ["one", "two"]
    assert spans("if a < b and c > d") == []
    assert len(spans(PROMPT, "section")) == 2


def test_a_quotation_comes_from_the_longest_text_and_holds_no_tag() -> None:
    for seed in range(20):
        cut = quotation(PROMPT, random.Random(seed))
        assert cut in PROMPT
        assert "<" not in cut
        assert 8 <= len(cut.split()) <= 25


def test_without_delimiters_the_message_is_the_material() -> None:
    assert quotation("Only four words here", random.Random(1)) == "Only four words here"
    assert quotation("", random.Random(1)) == ""


@given(st.text(max_size=300), st.integers(0, 30), st.integers(31, 60), st.integers())
def test_a_quotation_is_always_a_part_of_the_text(text: str, low: int, high: int, seed: int) -> None:
    cut = quotation(text, random.Random(seed), min_length=low, max_length=high)
    assert cut in text
    assert len(cut) <= high


def test_sentences_are_verbatim_and_without_ids() -> None:
    found = sentences("<paper>[s1] First one. Second one?\n[s2] Third.</paper>")
    assert found == ["First one.", "Second one?", "Third."]
