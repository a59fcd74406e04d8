import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.evidence import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("We test. It works! Does it?", ["We test.", "It works!", "Does it?"]),
        ("See Fig. 2 and Smith et al. (2020). Then rest.", ["See Fig. 2 and Smith et al. (2020).", "Then rest."]),
        ("It is 3.5 times, e.g. X. Y holds.", ["It is 3.5 times, e.g. X. Y holds."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("no end", ["no end"]),
        ("  ", []),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text(max_size=400))
def test_only_white_space_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_many_abbreviations_take_no_square_time() -> None:
    began = time.process_time()
    assert len(split_sentences("see Fig. " * 20_000 + "It ends. Here.")) == 2
    assert time.process_time() - began < 1
