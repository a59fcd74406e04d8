"""``referee collect openreview``: public reviews into a folder that the other commands read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.running import Attended, RunFlags

if TYPE_CHECKING:
    from referee.api import Collection

app = typer.Typer(help="Fetch public reviews.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_VENUE = "A venue-year, as iclr-2025. With --resume, by default the one begun there."
_WITH = "Beside submissions and reviews: pdf, rebuttals, comments, decisions. [default: all but pdf]"
_PUBLIC = {
    "all": "of all submissions",
    "accepted": "of accepted submissions only",
    "opt-in": "of accepted submissions, and of rejected ones whose authors chose so",
}


@app.callback()
def group() -> None:
    """Fetch public reviews."""


@app.command()
def openreview(
    venue: Annotated[str | None, typer.Option(help=_VENUE)] = None,
    kinds: Annotated[str | None, typer.Option("--with", metavar="A,B", help=_WITH)] = None,
    out: Annotated[Path | None, typer.Option(help="The folder. [default: a new one in referee-runs]")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Go on in this folder.")] = None,
) -> None:
    """Fetch a venue-year's submissions, reviews and discussions, as OpenReview's API gives them.

    Writes a folder with VENUE.jsonl (a forum a line), papers (PDFs by forum id) and collected.json (counts). It asks
    anonymously, or as OPENREVIEW_USERNAME with OPENREVIEW_PASSWORD.
    """
    from referee import api
    from referee.cli.progress import RarerStages

    attended = Attended(RunFlags(out=out, resume=resume), lambda _: (), RarerStages)
    asked = kinds.split(",") if kinds is not None else None
    _print(attended.run(api.collect_openreview(venue, kinds=asked, options=attended.options)))


def _print(done: Collection) -> None:
    from referee.reports.estimates import several

    found = done.collected
    counted = sorted(found.replies.items(), key=lambda one: -one[1])
    kinds = ", ".join(several(count, kind.removesuffix("s").replace("other", "other note")) for kind, count in counted)
    typer.echo(f"{found.venue}: {several(found.forums, 'forum')}; {kinds or 'no note hangs on them'}.")
    typer.echo(f"Public are the reviews {_PUBLIC[done.venue.reviews]}. {done.venue.note}".rstrip())
    if found.deleted:
        typer.echo(f"{several(len(found.deleted), 'submission')} left out: deleted.")
    if done.papers is not None:
        typer.echo(f"{several(found.pdfs, 'PDF')}; {len(found.no_pdf):,} forums have none (collected.json says why).")
    typer.echo(f"Written to {done.run}: {done.notes.name}{', papers' if done.papers else ''}, collected.json.")
    typer.echo(f"Next: referee profile {done.run}")
