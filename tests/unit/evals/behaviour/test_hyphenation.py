import random

import pyphen
import pytest

from referee.evals.behaviour.readability import Hyphenation

ENGLISH = ("hyphenation", "algorithm", "representative", "state-of-the-art", "i.i.d.", "naïve", "3d", "reviewers'", "a")


@pytest.mark.parametrize("language", ["en_US", "nl_NL"])
def test_points_are_those_of_the_library(language: str) -> None:
    mine, library = Hyphenation(language), pyphen.Pyphen(lang=language)
    drawn = random.Random(0)
    made = ["".join(drawn.choices("abcdefghilmnoprstuvy.é0'", k=drawn.randrange(25))) for _ in range(3000)]
    for word in ["", ".", *ENGLISH, *made]:
        assert mine.points(word) == len(library.positions(word)), word


def test_some_words_have_points() -> None:
    mine = Hyphenation("en_US")
    assert [mine.points(word) for word in ("hyphenation", "paper", "cat")] == [2, 1, 0]
