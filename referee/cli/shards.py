"""A command over many papers as several processes: its folder is made, its shards are worked on, and then joined."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from referee.errors import SettingsError

if TYPE_CHECKING:
    from referee.cli.running import CorpusFlags
    from referee.runs.engines import Engine

_WITH_VALUE = ("--out", "--resume", "--processes", "--engine", "--address")
_ALONE = ("--yes",)


def run_corpus(command: Callable[[CorpusFlags], None], flags: CorpusFlags) -> None:
    """Run a command as it is, or, where processes were asked for, as so many shards of it.

    Args:
        command: The command with the flags that it is to run under.
        flags: Those that were given.

    Raises:
        RefereeError: As the command; or a shard failed, which is named.
    """
    workers = _workers(flags)
    if workers is None:
        command(flags)
        return
    from referee.api.session import ReadyForShards
    from referee.api.workers import run_shards
    from referee.cli.interrupt import Interrupted

    engine = open_engine(flags)  # before anything is written: a cluster may not be there
    try:
        command(replace(flags, processes=workers))
    except ReadyForShards as ready:
        try:
            done = run_shards(ready.path, shared_arguments(sys.argv[1:]), engine, say=_say, parquet=flags.parquet)
        except KeyboardInterrupt:
            raise Interrupted.during(str(ready.path)) from None
    else:
        return  # nothing to be run: an estimate, a mapping
    finally:
        engine.close()
    from referee.cli.merge import print_merged

    print_merged(done)
    typer.echo(f"Written to {done.run}; what each process said is in {done.run}/shards.")


def open_engine(flags: CorpusFlags) -> Engine:
    """The engine that was asked for; raises ``MissingExtra`` without Ray, and ``RunError`` where no cluster answers."""
    from referee.runs.engines import LocalEngine, RayEngine

    return RayEngine(flags.address) if flags.engine == "ray" else LocalEngine()


def shared_arguments(arguments: Sequence[str]) -> list[str]:
    """What was typed, without what each shard has of its own."""
    return list(_kept(iter(arguments)))


def _kept(arguments: Iterator[str]) -> Iterator[str]:
    for argument in arguments:
        if argument in _WITH_VALUE:
            next(arguments, None)
        elif argument not in _ALONE and argument.partition("=")[0] not in _WITH_VALUE:
            yield argument


def _workers(flags: CorpusFlags) -> int | None:
    """How many processes; those of a run that is resumed, and None where the command runs as it is."""
    from referee.runs.folder import RECORD, read_record

    made = None
    if flags.resume is not None and (Path(flags.resume) / RECORD).is_file():
        made = read_record(flags.resume).workers
    workers = flags.processes or made
    if workers is None and flags.engine == "local":
        if flags.address is not None:
            raise SettingsError("--address is that of a Ray cluster.", hint="Add --engine ray.")
        return None
    if flags.shard is not None:
        raise SettingsError("--shard is one part of a run, and --processes all of them.", hint="Give one of the two.")
    if workers is None:
        raise SettingsError("--engine ray runs shards, and their number is missing.", hint="Add --processes N.")
    return workers


def _say(text: str) -> None:
    typer.echo(text, err=True)
