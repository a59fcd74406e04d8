"""Semantic similarity: how near a review's text lies to the human reviews of the same paper.

S_sim = cos(e(R), e(R')), the cosine of the embeddings of two whole reviews in canonical form, from -1 to 1, higher is
nearer. The value is the mean over the paper's human reviews, and each cosine is kept. A human review is compared with
the others of its paper. An embedder sees a window: a longer review is cut into windows, and its embedding is the mean
of theirs, weighted by length. Where a text is empty or its embedding zero there is no cosine.

Where the paper is at hand, sentences that a review copies from it are left out first, on both sides: an abstract lies
near every review of its paper. ``copied`` counts them, of all ``sentences``; both are null without the paper.

Source: ReviewEval section 3.1, Eq. 1. The mean over windows is ours: an embedder that cuts at its window would compare
the beginnings only. That copied sentences are left out is ours too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import ModelError
from referee.evals.metric import Context, Known, Load, Need, Range, Share, not_applicable
from referee.evals.quality.judged import NO_TEXT, Outcome, rescored, result
from referee.evidence import NotFound, QuotationIndex, split_sentences
from referee.llm.urgency import Urgency
from referee.retrieval.pieces import pieces_of
from referee.retrieval.splitting import split_spans
from referee.schemas.base import Stored
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Paper

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

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


NO_REFERENCE = "the paper has no human review to compare with"
IS_ZERO = "its embedding is zero"
POOLING = "mean over windows, weighted by their length"

# What providers document, less a tenth or more for counts that are estimates; models that are not listed may cut
# silently, often at 512.
_PROVIDERS_READ = {"openai": 7_500, "google_genai": 1_600}
_READ_AT_LEAST = 400
_ZERO = 1e-9


@dataclass(frozen=True)
class Embedded:
    """A whole review's embedding; ``vector`` has length one and is None where the mean of the windows is zero.

    ``own`` says what was copied from the paper and left out; None where the paper is not at hand. Where nothing else
    is left, there is no vector.
    """

    vector: NDArray[np.float64] | None
    pieces: int
    windows: int
    own: OwnText | None = None


class SemanticSimilarity(Share):
    """See the module."""

    name = "semantic_similarity"
    about = "mean cosine with the human reviews of the paper"
    unit = "cosine"
    range: Range = (-1.0, 1.0)
    version = "2"
    needs: frozenset[Need] = frozenset({"references", "embedder"})
    uses: frozenset[Need] = frozenset({"paper"})
    prompts: tuple[str, ...] = ()

    def load(self, case: ReviewCase, known: Known) -> Load:
        """No judge is asked."""
        return Load(once=0, judged=0, output_tokens=0)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Compare one review with the human reviews of its paper."""
        if not case.text.strip():
            return not_applicable(self, case, NO_TEXT)
        if not context.references:
            return not_applicable(self, case, NO_REFERENCE)
        if context.embedder is None:
            return not_applicable(self, case, "there is no embedder; name one with --embedder")
        reviews = (case, *context.references)
        embedded = await asyncio.gather(*(_outcome(review, context) for review in reviews))
        details = _details(context.embedder, context.references, embedded)
        return result(self, case, concluded(Cosines.model_validate(details)), details)

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Value and parts from the stored cosines; a result without any stays as it is."""
        return rescored(self, stored, Cosines, concluded)


METRIC = SemanticSimilarity()


class EmbeddedText(Stored):
    """What is kept of an embedding: why there is none, and how much of a text stands in the paper.

    Results of earlier versions hold no counts.
    """

    why_none: str = ""
    failed: bool = False
    retryable: bool = False
    copied: int | None = None
    sentences: int | None = None


class ComparedText(EmbeddedText):
    """One human review, with the cosine."""

    case_id: str
    cosine: float | None


class Cosines(Stored):
    """What a result of this metric keeps and is computed from."""

    review: EmbeddedText
    references: tuple[ComparedText, ...]


def concluded(details: Cosines) -> Outcome:
    """What follows from the details: the mean of the cosines; ``highest`` is that with the nearest review."""
    own, references = details.review, details.references
    if own.why_none:
        return Outcome("failed" if own.failed else "not_applicable", reason=own.why_none)
    trouble = [reference for reference in references if reference.failed]
    cosines = [reference.cosine for reference in references if reference.cosine is not None]
    copied = {"copied": own.copied, "sentences": own.sentences}
    if trouble and (not cosines or any(reference.retryable for reference in trouble)):
        return Outcome("failed", reason=f"human review {trouble[0].case_id!r}: {trouble[0].why_none}")
    if not cosines:
        return Outcome("not_applicable", reason="no human review of the paper has a text that can be embedded")
    return Outcome("scored", fmean(cosines), parts={"highest": max(cosines), **copied})


async def embed_review(text: str, embedder: Embedder) -> Embedded:
    """Embed a whole text, by windows where it is longer than one.

    Args:
        text: Not blank.
        embedder: Gives rows of length one.

    Raises:
        ModelError: The embedder failed.
    """
    windows, weights, pieces = await asyncio.to_thread(_windows, text, embedder.id)
    rows = np.asarray(await embedder.embed(windows, urgency=Urgency.COMPARISON), dtype=np.float64)
    mean = np.average(rows, axis=0, weights=weights)
    length = float(np.linalg.norm(mean))
    return Embedded(mean / length if length > _ZERO else None, pieces, len(windows))


@cache
def window_of(embedder_id: str) -> int:
    """Most pieces of a text that are embedded at once: what the embedder reads, as far as that is known."""
    return pieces_of(embedder_id).reads or _PROVIDERS_READ.get(embedder_id.partition(":")[0], _READ_AT_LEAST)


def _windows(text: str, embedder_id: str) -> tuple[list[str], list[int], int]:
    """The windows of a text, the weight of each, and the pieces of the whole."""
    # Kept for this text: in looking for borders the same parts are counted again, ten times the text in all.
    count = cache(pieces_of(embedder_id).count)
    windows = [text[slice(*span)] for span in split_spans(text, window_of(embedder_id), count)]
    return windows, [max(1, count(window)) for window in windows], count(text)


async def _outcome(review: ReviewCase, context: Context) -> Embedded | ModelError | None:
    """The review's embedding, made once a run; None without a text."""
    embedder = context.embedder
    assert embedder is not None, "measure has looked"
    if not review.text.strip():
        return None
    key = ("embedding", embedder.id, review.case_id)
    try:
        return await context.shared.once(key, lambda: _embedded(review.text, context.paper, embedder))
    except ModelError as error:
        return error


