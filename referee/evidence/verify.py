"""Quotations of a review looked up in the paper: those that claims rest on, and those inside its prose.

Claims with their quotations: kept with the place in the paper, or dropped with the reason.

Quotations inside a review's prose: put into the paper's own words, or taken out.

A pair of quotation marks around four words or more claims that the paper says so. Shorter ones are scare quotes and
names, and stay. A mark without its partner in the same paragraph is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.paper import Paper
from referee.schemas.review import DroppedQuotation, Evidence

_MAX_KEPT = 600


@dataclass(frozen=True, slots=True)
class ClaimedQuote:
    """A claim of a reviewer with the quotation that is to support it.

    ``section_id`` is where the reviewer says it stands, ``field`` the form's field that carries the claim.
    """

    id: str
    claim: str
    quote: str
    section_id: str | None = None
    field: str | None = None


def verify_quotations(
    claims: Sequence[ClaimedQuote], paper: Paper | QuotationIndex
) -> tuple[list[Evidence], list[DroppedQuotation]]:
    """Look every claimed quotation up.

    Args:
        claims: In any order; ids are kept.
        paper: The paper, or an index that was built from it.

    Returns:
        Evidence in the paper's own words, and the quotations that are not in the paper, each in the order of
        ``claims``; together they are as many as the claims.
    """
    index = paper if isinstance(paper, QuotationIndex) else QuotationIndex(paper)
    kept: list[Evidence] = []
    dropped: list[DroppedQuotation] = []
    for claim in claims:
        found = index.find(claim.quote, section_id=claim.section_id)
        if isinstance(found, NotFound):
            dropped.append(dropped_quotation(claim, found.reason))
            continue
        kept.append(Evidence(**dict(found), id=claim.id, claim=claim.claim, field=claim.field))
    return kept, dropped


def dropped_quotation(claim: ClaimedQuote, reason: str) -> DroppedQuotation:
    """The record of a quotation that does not count; one of more than 600 characters is shown by its beginning."""
    quote = claim.quote if len(claim.quote) <= _MAX_KEPT else claim.quote[:_MAX_KEPT] + " […]"
    return DroppedQuotation(id=claim.id, claim=claim.claim, quote=quote, reason=reason, field=claim.field)


PLACEHOLDER = "[quotation not found in the paper]"

_MIN_WORDS = 4
_MAX_CONTEXT = 160
_PARTNERS = {"“": "”", "„": "“”", "«": "»"}
_SINGLE = str.maketrans('"“”„«»', "'‘’‚‹›")
_MARK = re.compile('["“”„«»]')
_PARAGRAPH = re.compile(r"\n\s*\n")
_TAIL = re.compile(r"[\s.,;:!?]*$")


def check_inline_quotations(
    text: str, index: QuotationIndex, *, field: str | None = None, keep_words: bool = False
) -> tuple[str, list[DroppedQuotation]]:
    """Verify every quotation of four words or more in a text.

    Args:
        text: Prose of a review.
        index: The paper it is about.
        field: The form's field that holds the text; it goes into the records and their ids.
        keep_words: Where a quotation is not in the paper, only its marks go: in prose that was written from tested
            points the words may be a proposal.

    Returns:
        The text with the paper's own wording inside the marks, or ``[quotation not found in the paper]`` instead of
        marks and words; and what was taken out. A quotation too short to be looked up stays as it is.
    """
    pieces: list[str] = []
    dropped: list[DroppedQuotation] = []
    last = 0
    for start, end in quoted_spans(text):
        inner = text[start + 1 : end]
        if len(inner.split()) < _MIN_WORDS:
            continue
        found = index.find(inner)
        pieces.append(text[last:start])
        last = end + 1
        if not isinstance(found, NotFound):
            tail = _TAIL.search(inner)
            pieces.append(text[start] + _inner_marks(found.quote) + (tail.group() if tail else "") + text[end])
        elif found.kind == "refused" and len(inner) < 100:
            pieces.append(text[start : end + 1])
        else:
            pieces.append(inner if keep_words else PLACEHOLDER)
            claim = " ".join(text[max(0, start - _MAX_CONTEXT) : start].split())
            claimed = ClaimedQuote(f"inline-{field or 'text'}-{len(dropped) + 1}", claim, inner, field=field)
            dropped.append(dropped_quotation(claimed, found.reason))
    pieces.append(text[last:])
    return "".join(pieces), dropped


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Outermost pairs of marks as (opening, closing) positions, in order; a pair never leaves its paragraph."""
    edges = [0, *(m.end() for m in _PARAGRAPH.finditer(text)), len(text)]
    pairs = sorted(pair for low, high in pairwise(edges) for pair in _pairs(text, low, high))
    outermost: list[tuple[int, int]] = []
    for start, end in pairs:
        if not outermost or start > outermost[-1][1]:
            outermost.append((start, end))
    return outermost


def _pairs(text: str, low: int, high: int) -> list[tuple[int, int]]:
    """Every pair of marks in one paragraph, in one pass; a mark without a partner is passed over."""
    pairs: list[tuple[int, int]] = []
    waiting: dict[str, list[int]] = {mark: [] for mark in _PARTNERS}
    straight: int | None = None
    for match in _MARK.finditer(text, low, high):
        at, mark = match.start(), match.group()
        if mark == '"':
            if straight is not None and at > straight + 1 and _closes(text, at):
                pairs.append((straight, at))
                straight = None
            elif straight is None and _opens(text, at):
                straight = at
            continue
        opening = next((m for m, closers in _PARTNERS.items() if mark in closers and waiting[m]), None)
        if opening is not None:
            pairs.append((waiting[opening].pop(), at))
        elif mark in _PARTNERS:
            waiting[mark].append(at)
    return pairs


def _opens(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    return not before.isalnum() and bool(after.strip())


def _closes(text: str, at: int) -> bool:
    return bool(text[at - 1].strip()) and not text[at + 1 : at + 2].isalnum()


def _inner_marks(quote: str) -> str:
    """Double marks inside a quotation become single ones, so that the outer pair stays one; a formula stays whole."""
    if quote.count("$") % 2:
        quote = f"${quote}" if " " not in quote.partition("$")[0] else f"{quote}$"
    return quote.translate(_SINGLE)
