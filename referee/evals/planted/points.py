"""What a review raises against a paper, as the matcher takes it: printed remarks in their order, and recorded points.

A printed remark is a list item or a paragraph of the form's boxes (of a plain review, of its text), cut by rules;
what stands under strengths or in a summary alleges nothing. A recorded point is one of ``Review.points``, whatever
became of it. A printed remark takes over the quotations of the printed points that it says again, because composed
prose keeps the claim and often leaves its quotations to the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from referee.data.prose import box_text
from referee.evals.behaviour.atomic_rules import announced, units
from referee.evidence import split_sentences
from referee.evidence.points import is_live
from referee.evidence.stems import stems
from referee.evidence.verify import quoted_spans
from referee.schemas.case import ReviewCase
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review

_SUMMARY = re.compile(r"(?:paper[_ ])?summary(?:[_ ]of[_ ]the[_ ](?:paper|submission))?|title|tl;?dr", re.IGNORECASE)
# A short line of its own above a paragraph or a list, which ends as no sentence does.
_TITLE = re.compile(
    r"(?:\A|(?<=\n))[ \t]*\n(?P<title>[^\W\d_][^\n]{2,58}[^\n.!?;,\s])[ \t]*\n(?=[ \t]*\S)", re.MULTILINE
)
_FEWEST_WORDS = 4
_SAID_AGAIN = 0.6


@dataclass(frozen=True)
class Point:
    """One thing that a review alleges or asks.

    Attributes:
        id: ``r3`` for the third printed remark, else the recorded point's own.
        text: Its words.
        quotations: Words that it takes from the paper; not looked up yet.
        rank: Its place in print from 1; None for a recorded point.
        refuted: The review's own check refuted it with a passage of the paper.
    """

    id: str
    text: str
    quotations: tuple[str, ...] = ()
    rank: int | None = None
    refuted: bool = False

    @cached_property
    def windows(self) -> tuple[str, ...]:
        """Each sentence, and each with the next one: what is said together."""
        return _together(self.text)

    @cached_property
    def own_windows(self) -> tuple[str, ...]:
        """The same of its words without what it quotes."""
        return _together(_without(self.text, quoted_spans(self.text)))


@dataclass(frozen=True)
class Raised:
    """What one review raises: printed remarks in order, and recorded points where the review keeps them."""

    printed: tuple[Point, ...]
    recorded: tuple[Point, ...] = ()

    @property
    def all(self) -> tuple[Point, ...]:
        """Printed remarks, then recorded points."""
        return (*self.printed, *self.recorded)


def points_of(case: ReviewCase, review: Review | None = None) -> Raised:
    """What a review raises.

    Args:
        case: The review as all metrics take it.
        review: The same as ``referee review`` wrote it, with its points; None for reviews of others.
    """
    alleged = [point for point in (review.points if review else ()) if point.polarity != "strength"]
    kept = [(set(stems(point.statement)), _quotations(point)) for point in alleged if is_live(point)]
    printed = tuple(_remark(rank, text, kept) for rank, text in enumerate(_remarks(case), start=1))
    return Raised(printed, tuple(map(_recorded, alleged)))


def _remarks(case: ReviewCase) -> Iterator[str]:
    boxes = [(name, box_text(value)) for name, value in case.fields.items()]
    texts = [(name, text) for name, text in boxes if len(text.split()) >= _FEWEST_WORDS]
    for name, text in texts or [("", case.text)]:
        kind = announced(name) if name else None
        if kind == "strengths" or _SUMMARY.fullmatch(name):
            continue
        for part in _titled(text):
            for unit in units(part, kind):
                if unit.under != "strengths" and len(unit.text.split()) >= _FEWEST_WORDS:
                    yield unit.text


def _titled(text: str) -> Iterator[str]:
    """The text in parts, each from a title to the next: strengths end where a title of the reviewer's own stands."""
    start = 0
    for title in _TITLE.finditer(text):
        known = announced(title["title"].rstrip(": "))
        if known == "aspect":
            continue
        yield text[start : title.start()]
        start = title.start("title") if known else title.end()
    yield text[start:]


def _remark(rank: int, text: str, kept: Sequence[tuple[set[str], tuple[str, ...]]]) -> Point:
    said = set(stems(text))
    again = [own for claim, own in kept if claim and len(claim & said) >= _SAID_AGAIN * len(claim)]
    return Point(f"r{rank}", text, tuple(dict.fromkeys((*_quoted(text), *(q for own in again for q in own)))), rank)


def _recorded(point: ReviewPoint) -> Point:
    amended = point.correction
    parts = [point.claim, point.argument, amended.why if amended else ""]
    return Point(
        point.id,
        " ".join(part.strip() for part in parts if part.strip()),
        _quotations(point),
        refuted=point.check is not None and point.check.verdict == "refuted",
    )


def _quotations(point: ReviewPoint) -> tuple[str, ...]:
    own = [evidence.quote for evidence in point.evidence if evidence.status != "not_found"]
    return tuple(dict.fromkeys((*own, *_quoted(f"{point.claim} {point.argument}"))))


def _quoted(text: str) -> list[str]:
    return [text[start + 1 : end] for start, end in quoted_spans(text)]


def _together(text: str) -> tuple[str, ...]:
    said = split_sentences(text)
    return tuple(dict.fromkeys((*said, *(f"{one} {two}" for one, two in pairwise(said)))))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, last = [], 0
    for start, end in spans:
        pieces.append(text[last:start])
        last = end + 1
    return " ".join((*pieces, text[last:]))
