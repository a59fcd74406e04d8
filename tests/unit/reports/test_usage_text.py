"""Tokens as they are printed."""

from referee.cli.output import describe_usage
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.usage import Usage

CACHED = Usage(calls=9, input_tokens=210_000, output_tokens=31_000, cached_tokens=150_000, cost_usd=0.41)


def test_tokens_from_the_cache_are_named_where_there_are_some() -> None:
    shown = "9 calls, 210,000 tokens in (150,000 from the provider's cache), 31,000 out, $0.4100"
    assert describe_usage(CACHED) == shown
    assert describe_usage(Usage(calls=1, input_tokens=10, output_tokens=2)) == "1 call, 10 tokens in, 2 out, $0.0000"
    assert tokens_in_cell(CACHED) == "210,000 (150,000 cached)"
