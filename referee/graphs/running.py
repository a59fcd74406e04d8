"""Running a machine under the run folder's checkpoints."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import is_dataclass
from itertools import count
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from referee.runs import RunFolder
from referee.runs.checkpoints import open_checkpoints
from referee.runs.folder import CHECKPOINTS

# States of an older layout in the same file are passed over: the machine begins anew on the answers of the ledger.
_LAYOUT = "typed"


async def run_machine(run: RunFolder, graph: Any, context: Any, initial: Any, *, thread: str = "") -> Any:
    """Run an uncompiled graph to its end, from the last checkpoint where there is one.

    A machine that came to its end is not run again. One that ended in a failure begins anew, on a thread of its own,
    because states only grow where branches join; its answered calls are in the ledger and are not paid twice.

    Args:
        run: Its folder holds the checkpoints.
        graph: The uncompiled machine.
        context: The services and fixed data of the run.
        initial: The empty state.
        thread: Tells machines apart that run in the same folder; the review's own has no name.

    Returns:
        The last state.

    Raises:
        RefereeError: What a node recorded under ``failure``.
    """
    from referee.graphs.failure import raise_failure

    async with _checkpoints(run, stored_types(graph.schemas)) as (saver, name):
        compiled = graph.compile(checkpointer=saver)
        for attempt in count():
            config: Any = {"configurable": {"thread_id": f"{name}{run.record.run_id}-{_LAYOUT}-{thread}{attempt}"}}
            at = await compiled.aget_state(config)
            if at.tasks or not at.values.get("failure"):
                break
        # Not ``at.next``, which leaves out a node that was done when the run ended and that no checkpoint holds yet.
        if at.values and not at.tasks:
            state = at.values
        else:
            begin = None if at.tasks else initial
            state = await compiled.ainvoke(begin, config, context=context, durability="sync")
    if state["failure"]:
        raise_failure(state["failure"])
    return state


@asynccontextmanager
async def _checkpoints(run: RunFolder, stored: set[type]) -> AsyncIterator[tuple[Any, str]]:
    """Where the run's settings want its checkpoints, and what its threads begin with there."""
    if run.record.settings.get("checkpoints") == "postgres":
        from referee.runs.postgres_checkpoints import open_postgres_checkpoints

        async with open_postgres_checkpoints(run.path, stored) as opened:
            yield opened
    else:
        async with open_checkpoints(run.path / CHECKPOINTS, stored) as saver:
            yield saver, ""


def stored_types(schemas: Iterable[type]) -> set[type]:
    """The models and records that states of these shapes hold, whose values a checkpoint may be read back as."""
    return {kind for schema in schemas for hint in get_type_hints(schema).values() for kind in _records(hint)}


def _records(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, BaseModel)):
        yield hint
    for inner in get_args(hint):
        yield from _records(inner)
