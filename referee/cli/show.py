"""``referee show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.errors import SettingsError


def show(
    run: Annotated[Path, typer.Argument(help="A run folder that `referee review` wrote.", show_default=False)],
    point: Annotated[
        str | None, typer.Option(metavar="N", help="One point by its number or id: all that is known.")
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(metavar="ID", help="One criterion of the venue: its readers and their points.")
    ] = None,
    dropped: Annotated[
        bool, typer.Option("--dropped", help="Also points and quotations that were put aside, with the reasons.")
    ] = False,
    call: Annotated[bool, typer.Option("--call", help="With --point: the call's messages and reply.")] = False,
) -> None:
    """Show how a review came about.

    The list of points, then each field of the form with its value, its reason and its points; with --point one point
    with its evidence, its check, its prompt and its call; with --criterion who read for it, and what they raised. Asks
    no model and changes nothing.
    """
    from referee.cli.output import wrapped
    from referee.reports.showing import show as explained
    from referee.secrets import scrub

    if call and point is None:
        raise SettingsError("--call shows the call of one point, and none is named.", hint="Add --point N.")
    if criterion is not None and (point is not None or dropped):
        raise SettingsError(
            "--criterion shows one criterion and goes with no other option.", hint="Leave the others away."
        )
    shown = explained(run, point=point, criterion=criterion, dropped=dropped, call=call)
    for line in shown.lines:
        text = line.lstrip(" ")
        typer.echo(scrub(wrapped(text, line[: len(line) - len(text)])))
    if shown.transcript:
        typer.echo("\n" + scrub(shown.transcript))
