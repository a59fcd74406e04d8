"""``referee batches``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def batches(
    run: Annotated[Path, typer.Argument(help="The folder of a run made with --batch.", show_default=False)],
    cancel: Annotated[bool, typer.Option("--cancel", help="End those that are open, at their provider.")] = False,
    base_url: Annotated[str | None, typer.Option(help="The server, where the run's settings do not name it.")] = None,
) -> None:
    """Show how a run's batches stand at their provider, or cancel them.

    What was answered before a batch is cancelled is paid, and is read when the run is resumed with --batch.
    """
    import asyncio

    from referee import api
    from referee.cli.output import printable

    seen = asyncio.run(api.run_batches(run, cancel=cancel, base_url=base_url))
    for batch in seen:
        typer.echo(printable(f"{batch.id}  {batch.model}  {batch.calls:,} call(s)  {batch.status}"))
    if cancel:
        typer.echo(f"To read what was answered and hand in the rest, resume with --batch --resume {run}.")
