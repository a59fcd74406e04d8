"""``referee data``: sets of papers with their reviews, counted, checked, converted, and parts of them frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Sets of papers with their reviews: count, check, convert, freeze a part.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_Source = Annotated[
    Path, typer.Argument(help="Rows (JSONL, Parquet, a PdfFolder) or OpenReview notes.", show_default=False)
]
_Conference = Annotated[str, typer.Option(help="The conference of rows that name none, as iclr.")]
_Scale = Annotated[
    str | None,
    typer.Option(metavar="FORM=LOW-HIGH", help="Read a form's overall ratings on another scale: neurips-2025=1-10."),
]


@app.command()
def describe(
    source: _Source,
    out: Annotated[Path | None, typer.Option(help="A new folder for the tables as CSV and JSON.")] = None,
    conference: _Conference = "",
) -> None:
    """Count papers, reviews, rebuttals, comments and decisions, for each venue and year."""
    from referee.api.benchmark_sets import describe_set
    from referee.cli.progress import ProgressLine
    from referee.reports.corpus_tables import shown_tables
    from referee.reports.tables import console

    with ProgressLine("counting"):
        corpus = describe_set(source, out=out, conference=conference)
    for table in shown_tables(corpus):
        typer.echo(f"{table.title}:")
        for line in console(table):
            typer.echo(f"  {line}")
    if corpus.unusable:
        typer.echo(f"{corpus.unusable:,} row(s) cannot be used: `referee data validate` names each.")
    if out is not None:
        typer.echo(f"Written to {out}: venue_years, coverage, families, interactions, areas (CSV), describe.json.")


@app.command()
def validate(source: _Source, conference: _Conference = "") -> None:
    """Check each row; print FILE:LINE: KEY: CAUSE for each that is broken, and end with exit code 1 if one is."""
    from referee.api.benchmark_sets import validate_set
    from referee.cli.output import printable
    from referee.cli.progress import ProgressLine

    with ProgressLine("checking the rows") as progress:

        def tell(line: str) -> None:
            progress.pause()
            typer.echo(printable(line))
            progress.resume()

        checked = validate_set(source, tell, conference=conference)
    for remark, count in checked.remarks.most_common():
        typer.echo(printable(f"remark, {count:,} time(s): {remark}"))
    typer.echo(f"{checked.rows:,} row(s) of {checked.venue_years:,} venue-year(s): {checked.broken:,} broken.")
    if checked.broken:
        raise typer.Exit(1)


@app.command()
def convert(
    source: _Source,
    out: Annotated[Path, typer.Option(help="A new folder: a file (with PDFs: a folder) for each venue and year.")],
    to: Annotated[str, typer.Option(help="jsonl, jsonl.gz, parquet or pdffolder.")] = "jsonl",
    pdfs: Annotated[Path | None, typer.Option(help="For pdffolder: a folder of PDFs named by paper id.")] = None,
    split: Annotated[Path | None, typer.Option(help="Only the papers of this split, unchanged.")] = None,
    scale_override: _Scale = None,
    conference: _Conference = "",
) -> None:
    """Write a set in another format, all or nothing; nothing that the source holds is dropped."""
    from referee.api import benchmark_sets as sets
    from referee.cli.progress import ProgressLine

    override = sets.scale_override(scale_override)
    with ProgressLine("converting"):
        done = sets.convert_set(
            source, out=out, to=to, pdfs=pdfs, conference=conference, override=override, split=split
        )
    for name, count in sorted(done.counts.items()):
        typer.echo(f"{name}: {count:,} paper(s)")
    if done.without_pdf:
        typer.echo(f"{done.without_pdf:,} paper(s) have no PDF: their rows are in without-pdf.")
    if done.off_scale:
        typer.echo(f"{done.off_scale:,} rating(s) are not on their form's scale: null, see off_scale in the rows.")
    if done.no_reviews:
        typer.echo(f"{done.no_reviews:,} review(s) are no objects and are left out: see `referee data validate`.")
    if done.rejected:
        typer.echo(f"{done.rejected:,} row(s) cannot be used: rejected.jsonl says why.")
    typer.echo(f"Written to {out}.")


@app.command()
def load(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SET", help="spot, specs, flaws, peerreview-bench or reviewcritique.", show_default=False
        ),
    ],
    path: Annotated[Path, typer.Argument(help="Your copy of the set: a file or a folder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="A new folder, for `referee eval --known`.")],
    papers: Annotated[
        Path | None, typer.Option(help="Papers that the set does not hold: a folder of files named by paper id.")
    ] = None,
) -> None:
    """Read your copy of a public set of papers with known errors: papers, errors, reviews. Nothing is downloaded."""
    from referee.api.known_errors import load_set
    from referee.cli.progress import ProgressLine

    with ProgressLine("reading the set"):
        done = load_set(source, path, out=out, papers=papers)
    typer.echo(f"{source}: {done.papers:,} paper(s), {done.errors:,} known error(s), {done.reviews:,} review(s).")
    if done.without_file:
        typer.echo(f"{done.without_file:,} paper(s) have no text in the set: --papers FOLDER adds yours, named by id.")
    if done.rejected:
        typer.echo(f"{done.rejected:,} row(s) cannot be used: rejected.jsonl says why.")
    held = "set.json, errors.jsonl, papers/" + (", reviews.jsonl" if done.reviews else "")
    typer.echo(f"Written to {out}: {held}.")


@app.command()
def split(
    source: _Source,
    out: Annotated[Path, typer.Option(help="The new file of the split.")],
    quota: Annotated[int, typer.Option(min=1, help="Papers of each conference.")] = 167,
    seed: Annotated[int, typer.Option(help="Another seed draws other papers.")] = 0,
    min_reviews: Annotated[int, typer.Option(min=1, help="Reviews by people that a paper needs.")] = 2,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Whether a paper needs its full text.")] = True,
    papers: Annotated[Path | None, typer.Option(help="The texts of papers whose rows hold none.")] = None,
    scale_override: _Scale = None,
    conference: _Conference = "",
) -> None:
    """Draw as many papers of each conference, with reviews, a text and a numeric rating, and freeze which they are."""
    from referee.api import benchmark_sets as sets
    from referee.cli.progress import ProgressLine
    from referee.data.splits import SplitRules

    rules = SplitRules(
        seed=seed,
        quota=quota,
        min_reviews=min_reviews,
        needs_text=text,
        scale_override=sets.scale_override(scale_override),
    )
    with ProgressLine("drawing the split"):
        done = sets.draw_split(source, out=out, rules=rules, papers=papers, conference=conference)
    for reason, count in done.left_out.items():
        typer.echo(f"left out, {count:,}: {reason}")
    for name, count in done.short.items():
        typer.echo(f"{name} has only {count:,} of {quota:,} papers.")
    typer.echo(f"{len(done.papers):,} paper(s), digest {done.digest}.")
    typer.echo(f"Written to {out}: `referee data convert SET --split {out} --out FOLDER` takes its rows out.")


@app.command()
def index(
    works: Annotated[Path, typer.Argument(help="A JSONL of works: title, year, authors, doi, arxiv, abstract a line.")],
    out: Annotated[Path, typer.Option(help="The SQLite file to write.")] = Path("works.sqlite"),
) -> None:
    """Make an index of known works, for `referee references --index` and `referee review --literature`."""
    from referee.api.checked_references import index_works
    from referee.cli.progress import ProgressLine

    with ProgressLine("reading the works"):
        count = index_works(works, out)
    typer.echo(f"{count:,} works, written to {out}.")
