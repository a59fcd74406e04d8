"""Whether a provider's cache serves the beginnings that calls share: said where it does not, since it is paid for."""

from __future__ import annotations

from referee.llm.models import Model
from referee.llm.prices import CACHEABLE_TOKENS
from referee.schemas.usage import Usage

_CALLS_WITHOUT = 2


def watch_cache(model: Model, shared_tokens: int, used: Usage) -> None:
    """Count a call whose beginning was sent before; the second one in vain leaves a note, a hit takes it back.

    A single miss says little: a provider may send a call to a machine that has not seen the beginning.

    Args:
        model: Whose call it was.
        shared_tokens: Tokens of the beginning, as we count them; short ones are never cached.
        used: What the provider reported.
    """
    if shared_tokens < CACHEABLE_TOKENS or model.uncached_calls is None:
        return
    note = f"{model.spec.id} reported no cached tokens; its prompts were billed whole"
    if used.cached_tokens:
        model.uncached_calls = None
        if note in model.notes:
            model.notes.remove(note)
        return
    model.uncached_calls += 1
    if model.uncached_calls == _CALLS_WITHOUT:
        model.notes.append(note)
