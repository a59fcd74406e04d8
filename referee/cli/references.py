"""``referee references``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def references(
    paper: Annotated[Path, typer.Argument(help="The paper: PDF, LaTeX, Word, HTML, Markdown.", show_default=False)],
    index: Annotated[
        Path | None, typer.Option(help="Known works: a JSONL with title, year, authors, doi, arxiv a line, or SQLite.")
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Ask Crossref, OpenAlex, DBLP, arXiv and Semantic Scholar.")
    ] = False,
    contact: Annotated[str | None, typer.Option(help="An e-mail address, which the services ask for.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write everything as JSON.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before titles are sent.")] = False,
) -> None:
    """Look up whether a paper's references are listed as they are cited.

    Without --index or --online they are only read, and nothing leaves the machine. With --online titles, first authors'
    surnames and ids are sent (or the entry, where its title was not read), after a question; a blind submission's
    reference list may tell who wrote it.
    """
    import asyncio

    from referee import api
    from referee.cli.output import printable
    from referee.cli.progress import ProgressLine
    from referee.reports.reference_lines import reference_lines, references_json
    from referee.runs.files import write_atomically

    line = ProgressLine()

    def notice(entries: int, services: tuple[str, ...]) -> bool:
        line.pause()
        typer.echo(
            f"Sent to {', '.join(services)}: titles, first authors' surnames and ids of {entries} references. "
            "An entry whose title could not be read is sent as it is printed.",
            err=True,
        )
        asks = not yes and sys.stdin.isatty() and sys.stderr.isatty()
        agreed = not asks or typer.confirm("Go on?", default=False, err=True)
        line.resume()
        return agreed

    with line:
        options = api.RunOptions(progress=line)
        work = api.references(paper, index=index, online=online, contact=contact, notice=notice, options=options)
        done = asyncio.run(work)
    for said in reference_lines(done.checked, done.asked, done.notes):
        typer.echo(printable(said))
    if out is not None:
        write_atomically(out, references_json(done.paper, done.checked, done.asked, done.notes))
        typer.echo(f"Written to {out}.")
