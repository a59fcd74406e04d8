"""``referee venue compile``: a venue from the page on which it tells its reviewers how to review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.running import Attended, RunFlags, with_run_flags

if TYPE_CHECKING:
    from referee.api.venues.compiling import Compiled


@with_run_flags()
def compile_(
    source: Annotated[
        str, typer.Argument(help="The page: an http(s) address, or an HTML, Markdown or text file.", show_default=False)
    ],
    venue_id: Annotated[str, typer.Option("--id", metavar="ID", help="The id it gets, as my-workshop-2026.")],
    name: Annotated[str | None, typer.Option(help="The venue's name. [default: the page's title]")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="local, openai:NAME, anthropic:NAME, google_genai:NAME, or a server's name. [default: local]"
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=0, max=10, help="Rounds that refine its prompts. [default: 3; 0 on the embedded model]"),
    ] = None,
    paper_type: Annotated[
        str | None, typer.Option(help="Of several types of paper, the one to keep. [default: the first]")
    ] = None,
    form: Annotated[
        str | None, typer.Option(metavar="VENUE", help="Borrow this venue's form instead of the page's.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take an id that is taken; an old file of yours is kept beside it.")
    ] = False,
    flags: RunFlags = RunFlags(),
) -> None:
    """Make a venue of your own from the page on which it tells its reviewers how to review.

    The page's statements are cut out by code, labelled by the model, and kept with the page's own words. The venue can
    be used at once. Writes a run folder with guidelines.json (each statement and what became of it), venue.json and
    trace.jsonl (each model call).
    """
    from referee import api
    from referee.reports.estimates import review_estimate_lines

    attended = Attended(flags, review_estimate_lines)
    work = api.compile_venue(
        source,
        venue_id=venue_id,
        name=name,
        paper_type=paper_type,
        form=form,
        model=model,
        rounds=rounds,
        force=force,
        options=attended.options,
    )
    _print_summary(attended.run(work))


def _print_summary(compiled: Compiled) -> None:
    from referee.cli.output import describe_usage, wrapped
    from referee.reports.venue_lines import compile_lines

    said = compile_lines(compiled.form, compiled.page, compiled.paper_type, compiled.fates, compiled.notes)
    for line in said:
        typer.echo(wrapped(line))
    typer.echo(f"Used: {describe_usage(compiled.usage)}.")
    typer.echo(f"Each statement and what became of it: {compiled.run}/guidelines.json")
    typer.echo(f"Stored as {compiled.path}")
    if compiled.backup:
        typer.echo(f"The file it replaced is kept as {compiled.backup}")
    if compiled.refined:
        rounds, refined = compiled.refined.rounds, describe_usage(compiled.refined.usage)
        typer.echo(f"Prompts refined in {rounds} rounds: {refined}; referee venue show {compiled.form.id} --prompts")
    typer.echo(f"Next: referee venue show {compiled.form.id}")
    typer.echo(f"Then: referee review paper.pdf --venue {compiled.form.id}")
