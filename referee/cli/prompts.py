"""``referee prompts``: the prompts that ship, and files of one's own in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="List, show, copy, check and compare prompts.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_NAME = "A prompt's id, as review/single, or ID@VERSION."


@app.command("list")
def list_(
    part: Annotated[str, typer.Argument(help="Only those whose id or use holds this text.", show_default=False)] = "",
) -> None:
    """List the prompts: id and versions, the role it asks, where it is used, its inputs and its reply."""
    from referee.prompts.files import listed_prompts

    rows = listed_prompts(part)
    for row in rows:
        typer.echo(f"{row.id}  {', '.join(row.versions)}  {row.role}: {row.used}")
        typer.echo(f"    inputs: {', '.join(row.inputs) or 'none'}; reply: {row.reply}")
    if not rows:
        typer.echo(f"No prompt's id or use holds {part!r}.")


@app.command()
def show(name: Annotated[str, typer.Argument(metavar="ID", help=_NAME, show_default=False)]) -> None:
    """Show a prompt: where it is used, which paper it follows, its inputs, its reply and its text."""
    from referee.prompts.files import described_prompt

    for line in described_prompt(name):
        typer.echo(line)


@app.command()
def copy(
    name: Annotated[str, typer.Argument(metavar="ID", help=_NAME, show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.", show_default=False)],
) -> None:
    """Copy a prompt to a new file, to be changed."""
    from referee.prompts.files import copy_prompt

    copy_prompt(name, target)
    typer.echo(f"Written to {target}: change what stands under '# system' and '# user'.")
    typer.echo(f"Next: referee prompts check {target}")


@app.command()
def check(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A prompt of your own.", show_default=False)],
) -> None:
    """Check a prompt of your own as a run does: front matter, inputs, reply, places and a sample rendering."""
    from referee.prompts.files import check_prompt

    prompt = check_prompt(path)
    typer.echo(f"{path} can take the place of {prompt.id}; its version is {prompt.version}.")
    typer.echo(f"Use it: --prompt {prompt.id}={path}")


@app.command()
def diff(
    first: Annotated[str, typer.Argument(help="A file, an id, or ID@VERSION.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one.", show_default=False)],
) -> None:
    """Show what differs between two prompts, line by line."""
    from referee.prompts.files import prompt_difference

    lines = prompt_difference(first, second)
    for line in lines or [f"{first} and {second} are the same."]:
        typer.echo(line)
