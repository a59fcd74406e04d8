"""``referee open``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def open_(
    run: Annotated[Path, typer.Argument(help="The run folder of any command that writes a page.", show_default=False)],
    only_print: Annotated[bool, typer.Option("--print", help="Only print where the page is.")] = False,
) -> None:
    """Open a run's report.html in the browser.

    The page is one file, fetches nothing, and shows a review beside its paper, or the tables and plots of a
    measurement.
    """
    import webbrowser

    from referee import api

    page = api.report_of(run)
    typer.echo(str(page))
    if not only_print and not webbrowser.open(page.absolute().as_uri()):
        typer.echo("No browser could be started: open the file by hand.", err=True)
