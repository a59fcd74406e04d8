"""What is made when: units side by side, papers in order, and under a budget so that the arms stay in balance.

Without limits all units wait in their lanes at once, ranked by paper. With limits a paper is begun beside others only
while the budget covers ``AMPLE`` times what they are expected to take together; otherwise it waits until the others are
done, and its arms go seed by seed. So wherever a budget ends the run, two arms differ by at most one finished review,
as long as no review takes ``AMPLE`` times its estimate.

Calls under way keep room in the budget for more than they take. A unit that was refused for want of room is therefore
tried again alone before the run is ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from referee.errors import BudgetExceeded, RefereeError
from referee.experiments.course import Course
from referee.experiments.order import blocks
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
        return [list(group) for _, group in groupby(enumerate(self.units), key=lambda placed: placed[1].seed)]


async def run_course(course: Course) -> None:
    """Make what is not there yet.

    Where something ends the run that is no matter of one unit, units under way come to their end first, so that no
    call is paid for nothing.

    Raises:
        BudgetExceeded: The next call could pass a limit; what is finished stays.
        RunError: A folder is in use or can no longer be written.
        SettingsError: A setting or key is not usable.
    """
    parts = blocks(course.units, course.papers, course.arms)
    waiting = [_Block(number, paper, units) for number, (paper, units) in enumerate(parts)]
    while waiting:
        refused = await _side_by_side(course, waiting)
        if course.failure is not None:
            raise course.failure
        for block in sorted(refused, key=lambda one: one.number):
            await _one_by_one(course, block)


async def _side_by_side(course: Course, waiting: list[_Block]) -> list[_Block]:
    """Take blocks from those that wait until none is left or one is refused; returns the refused ones."""
    under_way: dict[asyncio.Task[None], _Block] = {}
    refused: list[_Block] = []
    async with asyncio.TaskGroup() as group:
        while True:
            while waiting and not refused and _may_begin(course, waiting[0], list(under_way.values())):
                block = waiting.pop(0)
                block.is_alone = not under_way and not _is_ample(course, [block])
                under_way[group.create_task(_of_block(course, block))] = block
            if not under_way:
                return refused
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            refused += [block for block in map(under_way.pop, done) if block.refused]


def _may_begin(course: Course, block: _Block, others: Sequence[_Block]) -> bool:
    if course.failure is not None:
        return False
    return not others or (not any(other.is_alone for other in others) and _is_ample(course, [*others, block]))


def _is_ample(course: Course, under_way: Sequence[_Block]) -> bool:
    """Whether the budget covers many times what these blocks are expected to take, without what they have taken."""
    budget, spent = course.budget, course.budget.spent
    expected = sum((course.expected.get(block.paper, Usage()) for block in under_way), Usage())
    tokens, cost = AMPLE * expected.total_tokens, AMPLE * (expected.cost_usd or 0.0)
    return (budget.max_tokens is None or spent.total_tokens + tokens <= budget.max_tokens) and (
        budget.max_cost is None or (spent.cost_usd or 0.0) + cost <= budget.max_cost
    )


async def _of_block(course: Course, block: _Block) -> None:
    """All reviews of the paper, then their measurement."""
    for placed in block.seeds if block.is_alone else [list(enumerate(block.units))]:
        async with asyncio.TaskGroup() as group:
            for place, unit in placed:
                group.create_task(_settled(course, block, course.review(unit, (block.number, place))))
        if block.refused:
            return
    await _settled(course, block, course.evaluate(block.paper, block.units, (block.number, len(block.units))))


async def _settled(course: Course, block: _Block, work: Awaitable[None]) -> None:
    """Keep what ended the work until others that are under way have ended too."""
    try:
        await work
    except BudgetExceeded:
        block.refused = True
    except (RefereeError, OSError) as error:
        course.failure = course.failure or error


async def _one_by_one(course: Course, block: _Block) -> None:
    """The block's open units and its measurement, each alone in the whole budget."""
    for place, unit in enumerate(block.units):
        rank = (block.number, place)
        await _while_it_moves(course, partial(course.review, unit, rank))
    rank = (block.number, len(block.units))
    await _while_it_moves(course, partial(course.evaluate, block.paper, block.units, rank))


async def _while_it_moves(course: Course, work: Callable[[], Awaitable[None]]) -> None:
    """Try again as long as calls were made: the calls of one unit may have kept room from one another."""
    while True:
        before = course.budget.spent.calls
        try:
            await work()
        except BudgetExceeded:
            if course.budget.spent.calls == before:
                raise
        else:
            return
