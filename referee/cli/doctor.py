"""``referee doctor`` and ``referee strategies``: what works on this machine, and the ways to review."""

from __future__ import annotations

import typer


def doctor() -> None:
    """Check packages, keys, models, folders and settings; print the fix for what does not work."""
    from referee.api.doctor import check_installation

    needed_failed = False
    for check in check_installation():
        mark = "ok  " if check.ok else "no  " if check.needed else "-   "
        typer.echo(f"{mark} {check.name:<28} {check.found}")
        if not check.ok and check.fix:
            typer.echo(f"       fix: {check.fix}")
        needed_failed |= check.needed and not check.ok
    if needed_failed:
        raise typer.Exit(1)


def strategies() -> None:
    """List the strategies: what each is, its calls, the longest chain of calls, its roles, what was measured of it.

    Calls are those without repairs; a chain is the most calls of which each waits for the one before. A letter in a
    formula stands for what the line above names by it.
    """
    from referee.graphs.strategies import DEFAULT, EMBEDDED_DEFAULT, MEASURED, STRATEGIES

    defaults = {DEFAULT: "the default", EMBEDDED_DEFAULT: "the default on the embedded model"}
    for name, strategy in STRATEGIES.items():
        usual = f" ({defaults[name]})" if name in defaults else ""
        typer.echo(f"{name}{usual}: {strategy.title or 'not described'}")
        typer.echo(f"  calls: {strategy.calls or 'see the estimate of a run'}")
        typer.echo(f"  chain: {strategy.chain or 'unknown'}")
        typer.echo(f"  roles: {', '.join(strategy.roles)}")
        if name in MEASURED:
            typer.echo(f"  measured: {MEASURED[name]}")
        if strategy.research_only:
            typer.echo("  for research on reviewing only: what it writes is no assessment of a paper")
