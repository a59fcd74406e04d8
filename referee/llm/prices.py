"""What a call costs. An unknown price is unknown: it is said, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from referee.llm.images import PromptImage
from referee.llm.providers import PROVIDERS, provider_of
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

CACHEABLE_TOKENS = 1_024
"""The shortest beginning of a prompt that providers keep in their caches."""

BATCH_SHARE = 0.5
"""What a call in a batch costs, as a share of its price at once: OpenAI, Anthropic and Google all take half."""

OwnPrice = tuple[float, float] | tuple[float, float, float]
Prices = Mapping[str, OwnPrice]


def cost_usd(
    spec: ModelSpec,
    input_tokens: int,
    output_tokens: int,
    own: Prices,
    *,
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
) -> float | None:
    """The price of a call in US dollars, or None where nobody knows it.

    Args:
        spec: The model.
        input_tokens: Tokens in the prompt, cached and written ones among them.
        output_tokens: Tokens in the reply.
        own: The user's prices, per million tokens in, out and (optional) in from the provider's cache, by model name
            or id. They come first. Without a third price, tokens from the cache cost what others do.
        cached_tokens: Tokens of the prompt that the provider served from its cache.
        cache_write_tokens: Tokens of the prompt that it wrote there. Where the price list has no price for that, and
            by the user's own prices, they cost what others do.
    """
    for name in (spec.id, spec.name, f"{spec.provider}:{spec.name}"):
        if name in own:
            return _by_own(own[name], input_tokens, output_tokens, cached_tokens)
    if provider_of(spec).is_free(spec):
        return 0.0
    priced = _priced(
        spec,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached_tokens,
        cache_write_tokens=cache_write_tokens,
    )
    return float(priced.total_price) if priced else None


def _priced(spec: ModelSpec, **tokens: int) -> PriceCalculation | None:
    """What the price list says of such a call; null where it does not know the model."""
    if not (prices := provider_of(spec).price_list):
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(Usage(**tokens), spec.name, provider_id=prices)
    except LookupError:
        return None


def _by_own(price: OwnPrice, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
    price_in, price_out, *rest = price
    price_cached = rest[0] if rest else price_in
    in_full = input_tokens - cached_tokens
    return (in_full * price_in + cached_tokens * price_cached + output_tokens * price_out) / 1e6


def known_context(spec: ModelSpec) -> int | None:
    """The model's context window in tokens, where the price list knows it, or its provider has one to assume."""
    priced = _priced(spec, input_tokens=1, output_tokens=1)
    return (priced.model.context_window or None) if priced else provider_of(spec).assumed_context


def image_tokens(spec: ModelSpec, image: PromptImage) -> int:
    """What a picture counts as among a prompt's tokens, by the provider's own rule, else by the dearest of all rules.

    Models that count otherwise are told apart by nobody: what a call reports replaces the estimate.
    """
    size = (image.width, image.height)
    own = provider_of(spec).image_tokens
    rules = [own] if own else [rule for provider in PROVIDERS.values() if (rule := provider.image_tokens)]
    return max(rule(*size) for rule in rules)
