"""Sentences that a review copies from its paper: they are the authors' text and no review."""

from __future__ import annotations

from dataclasses import dataclass

from referee.evidence import NotFound, QuotationIndex, split_sentences
from referee.schemas.paper import Paper

# Shorter sentences stand in a paper by chance ("The results are shown in Table 2.").
_FEWEST_WORDS = 8


@dataclass(frozen=True)
class OwnText:
    """A review without the sentences it copies.

    ``text`` is the review to the letter where none is copied, and may be empty. ``copied`` of ``sentences`` were left
    out.
    """

    text: str
    copied: int
    sentences: int


def without_copied(text: str, paper: Paper) -> OwnText:
    """Leave out the sentences of a review that stand in its paper, word for word or nearly so.

    Nearly: as ``QuotationIndex`` takes a quotation for the paper's. A sentence that quotes and says something of its
    own stays.
    """
    index = QuotationIndex(paper)
    lines = [split_sentences(line) for line in text.splitlines()]
    kept = [[one for one in line if not _stands_in(index, one)] for line in lines]
    total, left = sum(map(len, lines)), sum(map(len, kept))
    own = "\n".join(" ".join(line) for line in kept).strip()
    return OwnText(text if left == total else own, total - left, total)


def _stands_in(index: QuotationIndex, sentence: str) -> bool:
    return len(sentence.split()) >= _FEWEST_WORDS and not isinstance(index.find(sentence), NotFound)
