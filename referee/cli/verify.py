"""``referee verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.exits import EXIT_REFUTED


def verify(
    review: Annotated[
        Path,
        typer.Argument(help="A run folder, its review.json, or any review as text or Markdown.", show_default=False),
    ],
    paper: Annotated[Path, typer.Argument(help="The paper: PDF, LaTeX, Word, HTML, Markdown.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Check whether a paper holds what a review states.

    Each statement is proved, sourced, an opinion, or refuted by a passage that is printed. Asks no model and no
    network. The exit code is 1 if anything is refuted.
    """
    from referee import api
    from referee.cli.output import printable, wrapped
    from referee.cli.progress import ProgressLine
    from referee.reports.certificate_lines import certificate_lines, certificates_json, counts_line
    from referee.secrets import scrub

    with ProgressLine() as line:
        done = api.verify(review, paper, options=api.RunOptions(progress=line))
    if as_json:
        typer.echo(scrub(certificates_json(done.paper, done.counts, done.certificates)))
    else:
        typer.echo(counts_line(done.counts))
        for said in certificate_lines(done.certificates):
            text = said.lstrip(" ")
            typer.echo(wrapped(printable(text), said[: len(said) - len(text)]))
    if done.counts["refuted"]:
        raise typer.Exit(EXIT_REFUTED)
