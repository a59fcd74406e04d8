"""``referee merge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from referee.api.merging import Merged


def merge(
    runs: Annotated[list[Path], typer.Argument(help="The run folders of all shards of one run.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="A new folder for the whole run.")] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="WHOLE", help="Write nothing: see that the shards hold what this run holds.")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Leave the rows as Parquet too (referee[parquet]).")
    ] = False,
) -> None:
    """Join the shards of a run (--shard) into one run's results, as if it had never been parted.

    The shards may come from several machines. What is missing, unfinished, given twice or of another run is named.
    """
    from referee import api
    from referee.cli.progress import ProgressLine
    from referee.errors import SettingsError

    if (out is None) == (check is None):
        raise SettingsError(
            "a merge is written (--out) or checked (--check).", hint="referee merge RUN... --out DIR, or --check WHOLE."
        )
    with ProgressLine("joining the shards"):
        done = api.merge(runs, out=out, parquet=parquet) if out is not None else api.check_merge(check or "", runs)
    print_merged(done)
    if out is None:
        typer.echo(f"Joined, they hold what {check} holds.")
    else:
        typer.echo(f"Written to {done.run}.")


def print_merged(done: Merged) -> None:
    """What was joined, what it cost, and what is left to say."""
    from referee.cli.output import describe_usage, printable

    if done.cut:
        were = "paper was" if done.cut == 1 else "papers were"
        typer.echo(f"{done.cut:,} {were} not read whole; `cuts` in {done.run}/run.json says how much was.")
    typer.echo(f"{done.shards} shards of `referee {done.command}`. Used: {describe_usage(done.usage)}.")
    if done.remark:
        typer.echo(printable(f"Note: {done.remark}."))
