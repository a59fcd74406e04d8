"""Calls in batches, through the providers' own SDKs, against a server that speaks their three protocols."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.errors import BudgetExceeded, ModelRefused, ModelUnavailable, ReplyInvalid, SettingsError
from referee.llm.batches.book import Spool, open_batches
from referee.llm.batches.collecting import Batches
from referee.llm.batches.wire import BatchWire, open_provider, waiting_calls
from referee.llm.cache import ReplyCache
from referee.llm.door import Answer, Door
from referee.llm.limits import Limits
from referee.llm.models import Model, Models, open_models
from referee.runs import Budget, Event, Ledger, silent
from referee.settings import BatchSettings, CallSettings, load_settings
from tests.cli.processes import wait_for
from tests.held import happened
from tests.support import BatchPlan, FakeServer, Fault

from .shared import GOOD, PAPER, SPECS, Verdict, sharing

THREE = ("openai", "anthropic", "google_genai")
QUICK = BatchSettings(quiet_s=0.03, poll_s=0.02)
CALLS = CallSettings(retry_wait_s=0, timeout_s=20, max_tries=3, batch=True)
OWN = {"own": (10.0, 20.0)}


@asynccontextmanager
async def batched(
    provider: str,
    server: FakeServer,
    run: Path,
    *,
    settings: BatchSettings = QUICK,
    prices: Any = None,
    events: list[Event] | None = None,
    **door_args: Any,
) -> AsyncIterator[Door]:
    """A door whose calls go in batches, as a session opens one in this run folder; a token is a word."""
    spec, base = SPECS[provider], server.base_url if provider in ("openai", "server") else server.url
    if provider in ("openai", "server"):
        spec = type(spec)(spec.provider, spec.name, base)
    batches = Batches(settings, events.append if events is not None else silent)
    queue = batches.queue(spec, partial(open_provider, spec, key="k", timeout_s=20, base_url=base))
    wire = BatchWire(spec, queue, key="k", timeout_s=20, max_tries=CALLS.max_tries, base_url=base)
    model = Model(
        spec, wire, Limits(10_000, None, None), 100_000, prices or {}, lambda t: len(t.split()), 0.0, batched=True
    )
    models = Models({"writer": model})
    ledger = Ledger(run / "trace.jsonl")
    batches.open(run)
    batches.drop([record.request for record in ledger.records if record.reply is not None])
    try:
        yield Door(models, calls=waiting_calls(CALLS), ledger=ledger, **door_args)
    finally:
        await batches.aclose()
        await wire.aclose()


async def ask_all(door: Door, tasks: Sequence[str]) -> list[Answer[Verdict] | BaseException]:
    asked = [door.ask(sharing(task), Verdict, role="writer", max_output_tokens=200) for task in tasks]
    return await asyncio.gather(*asked, return_exceptions=True)


def values(answers: Sequence[object]) -> list[object]:
    return [answer.value.model_dump() if isinstance(answer, Answer) else answer for answer in answers]


def tasks(number: int) -> list[str]:
    return [f"Judge sentence {place}." for place in range(number)]


def once_each(server: FakeServer, number: int) -> None:
    assert sorted(server.submitted.values()) == [1] * number
    assert not server.log.repeated()


@pytest.mark.slow
@pytest.mark.parametrize("provider", THREE)
async def test_what_waits_is_one_batch_and_each_call_gets_its_own_reply(provider: str, tmp_path: Path) -> None:
    events: list[Event] = []
    with FakeServer(batches=BatchPlan(delay_s=0.05), expected_key="k") as server:
        async with batched(provider, server, tmp_path, events=events) as door:
            answers = await ask_all(door, tasks(12))
        asked_of = {entry.request.user.split("Judge ")[1][:12]: entry for entry in server.log if entry.request}
    assert len(server.batches) == 1
    once_each(server, 12)
    assert len(asked_of) == 12
    assert all(isinstance(answer, Answer) for answer in answers), answers
    assert len({str(value) for value in values(answers)}) > 1, "replies are told apart"
    records = {record.request: record for record in door.ledger.records}
    assert set(records) == set(server.batches[0].calls)
    for digest, (_, body) in (server.batches[0].results or {}).items():
        assert str(Verdict.model_validate_json(records[digest].reply or "").reason) in json.dumps(body)
    assert door.ledger.usage().input_tokens == sum(entry.input_tokens for entry in server.log)
    assert "batches: 0 waiting, 1 done, 12 of 12 calls answered" in events[-1].text


async def test_cost_is_settled_at_half_the_price_and_the_budget_holds_beforehand(tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan()) as server:
        async with batched("server", server, tmp_path, prices=OWN, budget=(budget := Budget(max_cost=0.1))) as door:
            answers = await ask_all(door, tasks(8))
    answered = [answer for answer in answers if isinstance(answer, Answer)]
    assert 0 < len(answered) < 8
    assert all(isinstance(answer, BudgetExceeded) for answer in answers if answer not in answered)
    assert len(server.batches[0].calls) == len(answered)
    usage = door.ledger.usage()
    at_once = (usage.input_tokens * 10 + usage.output_tokens * 20) / 1e6
    assert usage.cost_usd == pytest.approx(at_once / 2)
    assert budget.spent.cost_usd == pytest.approx(at_once / 2)
    assert at_once / 2 < 0.1


async def test_a_repair_goes_into_the_next_batch_and_a_cached_reply_into_none(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache")
    with FakeServer({"*": GOOD}, faults=[Fault("wrong_schema", calls=(0,))], batches=BatchPlan()) as server:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            async with batched("server", server, tmp_path / name, cache=cache) as door:
                assert values(await ask_all(door, tasks(3))) == [GOOD] * 3
        assert [len(batch.calls) for batch in server.batches] == [3, 1]
    assert [record.origin for record in door.ledger.records] == ["cache"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("provider", THREE)
@pytest.mark.parametrize("ending", ["expired", "missing", "foreign"])
async def test_what_was_not_answered_goes_into_the_next_batch(provider: str, ending: Any, tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(endings=[ending])) as server:
        async with batched(provider, server, tmp_path) as door:
            assert values(await ask_all(door, tasks(6))) == [GOOD] * 6
    left = {"expired": 3, "missing": 1, "foreign": 0}[ending]
    assert [len(batch.calls) for batch in server.batches] == ([6, left] if left else [6])
    assert not server.log.repeated()
    assert door.ledger.usage().calls == 6


async def test_a_call_that_is_never_answered_fails_after_its_tries(tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("500")], batches=BatchPlan()) as server:
        async with batched("server", server, tmp_path) as door:
            answers = await ask_all(door, tasks(2))
    assert len(server.batches) == 3
    assert all(isinstance(answer, ModelUnavailable) and "HTTP 500" in str(answer) for answer in answers)


@pytest.mark.parametrize("provider", THREE)
async def test_an_error_of_the_call_itself_is_not_tried_again(provider: str, tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("400", calls=(1,))], batches=BatchPlan()) as server:
        async with batched(provider, server, tmp_path) as door:
            answers = await ask_all(door, tasks(3))
    assert len(server.batches) == 1
    assert sum(isinstance(answer, ModelRefused) and "HTTP 400" in str(answer) for answer in answers) == 1
    assert sum(isinstance(answer, Answer) for answer in answers) == 2


async def test_a_parameter_that_is_not_taken_is_left_out_of_the_next_batch(tmp_path: Path) -> None:
    fault = Fault("400", first=3, message="'temperature' is not supported with this model.")
    with FakeServer({"*": GOOD}, faults=[fault], batches=BatchPlan()) as server:
        async with batched("server", server, tmp_path) as door:
            assert values(await ask_all(door, tasks(3))) == [GOOD] * 3
    first, second = server.batches
    assert all("temperature" in body for body in first.calls.values())
    assert not any("temperature" in body for body in second.calls.values())


@pytest.mark.parametrize("provider", THREE)
async def test_a_cancelled_batch_keeps_what_was_answered_and_is_not_handed_in_again(
    provider: str, tmp_path: Path
) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(endings=["cancelled"])) as server:
        async with batched(provider, server, tmp_path) as door:
            answers = await ask_all(door, tasks(4))
        assert sum(isinstance(answer, Answer) for answer in answers) == 2
        assert sum(isinstance(answer, ModelUnavailable) and "cancelled" in str(answer) for answer in answers) == 2
        assert len(server.batches) == 1
        async with batched(provider, server, tmp_path) as door:
            assert values(await ask_all(door, tasks(4))) == [GOOD] * 4
    assert [len(batch.calls) for batch in server.batches] == [4, 2]
    assert not server.log.repeated()


@pytest.mark.parametrize("provider", ["openai", "google_genai"])
async def test_a_batch_that_is_turned_away_says_why(provider: str, tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(endings=["failed"])) as server:
        async with batched(provider, server, tmp_path) as door:
            answers = await ask_all(door, tasks(2))
    assert all(isinstance(answer, ModelRefused) and "turned away" in str(answer) for answer in answers)


async def test_an_account_that_is_full_is_given_smaller_batches(tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(endings=["full"])) as server:
        async with batched("openai", server, tmp_path) as door:
            assert values(await ask_all(door, tasks(8))) == [GOOD] * 8
    assert [len(batch.calls) for batch in server.batches] == [8, 4, 4]


@pytest.mark.parametrize("limit", ["requests", "bytes"])
async def test_batches_are_split_at_their_limits(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = QUICK
    if limit == "requests":
        settings = QUICK.model_copy(update={"most_requests": 4})
    else:
        monkeypatch.setattr("referee.llm.providers.openai.OpenAIBatches.most_bytes", int(4.5 * len(PAPER)))
    with FakeServer({"*": GOOD}, batches=BatchPlan()) as server:
        async with batched("openai", server, tmp_path, settings=settings) as door:
            assert values(await ask_all(door, tasks(10))) == [GOOD] * 10
    assert sorted(len(batch.calls) for batch in server.batches) == [2, 4, 4]
    once_each(server, 10)


@pytest.mark.parametrize("refuse", [["500"], ["429", "503"]])
async def test_a_provider_that_does_not_take_a_batch_at_first_gets_it_once(refuse: list[str], tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(refuse=refuse)) as server:
        async with batched("openai", server, tmp_path) as door:
            assert values(await ask_all(door, tasks(2))) == [GOOD] * 2
    once_each(server, 2)


@pytest.mark.parametrize(("refuse", "said"), [("401", "refused the key"), ("404", "not found")])
async def test_a_provider_that_refuses_batches_is_named_with_the_way_out(
    refuse: str, said: str, tmp_path: Path
) -> None:
    with FakeServer({"*": GOOD}, batches=BatchPlan(refuse=[refuse])) as server:
        async with batched("openai", server, tmp_path) as door:
            answers = await ask_all(door, tasks(2))
    assert all(isinstance(one, ModelRefused) and said in str(one) and "--batch" in str(one) for one in answers)
    assert not open_batches(tmp_path)


async def test_models_without_batches_are_refused_by_name() -> None:
    with FakeServer() as server:
        plain = load_settings(
            {"models.default": "fake", "models.base_url": server.base_url, "calls.batch": True}, env={}
        )
        with pytest.raises(SettingsError, match=r"fake@.*not to be had in batches: GET .*/batches gave HTTP 404"):
            await open_models(plain, silent)
    with pytest.raises(SettingsError, match=r"'local' is not to be had in batches.*--batch"):
        await open_models(load_settings({"calls.batch": True}, env={}), silent)


@pytest.mark.parametrize("provider", THREE)
async def test_a_batch_whose_id_was_not_noted_is_found_and_not_handed_in_again(provider: str, tmp_path: Path) -> None:
    """The process ends between the provider's acceptance and our note; another run's batch lies there as well."""
    with FakeServer({"*": GOOD}, batches=BatchPlan(delay_s=0.05, hold_s=30)) as server:
        async with batched(provider, server, tmp_path) as door:
            waiting = asyncio.ensure_future(ask_all(door, tasks(3)))
            await asyncio.to_thread(wait_for, lambda: server.batches)
            waiting.cancel()
        server.plan_batches(BatchPlan(delay_s=0.05))
        other = tmp_path / "other"
        other.mkdir()
        async with batched(provider, server, other) as door:
            await ask_all(door, [f"Another {task}" for task in tasks(3)])
        assert [batch.id for batch in open_batches(tmp_path)] == [""]
        async with batched(provider, server, tmp_path) as door:
            assert values(await ask_all(door, tasks(3))) == [GOOD] * 3
    once_each(server, 6)
    assert len(server.batches) == 2


async def test_replies_that_came_before_a_kill_are_taken_from_the_disk_once(tmp_path: Path) -> None:
    """Also those that were given up as unusable: asked anew, they are not replayed."""
    with FakeServer({"*": GOOD}, faults=[Fault("wrong_schema", first=3)], batches=BatchPlan()) as server:
        async with batched("server", server, tmp_path) as door:
            assert isinstance((await ask_all(door, tasks(1)))[0], ReplyInvalid)
            assert values(await ask_all(door, tasks(3)[1:])) == [GOOD] * 2
        lines = (tmp_path / "trace.jsonl").read_text().splitlines()
        (tmp_path / "trace.jsonl").write_text("\n".join(lines[:-1]) + "\n")
        async with batched("server", server, tmp_path) as door:
            assert values(await ask_all(door, tasks(3))) == [GOOD] * 3
        assert [len(batch.calls) for batch in server.batches] == [1, 1, 1, 2, 1]
        assert door.ledger.usage().calls == 6


async def test_a_call_that_nobody_waits_for_any_more_is_not_handed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, add = list[str](), Spool.add

    def noted(spool: Spool, digest: str, line: bytes) -> None:
        add(spool, digest, line)
        waiting.append(digest)

    monkeypatch.setattr(Spool, "add", noted)
    with FakeServer({"*": GOOD}, batches=BatchPlan()) as server:
        async with batched("server", server, tmp_path) as door:
            given_up = asyncio.ensure_future(ask_all(door, tasks(1)))
            others = asyncio.ensure_future(ask_all(door, [f"Another {task}" for task in tasks(2)]))
            await happened(lambda: len(waiting) == 3)
            given_up.cancel()
            assert values(await others) == [GOOD] * 2
    assert len(server.submitted) == 2
