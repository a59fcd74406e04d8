"""``referee strategies``: the ways a review can be made, and what each costs in calls."""

from __future__ import annotations

import typer

# What `review.strategy = "auto"` comes to.
_DEFAULTS = {"sections": "the default", "single": "the default on the embedded model"}


def strategies() -> None:
    """List the strategies: what each is, its calls, the longest chain of calls, its roles.

    Calls are those without repairs; a chain is the most calls of which each waits for the one before. A letter in a
    formula stands for what the line above names by it.
    """
    from referee.graphs.strategies import STRATEGIES

    for name, strategy in STRATEGIES.items():
        usual = f" ({_DEFAULTS[name]})" if name in _DEFAULTS else ""
        typer.echo(f"{name}{usual}: {strategy.title or 'not described'}")
        typer.echo(f"  calls: {strategy.calls or 'see the estimate of a run'}")
        typer.echo(f"  chain: {strategy.chain or 'unknown'}")
        typer.echo(f"  roles: {', '.join(strategy.roles)}")
        if strategy.research_only:
            typer.echo("  for research on reviewing only: what it writes is no assessment of a paper")