async def _embedded(text: str, paper: Paper | None, embedder: Embedder) -> Embedded:
    if paper is None:
        return await embed_review(text, embedder)
    own = await asyncio.to_thread(without_copied, text, paper)
    return replace(await embed_review(own.text, embedder), own=own) if own.text else Embedded(None, 0, 0, own)


def _details(
    embedder: Embedder, references: tuple[ReviewCase, ...], embedded: list[Embedded | ModelError | None]
) -> dict[str, Any]:
    own = embedded[0]
    return {
        "embedder": embedder.id,
        "window": window_of(embedder.id),
        "pooling": POOLING,
        "review": _record(own),
        "references": [
            {"case_id": reference.case_id, "cosine": _cosine(own, other), **_record(other)}
            for reference, other in zip(references, embedded[1:], strict=True)
        ],
    }


def _record(embedded: Embedded | ModelError | None) -> dict[str, Any]:
    """What is kept of an embedding: its extent, or why there is none."""
    record = {"pieces": 0, "windows": 0, "why_none": "", "failed": False, "retryable": False}
    record |= {"copied": None, "sentences": None}
    if embedded is None:
        return record | {"why_none": NO_TEXT}
    if isinstance(embedded, ModelError) and embedded.ids.get("vector") == "zero":
        return record | {"why_none": IS_ZERO}
    if isinstance(embedded, ModelError):
        return record | {"why_none": embedded.message, "failed": True, "retryable": embedded.retryable}
    own, why = embedded.own, "" if embedded.vector is not None else IS_ZERO
    if own is not None:
        record |= {"copied": own.copied, "sentences": own.sentences}
        why = why if own.text else f"all {own.sentences} sentences of it stand in the paper"
    return record | {"pieces": embedded.pieces, "windows": embedded.windows, "why_none": why}


def _cosine(one: Embedded | ModelError | None, other: Embedded | ModelError | None) -> float | None:
    if not isinstance(one, Embedded) or not isinstance(other, Embedded):
        return None
    if one.vector is None or other.vector is None:
        return None
    return float(np.clip(one.vector @ other.vector, -1.0, 1.0))
