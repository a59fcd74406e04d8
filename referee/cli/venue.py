"""``referee venue``: which forms there are, what one asks, and those of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import venue_compile, venue_prompts

app = typer.Typer(help="The venues' review forms and rules.", no_args_is_help=True, rich_markup_mode=None)
app.command("compile")(venue_compile.compile_)
app.command("refine")(venue_prompts.refine)
app.command("diff-prompts")(venue_prompts.diff_prompts)


@app.command("list")
def list_() -> None:
    """List the venues: id, name, overall scale, rule on language models, date of the last check."""
    from referee.venues import list_venues

    rows = [("id", "venue", "overall", "language models", "checked")]
    for form in list_venues():
        scale = "none"
        if form.overall:
            values = [float(o.value) for o in form.field(form.overall).options]
            scale = f"{form.overall} {min(values):g}-{max(values):g}"
        rows.append((form.id, form.name, scale, form.llm_policy.status, form.provenance.checked.isoformat()))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command()
def show(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="The whole form as JSON.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="What reviewers are told for each guideline.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="With --prompts: every version, criticism and refusal.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="With --prompts: refined with this model. [default: those refined last]")
    ] = None,
) -> None:
    """Show a venue's form, guidelines, rule on language models, and how sure each fact is; or its prompts."""
    from referee.errors import SettingsError
    from referee.venues import describe_venue, load_venue

    if prompts:
        venue_prompts.show_prompts(venue, model=model, history=history, json=json)
        return
    if history or model:
        raise SettingsError(
            f"--{'history' if history else 'model'} goes with --prompts.",
            hint=f"Write: referee venue show {venue} --prompts --history",
        )
    form = load_venue(venue)
    typer.echo(form.model_dump_json(indent=2) if json else describe_venue(form))


@app.command()
def diff(
    first: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one.", show_default=False)],
) -> None:
    """Show what one venue asks and the other does not: - only the first, + only the second, ~ both but not alike."""
    from referee.venues import load_venue
    from referee.venues.render import venue_difference

    one, other = load_venue(first), load_venue(second)
    lines = venue_difference(one, other)
    for line in lines or [f"{one.id} and {other.id} ask the same."]:
        typer.echo(line)


@app.command()
def export(
    venue: Annotated[str, typer.Argument(help="A venue's id, or a venue file.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="A new .json file. [default: print it]")] = None,
) -> None:
    """Write a venue out as one JSON venue file, with everything it borrows filled in."""
    from referee.venues.registry import export_venue

    text = export_venue(venue, out)
    typer.echo(f"Written to {out}" if out else text, nl=out is not None)


@app.command()
def remove(venue: Annotated[str, typer.Argument(help="The id of a venue of your own.", show_default=False)]) -> None:
    """Remove a venue of your own; those that ship with referee stay."""
    from referee.venues.registry import remove_venue

    typer.echo(f"{venue}: removed ({remove_venue(venue)}).")
