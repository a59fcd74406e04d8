"""Units side by side: how many at once, in which order, in balance under a budget, and what one failure does."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from referee.errors import ReplyInvalid, RunError
from referee.experiments.limiters import ModelLimiters, PriorityLimiter
from referee.experiments.schedule import AMPLE, execute
from referee.experiments.units import Unit, claimed

from .parts import TOKENS, Bench, values

ARMS = ("a", "b", "c")
PAPERS = tuple(f"p{n}" for n in range(6))


def spread(bench: Bench) -> int:
    counts = Counter(dict.fromkeys(bench.arms, 0))
    counts.update(unit.arm for unit in bench.made)
    return max(counts.values()) - min(counts.values())


def of(unit: Unit, **more: str) -> Unit:
    return Unit(unit.paper, unit.arm, unit.seed, {**unit.identity, **more})


async def test_without_limits_as_many_units_as_the_lane_holds_are_made_at_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PAPERS, ARMS, width=4)
    result = await bench.run()
    assert bench.most == 4
    assert (result.status, len(bench.made), result.paid.calls) == ("finished", 18, 18)
    assert all(one.n_pairs == 6 for one in result.comparisons)


async def test_what_the_embedded_model_writes_is_made_one_at_a_time_beside_the_rest(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PAPERS, ("a", "b"), width=4)
    execution = bench.execution()
    execution.units = [of(u, **{"model for writer": "local:tiny"}) if u.arm == "a" else u for u in execution.units]
    seen: list[Counter[str]] = []

    def turns(unit: Unit) -> int:
        seen.append(Counter(one.arm for one in bench.under_way))
        return 3

    bench.turns = turns
    await execute(execution)
    assert max(count["a"] for count in seen) == 1
    assert max(count["b"] for count in seen) == 4


@pytest.mark.parametrize("spent", [TOKENS, 5 * TOKENS, 9 * TOKENS, 16 * TOKENS])
@pytest.mark.parametrize("kept", [TOKENS, 3 * TOKENS])
async def test_wherever_a_budget_ends_the_run_the_arms_are_in_balance(tmp_path: Path, spent: int, kept: int) -> None:
    """Units take times that differ at random, and calls keep more room than they take."""
    limit = spent + kept - TOKENS
    random_turns = random.Random(spent)
    bench = Bench(tmp_path, PAPERS, ARMS, width=8, max_tokens=limit, kept=kept, expected=3 * TOKENS)
    bench.turns = lambda unit: random_turns.randrange(9)
    result = await bench.run()
    assert result.status == "stopped"
    assert spread(bench) <= 1
    assert len(bench.made) == spent // TOKENS  # all that the budget can pay, though calls kept room from one another
    assert bench.judged == list(PAPERS[: spent // (3 * TOKENS)])
    bench.max_tokens = None
    result = await bench.run()
    assert (result.status, result.paid.total_tokens) == ("finished", 18 * TOKENS)
    assert len(bench.made) == len(set(bench.made)) == 18


@pytest.mark.parametrize("spent", [2 * TOKENS, 5 * TOKENS, 7 * TOKENS])
async def test_with_several_seeds_the_arms_are_in_balance_too(tmp_path: Path, spent: int) -> None:
    bench = Bench(tmp_path, ("p0", "p1"), ("a", "b"), seeds=(0, 1), width=8, max_tokens=spent, expected=4 * TOKENS)
    bench.turns = lambda unit: 9 if unit.arm == "a" else 0
    assert (await bench.run()).status == "stopped"
    assert spread(bench) <= 1


@pytest.mark.slow
async def test_papers_go_beside_one_another_while_the_budget_is_ample(tmp_path: Path) -> None:
    ample = Bench(tmp_path, PAPERS, ARMS, width=8, max_tokens=AMPLE * 18 * TOKENS, expected=3 * TOKENS)
    await ample.run()
    assert ample.most == 8
    scarce = Bench(tmp_path / "b", PAPERS, ARMS, width=8, max_tokens=19 * TOKENS, expected=3 * TOKENS)
    scarce.folder.mkdir()
    await scarce.run()
    assert scarce.most == 3


async def test_what_ends_the_run_lets_units_under_way_come_to_their_end(tmp_path: Path) -> None:
    def failing(unit: Unit) -> Exception | None:
        return RunError("the disk is full") if (unit.paper, unit.arm) == ("p1", "b") else None

    bench = Bench(tmp_path, PAPERS, ARMS, width=6, failing=failing)
    bench.turns = lambda unit: 5 if (unit.paper, unit.arm) == ("p1", "b") else 30
    execution = bench.execution()
    with pytest.raises(RunError, match="disk is full"):
        await execute(execution)
    assert len(bench.made) == 6
    assert bench.under_way == []
    there = [unit for unit in execution.units if execution.store.review(unit) is not None]
    assert len(there) == 5


async def test_a_unit_that_fails_fails_its_pair_in_every_arm_with_units_side_by_side(tmp_path: Path) -> None:
    def failing(unit: Unit) -> Exception | None:
        return ReplyInvalid("no valid reply") if (unit.paper, unit.arm) == ("p1", "b") else None

    bench = Bench(tmp_path, PAPERS, ARMS, width=8, failing=failing)
    result = await bench.run()
    assert sorted(bench.judged) == ["p0", "p2", "p3", "p4", "p5"]
    assert all((one.n_pairs, one.n_failed) == (5, 1) for one in result.comparisons)
    found = values(result)
    assert {found["p1", arm].status for arm in ARMS} == {"failed"}
    assert found["p1", "a"].reason == "arm 'b': no valid reply"


async def test_units_that_share_work_wait_for_the_first_of_them_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PAPERS, ("a", "b"), width=8)
    execution = bench.execution()
    shared = {"refinement of the prompts": "k"}
    execution.units = [of(unit, **shared) if unit.arm == "b" else unit for unit in execution.units]
    beside: list[int] = []

    def turns(unit: Unit) -> int:
        if unit.arm == "b":
            beside.append(sum(one.arm == "b" for one in bench.under_way))
        return 30

    bench.turns = turns
    await execute(execution)
    assert beside[0] == 1
    assert sum(unit.arm == "b" for unit in bench.made) == 6
    assert beside[1:] == [1, 2, 3, 4, 5]


async def test_a_unit_that_somebody_else_makes_is_waited_for_and_then_used(tmp_path: Path) -> None:
    first = Bench(tmp_path, ("p0",), ("a",))
    first.execution()
    second = Bench(tmp_path, ("p0",), ("a", "b"), run_name="other", width=2)
    execution = second.execution()
    (wanted, _) = execution.units
    said: list[str] = []
    execution.progress = lambda event: said.append(event.text)
    execution.store.begin(wanted)
    with claimed(execution.store.claim(wanted.digest)) as is_ours:
        assert is_ours
        running = asyncio.create_task(execute(execution))
        while not any("it is waited for" in text for text in said):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert [unit.arm for unit in second.made] in ([], ["b"])
        await first._review(wanted, execution.store.folder(wanted))
    await running
    assert [unit.arm for unit in second.made] == ["b"]
    assert second.experiment_result(execution, "finished").arms[0].units["reused"] == 1
    assert execution.journal.paid().calls == 1


async def test_work_that_another_experiment_shares_is_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ("p0",), ("a", "b"), width=2)
    execution = bench.execution()
    execution.units = [of(unit, **{"refinement of the prompts": "k"}) for unit in execution.units]
    execution.store.begin(execution.units[0])
    with claimed(execution.store.claim("k")):
        running = asyncio.create_task(execute(execution))
        await asyncio.sleep(0.01)
        assert bench.made == []
    await running
    assert len(bench.made) == 2


async def test_a_claim_that_was_given_up_is_taken_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ("p0",), ("a",))
    execution = bench.execution()
    (unit,) = execution.units
    execution.store.begin(unit)
    with claimed(execution.store.claim(unit.digest)):
        running = asyncio.create_task(execute(execution))
        await asyncio.sleep(0.01)
        assert bench.made == []
    await running
    assert bench.made == [unit]


async def test_a_lane_gives_its_slots_by_rank_and_survives_who_gives_up_waiting() -> None:
    limiter, order = PriorityLimiter(1), list[int]()

    async def work(number: int) -> None:
        async with limiter.slot((number, 0)):
            order.append(number)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work(number)) for number in (3, 1, 2, 0)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await work(9)
    assert order == [0, 1, 3, 9]


def test_only_the_embedded_model_has_a_limiter_of_its_own() -> None:
    limiters = ModelLimiters(3)
    assert limiters.of(["local:qwen-1.5b", "m@host"]) is limiters.of(["local"])
    assert limiters.of(["m@host"]) is limiters.of([]) is not limiters.of(["local"])
