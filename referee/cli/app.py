"""The command tree. A command's module is imported when the command is called, so that help comes at once."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer import _click

# Module and attribute of each command, or of a group's Typer, and its line in the help of all.
COMMANDS = {
    "review": ("review", "review", "Review a paper on a venue's own form."),
    "show": ("show", "show", "Show how a review came about."),
    "verify": ("verify", "verify", "Check whether a paper holds what a review states."),
    "open": ("open", "open_", "Open a run's report.html in the browser."),
    "app": ("browse", "app_", "Review papers in the browser."),
    "references": ("references", "references", "Look up the works that a paper refers to."),
    "eval": ("eval", "evaluate", "Measure peer reviews, AI or human."),
    "rescore": ("eval", "rescore", "Compute an evaluation's numbers again, without calls."),
    "merge": ("merge", "merge", "Join the shards of a run."),
    "profile": ("profile", "profile", "Measure how reviewers behave."),
    "plant": ("plant", "plant", "Make copies of papers with known errors."),
    "experiment": ("experiment", "experiment", "Compare prompts, strategies and models."),
    "batches": ("batches", "batches", "Show or cancel a run's batches at their provider."),
    "strategies": ("doctor", "strategies", "List the strategies that write reviews."),
    "doctor": ("doctor", "doctor", "Check packages, keys, models, folders and settings."),
    "arena": ("arena", "app", "How far a model's reviews are from people's."),
    "collect": ("collect", "app", "Fetch public reviews."),
    "data": ("data", "app", "Count, check, convert and split sets of reviews."),
    "detect": ("detect", "app", "Whether reviews were written by models."),
    "venue": ("venue", "app", "The venues' review forms and rules."),
    "models": ("models", "app", "The embedded models' files."),
    "prompts": ("prompts", "app", "The prompts, and files of your own in their place."),
}


class _Commands(MutableMapping[str, "_click.Command"]):
    """The commands by name, each imported when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, attribute, _ = COMMANDS[name]
            found = getattr(import_module(f"referee.cli.{module}"), attribute)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False, rich_markup_mode=None)
                alone.command(name)(found)
                found = alone
            self._made[name] = typer.main.get_command(found)
            self._made[name].name = name
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]


class _Tree(TyperGroup):
    """The group of all commands; its help imports none of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


app = typer.Typer(
    name="referee",
    cls=_Tree,
    help="Write a peer review on a venue's own form, see how it came about, and measure any review.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
