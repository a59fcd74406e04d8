"""The options that every command with a run folder has, and how such a command is run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Iterable
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from referee.cli.progress import ProgressLine, Stages
    from referee.settings import Settings

T = TypeVar("T")

_BATCH = "Make calls in the provider's batches: half the price, replies within a day."


@dataclass(frozen=True)
class RunFlags:
    """How a run was asked for on the command line."""

    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server (vLLM, Ollama, llama.cpp).")] = None
    out: Annotated[Path | None, typer.Option(help="The run folder. [default: a new one in referee-runs]")] = None
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Continue the run in this folder.")] = None
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that no call may pass.")] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that no call may pass.")] = None
    batch: Annotated[bool, typer.Option("--batch", help=_BATCH)] = False
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use replies of earlier runs.")] = False
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=FILE", help="A prompt of your own in place of one (see `referee prompts list`)."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False


@dataclass(frozen=True)
class CorpusFlags(RunFlags):
    """How a run over many papers was asked for."""

    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Work on part I of N of the papers; `referee merge` joins them.")
    ] = None
    processes: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Run so many shards beside each other, under one limit.")
    ] = None
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Where --processes run: on this machine, or on a Ray cluster.")
    ] = "local"
    parquet: Annotated[bool, typer.Option("--parquet", help="Leave the rows as Parquet too (referee[parquet]).")] = (
        False
    )
    address: Annotated[
        str | None, typer.Option(help="The Ray cluster, as HOST:PORT. [default: the one that runs here]")
    ] = None


def with_run_flags(
    kind: type[RunFlags] = RunFlags, **helps: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a run in place of its parameter ``flags``.

    Args:
        kind: Which options.
        **helps: What is said of an option where it means something special to the command.
    """

    def widened(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        spread = [one for name, given in own.items() for one in (_shared(kind, helps) if name == "flags" else [given])]

        @functools.wraps(command)
        def call(**given: Any) -> None:
            flags = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            if isinstance(flags, CorpusFlags):
                from referee.cli.shards import run_corpus

                run_corpus(lambda settled: command(**given, flags=settled), flags)
                return
            command(**given, flags=flags)

        call.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
        return call

    return widened


def _shared(kind: type[RunFlags], helps: dict[str, str]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=one.default,
            annotation=_said(hints[one.name], helps[one.name]) if one.name in helps else hints[one.name],
        )
        for one in fields(kind)
    ]


def _said(hint: Any, help_text: str) -> Any:
    option = copy(hint.__metadata__[0])
    option.help = help_text
    return Annotated[hint.__origin__, option]


def prompts_by_id(pairs: Iterable[str]) -> dict[str, str] | None:
    """The prompts that were typed as ID=FILE or ID=v1; None without any.

    Raises:
        SettingsError: One is not so written, or two are for one id.
    """
    from referee.errors import SettingsError

    chosen: dict[str, str] = {}
    for pair in pairs:
        prompt_id, sign, given = pair.partition("=")
        if not (sign and prompt_id and given):
            raise SettingsError(f"--prompt {pair!r} is not ID=FILE.", hint="Example: --prompt review/single=mine.md")
        if prompt_id in chosen:
            raise SettingsError(
                f"--prompt names two for {prompt_id!r}: {chosen[prompt_id]!r} and {given!r}.", hint="Give one of them."
            )
        chosen[prompt_id] = given
    return chosen or None


class Attended:
    """A command's work while somebody watches: progress is drawn, the estimate confirmed, Ctrl-C heard.

    Args:
        flags: How the run was asked for.
        lines: What is printed of an estimate.
        shown: Which events are drawn; all by default.
        settings: Those that the flags change, where they are not those in force.

    Attributes:
        options: What the public functions take.
    """

    def __init__(
        self,
        flags: RunFlags,
        lines: Callable[[Any], Iterable[str]],
        shown: Callable[[ProgressLine], Stages] | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        from referee.api import RunOptions
        from referee.cli.confirm import Confirmation
        from referee.cli.progress import ProgressLine

        self._line = ProgressLine()
        self._progress = shown(self._line) if shown else self._line
        self.options = RunOptions(
            out=flags.out,
            resume=flags.resume,
            shard=flags.shard if isinstance(flags, CorpusFlags) else None,
            parquet=isinstance(flags, CorpusFlags) and flags.parquet,
            workers=flags.processes if isinstance(flags, CorpusFlags) else None,
            base_url=flags.base_url,
            max_cost=flags.max_cost,
            max_tokens=flags.max_tokens,
            batch=True if flags.batch else None,
            cache=False if flags.no_cache else None,
            prompts=prompts_by_id(flags.prompt or []),
            settings=settings,
            progress=self._progress,
            confirm=Confirmation(self._line, flags.yes, lines),
        )

    @property
    def run_folder(self) -> str:
        """Where the run lies; empty before there is a folder."""
        return self._line.run_folder

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work; raises ``Interrupted`` where it was ended before it was done."""
        from referee.cli.interrupt import run_interruptible

        with self._line:
            return run_interruptible(work, self._progress)
