"""Evidence: whether the paper says what a review claims it says."""

from referee.evidence.echo import without_echo
from referee.evidence.inline import check_inline_quotations
from referee.evidence.quotations import NotFound, QuotationIndex, QuoteMatch
from referee.evidence.sentences import split_sentences
from referee.evidence.verify import ClaimedQuote, verify_quotations

__all__ = [
    "ClaimedQuote",
    "NotFound",
    "QuotationIndex",
    "QuoteMatch",
    "check_inline_quotations",
    "split_sentences",
    "verify_quotations",
    "without_echo",
]
