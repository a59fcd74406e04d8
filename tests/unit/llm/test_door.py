"""The door against a real server on this machine, over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from referee.errors import (
    BudgetExceeded,
    ContextTooLong,
    ModelRefused,
    ModelUnavailable,
    ReplyInvalid,
    SettingsError,
)
from referee.llm.cache import ReplyCache
from referee.llm.door import Door
from referee.llm.models import ROLES, Models, open_models
from referee.prompts import RenderedPrompt
from referee.runs import Budget, Event, Ledger, silent
from referee.runs.stopping import Stop, stoppable
from referee.settings import Settings, load_settings
from tests.held import Held, InSteps, happened
from tests.support import FakeServer, Fault


class Verdict(BaseModel):
    """A verdict."""

    reason: str = Field(max_length=40)
    score: Literal[1, 2, 3]


GOOD = {"reason": "because", "score": 2}


def prompt(text: str = "Judge this.") -> RenderedPrompt:
    return RenderedPrompt(id="test/verdict", version="v1", digest="d", system="You judge.", user=text)


def settings(server: FakeServer, **overrides: Any) -> Settings:
    given = {"models.default": "fake", "models.base_url": server.base_url, "calls.retry_wait_s": 0.001}
    return load_settings(given | {key.replace("__", "."): value for key, value in overrides.items()}, env={})


_opened: list[Models] = []


async def door(server: FakeServer, *, door_args: dict[str, Any] | None = None, **overrides: Any) -> Door:
    tree = settings(server, **overrides)
    models = await open_models(tree, silent)
    _opened.append(models)
    return Door(models, calls=tree.calls, **(door_args or {}))


async def ask(opened: Door, text: str = "Judge this.", **kwargs: Any) -> Verdict:
    answer = await opened.ask(prompt(text), Verdict, role="writer", max_output_tokens=200, **kwargs)
    return answer.value


@pytest.fixture(autouse=True)
async def _closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    while _opened:
        await _opened.pop().aclose()


async def test_a_valid_reply_comes_back_with_usage_and_leaves_a_trace() -> None:
    with FakeServer({"writer": GOOD}) as server:
        opened = await door(server)
        answer = await opened.ask(prompt(), Verdict, role="writer", max_output_tokens=200)
    assert answer.value == Verdict(**GOOD)
    assert answer.usage.calls == 1
    assert answer.usage.input_tokens > 0
    assert answer.usage.cost_usd is None
    (record,) = opened.ledger.records
    assert (record.role, record.prompt, record.status) == ("writer", "test/verdict@v1", "answered")
    assert record.messages == (("system", "You judge."), ("user", "Judge this."))


async def test_what_is_sent_names_schema_role_and_limit() -> None:
    with FakeServer({"writer": GOOD}) as server:
        await ask(await door(server, models__temperature=0.3))
        request = server.log.entries[0].request
    assert request is not None
    assert request.role == "writer"
    assert request.schema is not None
    assert request.schema["properties"]["score"]["enum"] == [1, 2, 3]
    assert request.schema["properties"]["reason"]["maxLength"] == 40
    assert request.params["max_tokens"] == 200
    assert request.params["temperature"] == 0.3


@pytest.mark.parametrize("kind", ["429", "500", "503", "drop", "partial"])
async def test_passing_troubles_are_tried_again(kind: Any) -> None:
    with FakeServer({"writer": GOOD}, faults=[Fault(kind, first=2)]) as server:
        events: list[Event] = []
        opened = await door(server, door_args={"progress": events.append})
        assert (await ask(opened)).score == 2
    assert len(server.log.entries) == 3
    assert opened.ledger.records[0].attempt == 3
    assert [e.kind for e in events].count("retry") == 2


async def test_a_lasting_trouble_ends_after_the_tries() -> None:
    with FakeServer(faults=[Fault("500")]) as server:
        opened = await door(server, calls__max_tries=3)
        with pytest.raises(ModelUnavailable, match="HTTP 500") as caught:
            await ask(opened)
    assert len(server.log.entries) == 3
    assert caught.value.retryable
    assert opened.ledger.records[0].status == "failed"


async def test_the_providers_own_pause_is_kept() -> None:
    pauses: list[float] = []

    class Noted(Stop):
        async def pause(self, seconds: float) -> None:
            pauses.append(seconds)

    fault = Fault("429", first=1, retry_after_s=0.4)
    with FakeServer({"writer": GOOD}, faults=[fault]) as server, stoppable(Noted(lambda: None)):
        await ask(await door(server))
    assert len(server.log.entries) == 2
    assert pauses == [0.4]


async def test_a_timeout_is_tried_again() -> None:
    with FakeServer({"writer": GOOD}, faults=[Fault("timeout", first=1, seconds=3600)]) as server:
        assert (await ask(await door(server, calls__timeout_s=1))).score == 2
    assert [server.log.entries[0].outcome, server.log.entries[-1].outcome] == ["timeout", "ok"]


async def test_a_wrong_key_is_not_tried_again_and_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", "wrong-key-of-mine")
    with FakeServer(expected_key="right") as server:
        opened = await door(server)
        with pytest.raises(ModelRefused) as caught:
            await ask(opened)
    assert len([e for e in server.log.entries if e.endpoint == "chat"]) == 1
    assert "REFEREE_API_KEY" in caught.value.hint
    assert "wrong-key-of-mine" not in str(caught.value) + opened.ledger.records[0].model_dump_json()


async def test_our_own_mistakes_are_tried_again_only_with_what_may_be_refused_replaced() -> None:
    with FakeServer(faults=[Fault("400", message="bad parameter")]) as server:
        with pytest.raises(ModelRefused, match="bad parameter"):
            await ask(await door(server))
        assert server.log.outcomes() == {"400": 5}, "as it is, without schema, system role, temperature, usual limit"


async def test_a_prompt_that_is_too_long_for_the_server_is_named() -> None:
    with FakeServer(faults=[Fault("context")]) as server:
        with pytest.raises(ContextTooLong):
            await ask(await door(server))
        assert len(server.log.entries) == 1


@pytest.mark.parametrize("kind", ["prose", "empty", "garbage", "truncated", "wrong_schema", "out_of_range", "nan"])
async def test_a_reply_that_does_not_fit_is_repaired(kind: Any) -> None:
    with FakeServer({"writer": GOOD}, faults=[Fault(kind, first=1)]) as server:
        opened = await door(server)
        assert (await ask(opened)).score == 2
    assert len(server.log.entries) == 2
    repair = server.log.entries[1].request
    assert repair is not None
    assert "write the whole reply again" in repair.messages[-1].text
    assert [r.repair_round for r in opened.ledger.records] == [0, 1]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": 7, "total_tokens": 2},
        {"prompt_tokens": 1.5, "completion_tokens": 7.2, "total_tokens": 8.7},
        {"prompt_tokens": float("nan"), "completion_tokens": float("inf"), "total_tokens": 7},
        {"prompt_tokens": "many", "completion_tokens": 7, "total_tokens": 7},
        {"prompt_tokens": 10**30, "completion_tokens": True, "total_tokens": 7},
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    ],
    ids=str,
)
async def test_counts_that_cannot_be_true_are_estimated(monkeypatch: pytest.MonkeyPatch, usage: dict[str, Any]) -> None:
    monkeypatch.setattr("tests.support.wire.openai.usage", lambda answer: usage)
    with FakeServer({"writer": GOOD}) as server:
        opened = await door(server)
        assert (await ask(opened)).score == 2
        assert len(server.log.entries) == 1
    used = opened.ledger.usage()
    assert used.calls == 1
    assert 0 < used.input_tokens < 1000
    assert 0 < used.output_tokens < 1000


async def test_a_repair_is_never_more_than_the_window_holds() -> None:
    with FakeServer({"writer": ["word " * 300, GOOD]}, context_tokens=700) as server:
        opened = await door(server)
        assert (await ask(opened)).score == 2
        repair = server.log.entries[1].request
    assert repair is not None
    assert repair.messages[-2].text == "(left out: it does not fit the window)"
    assert "write the whole reply again" in repair.messages[-1].text


@pytest.mark.parametrize("kind", ["prose", "empty", "out_of_range", "nan"])
async def test_a_model_that_never_fits_ends_after_two_repairs(kind: Any) -> None:
    with FakeServer({"writer": GOOD}, faults=[Fault(kind)]) as server:
        opened = await door(server)
        with pytest.raises(ReplyInvalid) as caught:
            await ask(opened)
    assert len(server.log.entries) == 3
    assert "test/verdict" in caught.value.message
    assert "fake@" in caught.value.message
    assert caught.value.usage["calls"] == 3


async def test_a_string_that_is_only_too_long_is_cut_on_the_record_without_a_repair() -> None:
    with FakeServer({"writer": {"reason": "x" * 90, "score": 1}}) as server:
        opened = await door(server)
        answer = await opened.ask(prompt(), Verdict, role="writer", max_output_tokens=200)
    assert len(server.log.entries) == 1
    assert answer.value.reason == "x" * 40
    assert any("cut from 90 to 40" in note for note in answer.notes)


async def test_json_in_a_fence_or_in_prose_is_taken() -> None:
    fenced = 'Sure!\n```json\n{"reason": "r", "score": 3}\n```'
    inline = 'My verdict: {"reason": "r", "score": 1} - done.'
    with FakeServer({"writer": [fenced, inline]}) as server:
        opened = await door(server)
        assert (await ask(opened, "a")).score == 3
        assert (await ask(opened, "b")).score == 1


async def test_a_server_without_structured_output_gets_the_schema_in_the_prompt() -> None:
    fault = Fault("400", first=1, message="response_format json_schema is not supported")
    with FakeServer({"writer": GOOD}, faults=[fault]) as server:
        opened = await door(server)
        answer = await opened.ask(prompt(), Verdict, role="writer", max_output_tokens=200)
        await ask(opened, "second")
    sent = server.log.entries[1].request
    assert sent is not None
    assert sent.schema_name == "", "no response format, the schema stands in the prompt"
    assert '"score"' in sent.messages[0].text
    assert any("response_format" in note for note in answer.notes)
    assert len(server.log.entries) == 3, "what was refused once is not tried again"


async def test_a_model_without_temperature_is_asked_without_it() -> None:
    fault = Fault("400", first=1, message="Unsupported value: 'temperature' does not support 0")
    with FakeServer({"writer": GOOD}, faults=[fault]) as server:
        await ask(await door(server))
    sent = server.log.entries[1].request
    assert sent is not None
    assert "temperature" not in sent.params


async def test_the_ledger_answers_a_resumed_run_including_its_repairs(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with FakeServer({"writer": GOOD}, faults=[Fault("prose", first=1)]) as server:
        await ask(await door(server, door_args={"ledger": Ledger(trace)}))
        assert len(server.log.entries) == 2
        resumed = await door(server, door_args={"ledger": Ledger(trace)})
        assert (await ask(resumed)).score == 2
        assert len(server.log.entries) == 2
        assert resumed.ledger.usage().calls == 2


async def test_a_run_killed_between_reply_and_repair_pays_only_the_repair(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with FakeServer({"writer": GOOD}, faults=[Fault("prose", first=1)]) as server:
        await ask(await door(server, door_args={"ledger": Ledger(trace)}))
        trace.write_text(trace.read_text().splitlines(keepends=True)[0])
        await ask(await door(server, door_args={"ledger": Ledger(trace)}))
    digests = [entry.digest for entry in server.log.entries]
    assert len(digests) == 3
    assert digests[2] == digests[1] != digests[0]


async def test_the_cache_works_across_runs_and_can_be_off(tmp_path: Path) -> None:
    with FakeServer({"writer": GOOD}) as server:
        for _ in range(2):
            opened = await door(server, door_args={"cache": ReplyCache(tmp_path / "cache")})
            await ask(opened)
        assert len(server.log.entries) == 1
        assert opened.ledger.usage().model_dump() == {
            "calls": 0,
            "reused_calls": 1,
            "input_tokens": 0,
            "output_tokens": 0,
            "cached_tokens": 0,
            "cache_write_tokens": 0,
            "cost_usd": 0.0,
        }
        await ask(await door(server))
        await ask(opened, sample=1)
        assert len(server.log.entries) == 3


async def test_a_damaged_cache_entry_is_a_miss(tmp_path: Path) -> None:
    with FakeServer({"writer": GOOD}) as server:
        await ask(await door(server, door_args={"cache": ReplyCache(tmp_path)}))
        (entry,) = tmp_path.rglob("*.json")
        entry.write_text('{"reply": ')
        assert (await ask(await door(server, door_args={"cache": ReplyCache(tmp_path)}))).score == 2
    assert len(server.log.entries) == 2


async def test_concurrency_is_limited_and_used() -> None:
    with FakeServer(InSteps({"writer": GOOD}, 4, 4, 4, 4)) as server:
        opened = await door(server, calls__concurrency=4)
        await asyncio.gather(*(ask(opened, f"question {n}") for n in range(16)))
    assert max(entry.in_flight for entry in server.log.entries) == 4


async def test_a_budget_is_not_passed_by_calls_in_flight() -> None:
    with FakeServer({"writer": GOOD}, latency_s=0.05) as server:
        opened = await door(server, door_args={"budget": Budget(max_tokens=1000)})
        results = await asyncio.gather(*(ask(opened, f"q {n}") for n in range(8)), return_exceptions=True)
    refused = [r for r in results if isinstance(r, BudgetExceeded)]
    assert refused
    assert len(server.log.entries) + len(refused) == 8
    assert opened.ledger.usage().total_tokens <= 1000


async def test_own_prices_give_a_cost() -> None:
    with FakeServer({"writer": GOOD}) as server:
        opened = await door(server, models__prices={"fake": (1.0, 2.0)}, budget__max_cost=1.0)
        answer = await opened.ask(prompt(), Verdict, role="writer", max_output_tokens=200)
    expected = (answer.usage.input_tokens * 1.0 + answer.usage.output_tokens * 2.0) / 1e6
    assert answer.usage.cost_usd == pytest.approx(expected)


async def test_no_cost_limit_without_a_price() -> None:
    with FakeServer() as server, pytest.raises(SettingsError, match=r"price of .* is unknown"):
        await open_models(settings(server, budget__max_cost=1.0), silent)


async def test_a_refused_connection_is_named_at_once() -> None:
    tree = load_settings({"models.default": "m", "models.base_url": "http://127.0.0.1:9/v1"}, env={})
    with pytest.raises(ModelUnavailable, match=r"no connection to 'http://127.0.0.1:9/v1'"):
        await open_models(tree, silent)


async def test_a_servers_context_is_asked_for() -> None:
    with FakeServer(context_tokens=5000) as server:
        models = await open_models(settings(server), silent)
        assert models["writer"].context_tokens == 5000
    with FakeServer() as server:
        models = await open_models(settings(server), silent)
        assert "is unknown" in models["writer"].notes[0]


async def test_cancelling_a_call_frees_its_reservation() -> None:
    budget = Budget(max_tokens=1000)
    with FakeServer(Held({"writer": GOOD})) as server:
        opened = await door(server, door_args={"budget": budget})
        task = asyncio.create_task(ask(opened))
        await happened(lambda: len(server.log))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    budget.reserve(1000, 0.0)


async def test_roles_with_the_same_model_share_it() -> None:
    with FakeServer() as server:
        models = await open_models(settings(server, models__roles={"writer": "fake"}), silent)
        assert models.ids() == dict.fromkeys(ROLES, f"fake@{server.base_url.split('/')[2]}")
        assert len({id(model) for model in models.by_role.values()}) == 1
