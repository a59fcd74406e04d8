"""What a call costs. An unknown price is unknown: it is said, never guessed."""

from __future__ import annotations

from collections.abc import Mapping

from referee.llm.spec import ModelSpec

_PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "google_genai": "google"}
Prices = Mapping[str, tuple[float, float]]


def cost_usd(spec: ModelSpec, input_tokens: int, output_tokens: int, own: Prices) -> float | None:
    """The price of a call in US dollars, or None where nobody knows it.

    Args:
        spec: The model.
        input_tokens: Tokens in the prompt.
        output_tokens: Tokens in the reply.
        own: The user's prices, per million tokens in and out, by model name or id. They come first.
    """
    if spec.is_local:
        return 0.0
    for name in (spec.id, spec.name, f"{spec.provider}:{spec.name}"):
        if name in own:
            price_in, price_out = own[name]
            return (input_tokens * price_in + output_tokens * price_out) / 1e6
    if spec.provider not in _PROVIDERS:
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(usage, spec.name, provider_id=_PROVIDERS[spec.provider]).total_price)
    except LookupError:
        return None


def known_context(spec: ModelSpec) -> int | None:
    """The model's context window in tokens, where the price list knows it."""
    if spec.provider not in _PROVIDERS:
        return None
    from genai_prices import Usage, calc_price

    try:
        priced = calc_price(Usage(input_tokens=1, output_tokens=1), spec.name, provider_id=_PROVIDERS[spec.provider])
    except LookupError:
        return None
    window = priced.model.context_window
    return int(window) if window else None
