"""The strategies a review can be made by, by name. Each one file: its plan, its prompts, its run."""

from __future__ import annotations

from referee.api.strategies import aligned, archetype, ensemble, multi_agent, progressive, sections, single
from referee.api.strategies.strategy import Strategy

__all__ = ["STRATEGIES", "Strategy"]

STRATEGIES = {
    "single": single.STRATEGY,
    "sections": sections.STRATEGY,
    "ensemble": ensemble.STRATEGY,
    "multi-agent": multi_agent.STRATEGY,
    "progressive": progressive.STRATEGY,
    "archetype": archetype.STRATEGY,
    "aligned": aligned.STRATEGY,
}
