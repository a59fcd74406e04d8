"""The review set and the results on the disk."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from referee.errors import BudgetExceeded, ReplyInvalid, RunError
from referee.evals.case_store import CaseStore, read_stored
from referee.evals.results import RESULTS, Finals, append_result, finals_in, read_results
from referee.evals.shared import Shared
from referee.runs.lines import JsonLines
from referee.schemas.case import CaseOrigin

from .runs_of import case, result, store_of


def test_reviews_come_back_paper_by_paper() -> None:
    given = [
        case("a", "p1"),
        case("b", "p2", source="gpt"),
        case("c", "p1", source="gpt"),
        case("d", "p1", text="ü\u2028"),
    ]
    store = store_of(*given)
    assert list(store.papers) == ["p1", "p2"]
    assert list(store.cases("p1")) == [given[0], given[2], given[3]]
    assert store.humans("p1") == (given[0], given[3])
    assert (store.human_count("p2"), store.humans("p3"), len(store)) == (0, (), 4)
    assert store.sources["gpt", "ai"] == 2


def test_an_id_that_is_taken_is_not_added_again() -> None:
    store = store_of(case("a"))
    digest = store.digest
    assert not store.add(case("a", text="Another text."))
    assert (len(store), store.digest) == (1, digest)


def test_the_digest_is_of_the_reviews_and_not_of_their_place() -> None:
    here, there = (case("a", origin=CaseOrigin(file=name, line=1, layout="own")) for name in ("x.jsonl", "y.jsonl"))
    assert store_of(here).digest == store_of(there).digest
    assert store_of(here).digest != store_of(case("a", text="Other.")).digest


@pytest.mark.parametrize(("most", "expected"), [(3, ["0", "3", "6"]), (100, [str(n) for n in range(10)])])
def test_a_sample_is_spread_over_the_set(most: int, expected: list[str]) -> None:
    store = store_of(*(case(str(n), f"p{n % 3}") for n in range(10)))
    assert [one.case_id for one in store.sample(most)] == expected
    assert CaseStore(io.BytesIO()).sample(5) == []


def test_a_copied_set_is_read_back(tmp_path: Path) -> None:
    store = store_of(case("a"), case("b"))
    with (tmp_path / "cases.jsonl").open("wb") as file:
        store.copy_to(file)
    assert [one.case_id for one in read_stored(tmp_path / "cases.jsonl")] == ["a", "b"]
    (tmp_path / "cases.jsonl").write_text('{"case_id": ""}\n')
    with pytest.raises(RunError, match="damaged in line 1"):
        list(read_stored(tmp_path / "cases.jsonl"))


def test_what_stands_for_good_goes_before_failures(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    with JsonLines(path) as file:
        last = result("b", value=None, reason="it broke again")
        for one in (result("a", value=None), result("b", value=None), result("a"), last):
            append_result(file, one)
        append_result(file, result("c", value=None, status="not_applicable"))
    found = {one.case_id: one.status for one in read_results(path)}
    assert found == {"a": "scored", "b": "failed", "c": "not_applicable"}
    assert [one.reason for one in read_results(path) if one.case_id == "b"] == ["it broke again"]
    assert len(list(read_results(path))) == 3
    finals = finals_in(path, ["words"])
    assert [finals.has(name, "words") for name in "abc"] == [True, False, True]
    assert len(finals) == 2


def test_more_metrics_than_were_foreseen_are_told_apart() -> None:
    finals = Finals(["words"])
    assert finals.note("a", "words")
    assert finals.note("a", "more")
    assert not finals.note("a", "more")
    assert not finals.has("a", "else")


async def test_a_thing_is_made_once_while_others_wait() -> None:
    made: list[int] = []
    begun = asyncio.Event()

    async def make() -> int:
        made.append(1)
        await begun.wait()
        return 7

    shared = Shared()
    asked = [asyncio.create_task(shared.once("topics", make)) for _ in range(5)]
    await asyncio.sleep(0)
    begun.set()
    assert await asyncio.gather(*asked) == [7] * 5
    assert await shared.once("topics", make) == 7
    assert len(made) == 1


@pytest.mark.parametrize(("error", "times"), [(ReplyInvalid("no"), 1), (BudgetExceeded("no"), 2)])
async def test_failures_are_remembered_unless_they_pass(error: Exception, times: int) -> None:
    made: list[int] = []

    async def make() -> int:
        made.append(1)
        raise error

    shared = Shared()
    for _ in range(2):
        with pytest.raises(type(error)):
            await shared.once("topics", make)
        await asyncio.sleep(0)
    assert len(made) == times


async def test_one_who_gives_up_waiting_does_not_spoil_it_for_the_others() -> None:
    begun = asyncio.Event()

    async def make() -> int:
        await begun.wait()
        return 7

    shared = Shared()
    first, second = (asyncio.create_task(shared.once("x", make)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    begun.set()
    assert await second == 7
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_the_oldest_things_are_let_go() -> None:
    made: list[int] = []

    async def make() -> int:
        made.append(1)
        return 7

    shared = Shared(kept=3)
    for number in (1, 2, 3, 1, 4, 5, 1):
        await shared.once(number, make)
    assert len(made) == 5, "1 was used in between and is still there"


async def test_closing_ends_what_is_being_made() -> None:
    shared = Shared()
    asked = asyncio.create_task(shared.once("x", asyncio.Event().wait))
    await asyncio.sleep(0)
    await shared.aclose()
    with pytest.raises(asyncio.CancelledError):
        await asked
