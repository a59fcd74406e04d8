"""Whether words that a judge quotes stand in the review, and as the review has them.

The review is looked up as a paper is: same normalisation, same tolerance, numbers and negations agree exactly. Reviews
have terse lines ("Missing baselines."), so two words that stand there exactly are enough.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from referee.evidence import NotFound, QuotationIndex
from referee.evidence.normalise import normalise
from referee.schemas.paper import Block, Converter, Paper, Section

_PARAGRAPH = re.compile(r"\n\s*\n")
_EDGES = " .,;:!?'-*#()[]"
_FEWEST_LETTERS = 6


@dataclass(frozen=True)
class Traced:
    """The review's own words for a quotation; ``exact`` is false where the judge copied with a slip."""

    words: str
    exact: bool


class OwnWords:
    """Looks quotations up in one review."""

    def __init__(self, review: str) -> None:
        # Material is shown to a judge with "‹" for a "<" that could open a tag: both sides read the same here.
        self._text = _plain(review)
        self._index = QuotationIndex(_as_paper(review))

    def find(self, quote: str) -> Traced | str:
        """The review's words, or why the quotation does not count."""
        found = self._index.find(quote)
        if not isinstance(found, NotFound):
            return Traced(found.quote, found.status == "exact")
        terse = _plain(quote).strip(_EDGES)
        if found.kind == "refused" and self._holds(terse):
            return Traced(" ".join(quote.split()), True)
        return found.reason.replace("in the paper", "in the review")

    def _holds(self, terse: str) -> bool:
        long_enough = len(terse.split()) > 1 and sum(map(str.isalnum, terse)) >= _FEWEST_LETTERS
        return long_enough and re.search(rf"(?<!\w){re.escape(terse)}(?!\w)", self._text) is not None


def _plain(text: str) -> str:
    return normalise(text.replace("‹", "<")).text


def _as_paper(review: str) -> Paper:
    """A review as the look-up takes it: one section, a block a paragraph."""
    pieces = [piece for piece in _PARAGRAPH.split(review) if piece.strip()]
    blocks = tuple(Block(id=f"b{n}", kind="paragraph", text=piece) for n, piece in enumerate(pieces, start=1))
    return Paper(
        paper_id=hashlib.sha256(review.encode("utf-8", "replace")).hexdigest(),
        title="",
        format="text",
        sections=(Section(id="review", heading="", level=1, blocks=blocks),),
        converter=Converter(name="none", version="0"),
    )
