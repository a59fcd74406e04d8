"""The command tree. Each command's work is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import (
    arena,
    batches,
    browse,
    collect,
    data,
    detect,
    doctor,
    eval,
    experiment,
    merge,
    models,
    open,
    plant,
    profile,
    prompts,
    references,
    review,
    show,
    venue,
)

app = typer.Typer(
    name="referee",
    help="Write a peer review on a venue's own form, see how it came about, and measure any review.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("review")(review.review)
app.command("show")(show.show)
app.command("open")(open.open_)
app.command("app")(browse.app_)
app.command("references")(references.references)
app.command("eval")(eval.evaluate)
app.command("rescore")(eval.rescore)
app.command("merge")(merge.merge)
app.command("profile")(profile.profile)
app.command("plant")(plant.plant)
app.command("experiment")(experiment.experiment)
app.command("batches")(batches.batches)
app.command("strategies")(doctor.strategies)
app.command("doctor")(doctor.doctor)
app.add_typer(arena.app, name="arena")
app.add_typer(collect.app, name="collect")
app.add_typer(data.app, name="data")
app.add_typer(detect.app, name="detect")
app.add_typer(venue.app, name="venue")
app.add_typer(models.app, name="models")
app.add_typer(prompts.app, name="prompts")


def _version(shown: bool) -> None:
    if shown:
        from referee.version import VERSION

        typer.echo(f"referee {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
    verbose: Annotated[int, typer.Option("-v", count=True, help="Log more (-v: info, -vv: debug), to stderr.")] = 0,
) -> None:
    """Write a peer review on a venue's own form, see how it came about, and measure any review."""
    from referee.cli.logs import configure

    configure(verbose)
