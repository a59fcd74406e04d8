"""The strategies a review can be made by, by name.

A strategy is loaded when it is looked up: a review needs the agents of its own strategy alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from referee.graphs.strategy import Strategy

__all__ = ["DEFAULT", "EMBEDDED_DEFAULT", "MEASURED", "STRATEGIES", "Strategy", "default_strategy"]

DEFAULT, EMBEDDED_DEFAULT = "audited", "single"
"""What ``review.strategy = "auto"`` comes to, and on the embedded model, which says most in one call."""

_CLASSES = {
    "single": "single.strategy.Single",
    "audited": "audited.strategy.Audited",
    "sections": "sections.strategy.Sections",
    "ensemble": "ensemble.strategy.Ensemble",
    "multi-agent": "chunked.strategy.MultiAgent",
    "progressive": "chunked.strategy.Progressive",
    "archetype": "single.research.Archetype",
    "aligned": "single.research.Aligned",
    "enriched": "single.research.Enriched",
}


class _Strategies(Mapping[str, Strategy]):
    def __getitem__(self, name: str) -> Strategy:
        return _loaded(_CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _loaded(path: str) -> Strategy:
    module, _, kind = path.rpartition(".")
    strategy: Strategy = getattr(import_module(f"referee.graphs.{module}"), kind)()
    return strategy


STRATEGIES: Mapping[str, Strategy] = _Strategies()


def default_strategy(*, embedded: bool) -> str:
    """The strategy where none is named."""
    return EMBEDDED_DEFAULT if embedded else DEFAULT


_MARKED = "marked by a language model: docs/planted.md"

MEASURED: Mapping[str, str] = {
    "audited": f"29 of 30 planted errors printed, as by `single`, and 0 misleading statements for 7 ({_MARKED})",
    "sections": f"9 of 10 planted errors printed and 1 in part, `single` 10, in a window of 32k ({_MARKED})",
    "ensemble": f"21 of 24 planted errors printed, `single` 23, for 8.6 times its tokens ({_MARKED})",
    "multi-agent": f"7 of 8 planted errors printed, as by `single`, for 28 times its tokens ({_MARKED})",
    "progressive": f"7 of 8 planted errors printed, as by `single`, for 3.3 times its tokens ({_MARKED})",
}
"""By strategy, what was measured of it: one line that names the page with the figures."""
