import random
import re
import time

import numpy as np
import pytest

from referee.evals.behaviour.marks import find_marks
from referee.evals.behaviour.packing import pack
from referee.evals.behaviour.text import BLOCK

TRAILING = r"[ \t]*"
EXPRESSION = re.compile(pack(BLOCK.pattern.removesuffix(TRAILING)) or b"")
BY_HAND = [
    "- a\n* b\n  + c\n> • d\n-e\n--\n",
    "# A\n## B\n###### C\n####### none\n#none\n",
    "1. a\n(2) b\n 33) c\n444. d\n5555. none\n(6 none\n7.none\n() none\n",
    "plain\n\n \n\t- a\n",
    "-\n- \n-",
    " " * 3000 + "- far in\n" + "> " * 2000 + "1) deep",
]


def found(text: str) -> list[tuple[int, int, bool, bool]]:
    framed = b"\n" + (pack(text) or b"") + b"\n\n"
    lines = np.flatnonzero(np.frombuffer(framed, dtype=np.uint8) == 10)
    marks = find_marks(framed, lines[:-1])
    return list(zip(*(column.tolist() for column in marks), strict=True))


def expected(text: str) -> list[tuple[int, int, bool, bool]]:
    framed = b"\n" + (pack(text) or b"") + b"\n\n"
    return [
        (match.start(), match.end(), match["number"] is not None, match["heading"] is not None)
        for match in EXPRESSION.finditer(framed)
    ]


def test_the_expression_ends_with_the_blanks_that_are_left_out() -> None:
    assert BLOCK.pattern.endswith(TRAILING)


@pytest.mark.parametrize("text", BY_HAND)
def test_marks_are_the_matches_of_the_expression(text: str) -> None:
    assert found(text) == expected(text)


def test_the_texts_by_hand_hold_every_kind_of_mark() -> None:
    kinds = {(number, heading) for text in BY_HAND for _, _, number, heading in found(text)}
    assert kinds == {(False, False), (True, False), (False, True)}


def test_random_texts_too() -> None:
    drawn = random.Random(7)
    marks = 0
    for _ in range(2000):
        text = "".join(drawn.choices("\n\n\n \t>-*+•–#(.)0123a§", k=drawn.randrange(200)))
        assert found(text) == expected(text)
        marks += len(found(text))
    assert marks > 1000


def test_long_runs_take_no_long_time() -> None:
    start = time.process_time()
    for run in (" ", "> ", "\n", "#", "9", "- ", "\n "):
        text = "\n" + run * 100_000 + "- a"
        assert found(text) == expected(text)
    assert time.process_time() - start < 3
