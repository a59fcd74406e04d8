"""Repairs to what the converter said. Each is proven by numbering or by the page, and recorded."""

from __future__ import annotations

from referee.papers.pdf.draft import Draft
from referee.papers.pdf.repairs.equations import repair_equations
from referee.papers.pdf.repairs.false_headings import (
    demote_captions,
    demote_other_styles,
    drop_running_heads,
)
from referee.papers.pdf.repairs.front import demote_front, repair_abstract, repair_title
from referee.papers.pdf.repairs.headings import recover_headings, settle_levels
from referee.papers.pdf.repairs.kinds import repair_kinds
from referee.papers.pdf.repairs.references import repair_references
from referee.papers.pdf.repairs.tables import repair_tables, spread_row_labels
from referee.papers.pdf.repairs.words import Vocabulary, repair_hyphens, repair_words

__all__ = ["repair"]


def repair(draft: Draft) -> None:
    """Apply all repairs in the order they build on each other: words, headings, then what stands under them."""
    vocabulary = Vocabulary(draft.pages)
    repair_title(draft, vocabulary)
    repair_hyphens(draft, vocabulary)
    repair_words(draft, vocabulary)
    drop_running_heads(draft)
    demote_captions(draft)
    recover_headings(draft)
    demote_other_styles(draft)
    demote_front(draft)
    repair_abstract(draft, vocabulary)
    repair_references(draft, vocabulary)
    repair_equations(draft, vocabulary)
    repair_kinds(draft, vocabulary)
    repair_tables(draft, vocabulary)
    spread_row_labels(draft)
    settle_levels(draft)
