"""What is made when: units side by side, papers in order, and under a budget so that the arms stay in balance.

Units come paper by paper, all arms of one before the next, each paper beginning with another arm: wherever that is
broken off, any two arms differ by at most one unit.

Without limits all units wait for their limiters at once, ranked by paper. With limits a paper is begun beside others
only while the budget covers ``AMPLE`` times what they are expected to take together; otherwise it waits until the
others are done, and its arms go seed by seed. So wherever a budget ends the run, two arms differ by at most one
finished review, as long as no review takes ``AMPLE`` times its estimate.

Calls under way keep room in the budget for more than they take. A unit that was refused for want of room is therefore
tried again alone before the run is ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from referee.errors import RefereeError, RunStopped
from referee.experiments.execution import Execution
from referee.experiments.units import Unit
from referee.schemas.usage import Usage

AMPLE = 10


@dataclass
class _Block:
    """A paper with its units in order, and whether it has the experiment for itself."""

    number: int
    paper: str
    units: Sequence[Unit]
    is_alone: bool = False
    refused: bool = False

    @property
    def seeds(self) -> list[list[tuple[int, Unit]]]:
        """The units with their places, those of one seed together."""
        return [
            list(group)
            for _, group in groupby(enumerate(self.units), key=lambda placed: (placed[1].seed, placed[1].twin))
        ]


async def execute(execution: Execution) -> None:
    """Make what is not there yet.

    Where something ends the run that is no matter of one unit, units under way come to their end first, so that no
    call is paid for nothing.

    Raises:
        BudgetExceeded: The next call could pass a limit; what is finished stays.
        RunError: A folder is in use or can no longer be written.
        SettingsError: A setting or key is not usable.
    """
    parts = blocks(execution.units, execution.papers, execution.arms)
    waiting = [_Block(number, paper, units) for number, (paper, units) in enumerate(parts)]
    while waiting:
        refused = await _side_by_side(execution, waiting)
        if execution.failure is not None:
            raise execution.failure
        for block in sorted(refused, key=lambda one: one.number):
            await _one_by_one(execution, block)


async def _side_by_side(execution: Execution, waiting: list[_Block]) -> list[_Block]:
    """Take blocks from those that wait until none is left or one is refused; returns the refused ones."""
    under_way: dict[asyncio.Task[None], _Block] = {}
    refused: list[_Block] = []
    async with asyncio.TaskGroup() as group:
        while True:
            while waiting and not refused and _may_begin(execution, waiting[0], list(under_way.values())):
                block = waiting.pop(0)
                block.is_alone = not under_way and not _is_ample(execution, [block])
                under_way[group.create_task(_of_block(execution, block))] = block
            if not under_way:
                return refused
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            refused += [block for block in map(under_way.pop, done) if block.refused]


def _may_begin(execution: Execution, block: _Block, others: Sequence[_Block]) -> bool:
    if execution.failure is not None:
        return False
    return not others or (not any(other.is_alone for other in others) and _is_ample(execution, [*others, block]))


def _is_ample(execution: Execution, under_way: Sequence[_Block]) -> bool:
    """Whether the budget covers many times what these blocks are expected to take, without what they have taken."""
    budget, spent = execution.budget, execution.budget.spent
    expected = sum((execution.expected.get(block.paper, Usage()) for block in under_way), Usage())
    tokens, cost = AMPLE * expected.total_tokens, AMPLE * (expected.cost_usd or 0.0)
    return (budget.max_tokens is None or spent.total_tokens + tokens <= budget.max_tokens) and (
        budget.max_cost is None or (spent.cost_usd or 0.0) + cost <= budget.max_cost
    )


async def _of_block(execution: Execution, block: _Block) -> None:
    """All reviews of the paper, then their measurement."""
    for placed in block.seeds if block.is_alone else [list(enumerate(block.units))]:
        async with asyncio.TaskGroup() as group:
            for place, unit in placed:
                group.create_task(_settled(execution, block, execution.review(unit, (block.number, place))))
        if block.refused:
            return
    await _settled(execution, block, execution.evaluate(block.paper, block.units, (block.number, len(block.units))))


async def _settled(execution: Execution, block: _Block, work: Awaitable[None]) -> None:
    """Keep what ended the work until others that are under way have ended too."""
    try:
        await work
    except RunStopped:
        block.refused = True
    except (RefereeError, OSError) as error:
        execution.failure = execution.failure or error


async def _one_by_one(execution: Execution, block: _Block) -> None:
    """The block's open units and its measurement, each alone in the whole budget."""
    for place, unit in enumerate(block.units):
        rank = (block.number, place)
        await _while_it_moves(execution, partial(execution.review, unit, rank))
    rank = (block.number, len(block.units))
    await _while_it_moves(execution, partial(execution.evaluate, block.paper, block.units, rank))


async def _while_it_moves(execution: Execution, work: Callable[[], Awaitable[None]]) -> None:
    """Try again as long as calls were made: the calls of one unit may have kept room from one another."""
    while True:
        before = execution.budget.spent.calls
        try:
            await work()
        except RunStopped:
            if execution.budget.spent.calls == before:
                raise
        else:
            return


def ordered(units: Sequence[Unit], papers: Sequence[str], arms: Sequence[str]) -> list[Unit]:
    """The units in the order in which they are made: by paper, seed, copy, then arm from a start that moves on."""
    place = {arm: number for number, arm in enumerate(arms)}
    number_of = {paper: number for number, paper in enumerate(papers)}

    def key(unit: Unit) -> tuple[int, int, str, int]:
        paper = number_of[unit.paper]
        return paper, unit.seed, unit.twin, (place[unit.arm] - paper) % len(arms)

    return sorted(units, key=key)


def blocks(units: Sequence[Unit], papers: Sequence[str], arms: Sequence[str]) -> list[tuple[str, tuple[Unit, ...]]]:
    """The papers with all their units, in order."""
    in_order = ordered(units, papers, arms)
    return [(paper, tuple(group)) for paper, group in groupby(in_order, key=lambda unit: unit.paper)]
