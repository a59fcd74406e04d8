"""``referee profile``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from referee.cli.mapping import WRITE_MAPPING, write_suggestion
from referee.cli.running import Attended, RunFlags, with_run_flags

if TYPE_CHECKING:
    from referee.evals.profile.result import ProfileResult

_BY = "What groups are made by: source, kind, venue, year, decision, era, or a column of the data."
_ERA = "Before and after a date (2022-11-30), or praib: ICLR from 2024, NeurIPS from 2023."
_SCALES = "Let ratings of different forms stand side by side, as ranks within each."


@with_run_flags()
def profile(
    reviews: Annotated[Path, typer.Argument(help="The reviews: a file or a folder, AI or human.", show_default=False)],
    papers: Annotated[Path | None, typer.Option(help="Only reviews of these papers: a folder or a JSONL.")] = None,
    venue: Annotated[str | None, typer.Option(help="The form of reviews that name no known venue.")] = None,
    by: Annotated[str, typer.Option(metavar="A,B,C", help=_BY)] = "source,venue,year",
    era: Annotated[str | None, typer.Option(metavar="DATE", help=_ERA)] = None,
    citations: Annotated[
        Literal["fixture", "online"], typer.Option(help="Where formal citations are looked up.")
    ] = "fixture",
    citation_records: Annotated[
        Path | None, typer.Option(help="Published works for fixture, a JSONL. [default: citations are not checked]")
    ] = None,
    contact: Annotated[str | None, typer.Option(help="Your e-mail address, which the services ask for online.")] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="M", help="A model that reads items, coverage and mathematics.")
    ] = None,
    atomic: Annotated[bool, typer.Option(help="Measure atomic items and coverage.")] = True,
    compare_scales: Annotated[bool, typer.Option("--compare-scales", help=_SCALES)] = False,
    rated_on: Annotated[
        str | None, typer.Option(metavar="ID", help="The form AI reviews rated on, where the data do not say.")
    ] = None,
    printed_alpha: Annotated[
        bool, typer.Option("--printed-alpha", help="Krippendorff's alpha as PRAIB prints it, not the standard one.")
    ] = False,
    syllables: Annotated[
        Literal["pyphen", "cmu", "rule"], typer.Option(help="Who counts syllables for readability.")
    ] = "pyphen",
    dictionary: Annotated[Path | None, typer.Option(help="The pronouncing dictionary, for cmu.")] = None,
    processes: Annotated[int, typer.Option(min=1, max=64, help="How many processes measure texts.")] = 1,
    mapping: Annotated[Path | None, typer.Option(help="A file that says which key of a row is what.")] = None,
    write_mapping: Annotated[Path | None, typer.Option(metavar="FILE", help=WRITE_MAPPING)] = None,
    layout: Annotated[str | None, typer.Option(help="The layout of the reviews. [default: by their content]")] = None,
    flags: RunFlags = RunFlags(),
) -> None:
    """Measure how reviewers behave: length, readability, references, ratings, agreement, coverage; no model needed.

    Writes a run folder with report.html and summary.md (to read), summary.csv and .json, comparisons.csv,
    profile.jsonl (a line a review), plots and run.json.
    """
    if write_mapping is not None:
        write_suggestion(reviews, write_mapping)
        return
    from referee import api
    from referee.cli.output import describe_usage
    from referee.reports.estimates import set_estimate_lines

    attended = Attended(flags, set_estimate_lines)
    work = api.profile(
        reviews,
        papers=papers,
        venue=venue,
        by=by.split(","),
        era=era,
        citations=citations,
        citation_records=citation_records,
        contact=contact,
        judges=judge or [],
        atomic=atomic,
        compare_scales=compare_scales,
        rated_on=rated_on,
        weighting="pairs" if printed_alpha else "ratings",
        syllables=syllables,
        dictionary=dictionary,
        processes=processes,
        mapping=mapping,
        layout=layout,
        options=attended.options,
    )
    done = attended.run(work)
    _print(done.result)
    if judge:
        typer.echo(f"Used: {describe_usage(done.usage)}.")
    typer.echo(f"Written to {done.run}: report.html, summary.md (to read), profile.jsonl (a line a review).")


def _print(result: ProfileResult) -> None:
    from referee.cli.output import printable
    from referee.reports.plain import one_line
    from referee.reports.profile_tables import console_lines, lead

    for text in console_lines(result):
        typer.echo(text)
    typer.echo(one_line(lead(result)))
    for note in result.notes:
        typer.echo(f"Note: {printable(note)}.", err=True)
