"""Tokens as they are printed, with those that a provider's cache served."""

from __future__ import annotations

from referee.schemas.usage import Usage


def tokens_in(usage: Usage) -> str:
    """Input tokens in a sentence: ``210,000 tokens in (150,000 from the provider's cache)``."""
    cached = f" ({usage.cached_tokens:,} from the provider's cache)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} tokens in{cached}"


def tokens_in_cell(usage: Usage) -> str:
    """Input tokens in a cell of a table: ``210,000 (150,000 cached)``."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,}{cached}"
