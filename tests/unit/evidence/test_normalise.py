from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.normalise import normalise


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The ﬁrst eﬀect", "the first effect"),
        ("a self-\nsupervised loss", "a self-supervised loss"),
        ("an opti-\nmal choice", "an optimal choice"),
        ("soft\u00adhyphen and zero\u200bwidth", "softhyphen and zerowidth"),
        ("the “zero-shot” variant’s", 'the "zero-shot" variant\'s'),
        ("a −0.3 change", "a -0.3 change"),
        ("a – 0.3 change", "a -0.3 change"),
        ("pages 5–10", "pages 5-10"),
        ("cafe\u0301 au lait", "café au lait"),
        ("𝑥 = 3", "x=3"),
        ("p<0.05", "p < 0.05"),
        ("n <= 5", "n ≤ 5"),
        (r"$n \leq 5$", "n ≤ 5"),
        ("3 x 3 kernels", "3×3 kernels"),
        ("81 %", "81%"),
        ("10⁻⁵", "10^{-5}"),
        ("Ours | 0.78", "Ours 0.78"),
        ("a word—another", "a word — another"),
        ("x1, . . . , xn", "x1, ..., xn"),
        ("tabs\tand\r\nlines", "tabs and lines"),
    ],
)
def test_spellings_of_the_same_text_agree(left: str, right: str) -> None:
    assert normalise(left).text == normalise(right).text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("10⁵", "105"),
        ("-0.3", "0.3"),
        ("-0.3", "+0.3"),
        ("p < 0.05", "p > 0.05"),
        ("1½", "11/2"),
        ("x-y", "xy"),
        ("n ≤ 5", "n < 5"),
    ],
)
def test_different_quantities_stay_different(left: str, right: str) -> None:
    assert normalise(left).text != normalise(right).text


def test_a_hyphen_before_and_is_not_a_line_break() -> None:
    assert normalise("pre- and post-training").text == "pre- and posttraining"


def test_a_span_leads_back_to_the_source() -> None:
    source = "We see\n the  ﬁrst self-\nsupervised view."
    result = normalise(source)
    at = result.text.index("first")
    low, high = result.span(at, at + len("first selfsupervised"))
    assert source[low:high] == "ﬁrst self-\nsupervised"


@pytest.mark.parametrize("text", ["", " ", "\n\t", "$", "\u200b"])
def test_nothing_is_left_of_nothing(text: str) -> None:
    assert normalise(text).text == ""


@settings(deadline=None)
@given(st.text(max_size=200))
def test_the_map_is_complete_and_ordered(text: str) -> None:
    result = normalise(text)
    assert len(result.text) == len(result.starts) == len(result.ends)
    assert list(result.starts) == sorted(result.starts)
    assert all(0 <= low < high <= len(text) for low, high in zip(result.starts, result.ends, strict=True))
    assert "\x00" not in result.text


@pytest.mark.parametrize("unit", [" ", "$ ", "- ", "a-\n", "^{", "'", "\\", "1,111", "** "])
def test_long_runs_of_one_thing_are_read_in_one_pass(unit: str) -> None:
    assert len(normalise(unit * 20_000).starts) <= 200_000
