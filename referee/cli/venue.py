"""``referee venue``: which forms there are, and what one asks."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="The venues' review forms and rules.", no_args_is_help=True, rich_markup_mode=None)


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
) -> None:
    """Show a venue's form, guidelines, rule on language models, and how sure each fact is."""
    from referee.venues import describe_venue, load_venue

    form = load_venue(venue)
    typer.echo(form.model_dump_json(indent=2) if json else describe_venue(form))
