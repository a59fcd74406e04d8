"""``referee doctor``: what works on this machine, and the fix for what does not."""

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
