"""When a point of a review counts as raising a known error: our rule, and those of the authors of public sets.

Sources: SPOT (2505.11855, ``prompts.py`` of its repository: description and place must match), SPECS (2604.13940: the
review names the flaw, and words of it prove that), FLAWS (2511.21843, ``evaluation_helpers.py``: half of the words, or
a judge; the first ten candidates). Deviations stand in ``known.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.agents.known_judge import Verdict
from referee.schemas.base import Stored
from referee.schemas.known import KnownSource

Find = Literal["found", "ambiguous", "missed"]


class PointVerdict(Stored):
    """What a judge said of one point; ``quoted``: the words it names are the point's own."""

    verdict: Verdict
    place: Literal["same", "another", "none"]
    quote: str = ""
    quoted: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Matcher:
    """A rule that says which points raise an error.

    Attributes:
        name: As it stands in the results.
        cap: How many points count, from the first on; None for all.
        find: What follows from a point's verdicts, one an order, the straight one first; and from its words.
        orders: The orders in which a judge is asked: straight, turned.
        words: Whether words alike to the altered ones count.
    """

    name: str
    cap: int | None
    find: Callable[[Sequence[PointVerdict], bool, bool], Find]
    orders: tuple[bool, ...] = (False,)
    words: bool = False


def in_both_orders(said: Sequence[PointVerdict], has_place: bool, alike: bool) -> Find:
    """Found where ``same`` was said in every order; ambiguous where the orders differ."""
    same = [one.verdict == "same" for one in said]
    return "found" if all(same) else "ambiguous" if any(same) else "missed"


def _with_place(said: Sequence[PointVerdict], has_place: bool, alike: bool) -> Find:
    return "found" if said[0].verdict == "same" and (said[0].place == "same" or not has_place) else "missed"


def _with_words_of_the_review(said: Sequence[PointVerdict], has_place: bool, alike: bool) -> Find:
    return "found" if said[0].verdict == "same" and said[0].quoted else "missed"


def _by_words_or_judge(said: Sequence[PointVerdict], has_place: bool, alike: bool) -> Find:
    return "found" if alike or said[0].verdict == "same" else "missed"


OURS = "a judge in both orders"
PUBLISHED: Mapping[KnownSource, Matcher] = {
    "spot": Matcher("SPOT: a judge finds description and place the same", None, _with_place),
    "specs": Matcher("SPECS: a judge finds it named, with words of the review", None, _with_words_of_the_review),
    "flaws": Matcher("FLAWS: half of the altered words, or a judge", 10, _by_words_or_judge, words=True),
}


_HALF = 0.5
_STOP = re.compile(r"(?<=[.!?])\s+")
_QUOTATION = re.compile(r"[\"“]([^\"“”]{20,})[\"”]")


def alike_points(points: Sequence[str], passages: Sequence[str]) -> list[int]:
    """The numbers of the points that say, or quote, half of a passage's words in order, or the other way round."""
    return [
        number
        for number, point in enumerate(points, start=1)
        if any(
            likeness(said, passage) >= _HALF or likeness(passage, said) >= _HALF
            for said in (point, *_QUOTATION.findall(point))
            for passage in passages
        )
    ]


def likeness(text: str, other: str) -> float:
    """How alike a text is to the best run of words in another that begins with a sentence, from 0 to 1.

    That is 1 - edits / the longer's words, with edits of whole words (FLAWS, ``evaluation_helpers.py``).
    """
    words, sentences = text.lower().split(), _STOP.split(other)
    runs = (" ".join(sentences[first:]).lower().split() for first in range(len(sentences)))
    return max((_best_beginning(words, run) for run in runs), default=0.0)


def _best_beginning(words: Sequence[str], others: Sequence[str]) -> float:
    # The likeness is at most the shared words over all words: most pairs share too few to be worth the table.
    if not words or not others or 2 * (Counter(words) & Counter(others)).total() < len(words):
        return 0.0
    row = list(range(len(others) + 1))
    for above, word in enumerate(words, start=1):
        before, row = row, [above]
        for place, other in enumerate(others, start=1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (word != other)))
    return max(1 - edits / max(len(words), place) for place, edits in enumerate(row[1:], start=1))
