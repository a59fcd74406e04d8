"""The strategies a review can be made by, by name. Each one file: its plan, its prompts, its run.

A strategy is loaded when it is looked up: a review needs the agents of its own strategy alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from referee.api.strategies.strategy import Strategy

__all__ = ["STRATEGIES", "Strategy"]

_NAMES = ("single", "sections", "ensemble", "multi-agent", "progressive", "archetype", "aligned", "enriched")


class _Strategies(Mapping[str, Strategy]):
    def __getitem__(self, name: str) -> Strategy:
        if name not in _NAMES:
            raise KeyError(name)
        strategy: Strategy = import_module(f"{__name__}.{name.replace('-', '_')}").STRATEGY
        return strategy

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


STRATEGIES: Mapping[str, Strategy] = _Strategies()
