from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.processes import wait_for
from tests.support import ChatMessage, ChatRequest, FakeServer, Fault, FaultPlan
from tests.support.validity import is_valid

from .fake_clients import PAPER, Weakness, chat_body

SCHEMA = Weakness.model_json_schema()


def _post(client: httpx.Client, server: FakeServer, text: str = "hello", role: str = "", **more: Any) -> httpx.Response:
    headers = {"x-referee-role": role} if role else {}
    return client.post(f"{server.base_url}/chat/completions", json=chat_body(text, SCHEMA, **more), headers=headers)


def _content(response: httpx.Response) -> Any:
    return response.json()["choices"][0]["message"]["content"]


def test_retry_after_is_sent_only_when_asked_for(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("429", first=1, retry_after_s=2), Fault("429", calls=(1,))]) as server:
        first, second, third = (_post(client, server) for _ in range(3))
    assert (first.status_code, first.headers["retry-after"]) == (429, "2")
    assert (second.status_code, "retry-after" in second.headers) == (429, False)
    assert third.status_code == 200
    assert [entry.outcome for entry in server.log] == ["429", "429", "ok"]


def test_an_error_carries_the_message_of_its_fault(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("400", message="Unsupported parameter: 'temperature'")]) as server:
        assert "Unsupported parameter" in _post(client, server).json()["error"]["message"]


def test_the_first_calls_of_a_role_fail_and_others_do_not(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("500", role="judge", first=2)]) as server:
        roles = ["judge", "writer", "judge", "judge"]
        assert [_post(client, server, role=role).status_code for role in roles] == [500, 200, 500, 200]


def test_each_request_fails_on_its_first_tries(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("500", first_tries=1)]) as server:
        assert [_post(client, server, text).status_code for text in ("a", "b", "a", "b")] == [500, 500, 200, 200]


def test_a_fault_for_ever(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("503")]) as server:
        assert {_post(client, server).status_code for _ in range(5)} == {503}


def test_probabilities_are_seeded_and_do_not_depend_on_order() -> None:
    requests = [ChatRequest("openai", "m", (ChatMessage("user", str(i)),)) for i in range(200)]

    def failed(order: list[ChatRequest]) -> set[str]:
        plan = FaultPlan([Fault("500", probability=0.3)], seed=5)
        return {request.digest for request in order if plan.choose(request)}

    assert failed(requests) == failed(requests[::-1])
    assert 30 < len(failed(requests)) < 90


def test_a_timeout_ends_when_the_client_leaves(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("timeout", first=1)]) as server:
        with pytest.raises(httpx.ReadTimeout):
            client.post(f"{server.base_url}/chat/completions", json=chat_body(), timeout=httpx.Timeout(60, read=0.1))
        wait_for(lambda: server.log.outcomes() == {"timeout": 1})
        assert _post(client, server).status_code == 200


def test_a_timeout_is_bounded(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("timeout", seconds=0.05)]) as server, pytest.raises(httpx.RemoteProtocolError):
        _post(client, server)
    assert server.log.entries[0].status is None


def test_dropped_and_cut_connections(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("drop", first=1), Fault("partial", calls=(1,))]) as server:
        for _ in range(2):
            with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
                _post(client, server)
        assert _post(client, server).status_code == 200
    assert [entry.outcome for entry in server.log] == ["drop", "partial", "ok"]


def test_slow_replies_are_good_replies(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("slow", seconds=0.15)]) as server:
        assert is_valid(json.loads(_content(_post(client, server))), SCHEMA)
    entry = server.log.entries[0]
    assert entry.outcome == "slow"
    assert entry.finished_s is not None
    assert entry.finished_s - entry.started_s >= 0.15


@pytest.mark.parametrize("kind", ["garbage", "prose", "truncated", "length"])
def test_replies_that_are_no_json(client: httpx.Client, kind: Any) -> None:
    with FakeServer(faults=[Fault(kind)]) as server:
        response = _post(client, server)
    with pytest.raises(ValueError):
        json.loads(_content(response))
    assert response.json()["choices"][0]["finish_reason"] == ("length" if kind == "length" else "stop")


def test_empty_replies_and_refusals(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("empty", first=1), Fault("refusal")]) as server:
        empty, refused = _post(client, server), _post(client, server)
    assert _content(empty) == ""
    assert refused.json()["choices"][0]["message"]["refusal"]


@pytest.mark.parametrize("kind", ["wrong_schema", "out_of_range", "too_long"])
def test_well_formed_replies_that_do_not_fit(client: httpx.Client, kind: Any) -> None:
    with FakeServer(faults=[Fault(kind)]) as server:
        value = json.loads(_content(_post(client, server, f"<paper>{PAPER}</paper>")))
    assert not is_valid(value, SCHEMA)
    assert kind != "out_of_range" or value["score"] == 11
    assert kind != "too_long" or len(value["claim"]) > 80


def test_nan(client: httpx.Client) -> None:
    with FakeServer(faults=[Fault("nan")]) as server:
        content = _content(_post(client, server))
    assert "NaN" in content
    assert math.isnan(json.loads(content)["score"])


@pytest.mark.parametrize("kind", ["empty", "garbage", "prose", "truncated", "wrong_schema", "nan"])
@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_content_faults_fit_the_other_wire_formats(client: httpx.Client, provider: str, kind: Any) -> None:
    messages = [{"role": "user", "content": PAPER}]
    tool = {"name": "reply", "input_schema": SCHEMA}
    anthropic = {"model": "c", "messages": messages, "tools": [tool], "tool_choice": {"type": "tool", "name": "reply"}}
    config = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    google = {"contents": [{"role": "user", "parts": [{"text": PAPER}]}], "generationConfig": config}
    with FakeServer(faults=[Fault(kind)]) as server:
        path, body = {
            "anthropic": ("/v1/messages", anthropic),
            "google": ("/v1beta/models/g:generateContent", google),
        }[provider]
        response = client.post(f"{server.url}{path}", json=body)
    assert response.status_code == 200
    assert server.log.outcomes() == {kind: 1}


def test_a_plan_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"seed": 3, "faults": [{"kind": "429", "role": "judge", "calls": [0, 2]}]}')
    plan = FaultPlan.load(file)
    assert (plan.seed, plan.faults) == (3, (Fault("429", role="judge", calls=(0, 2)),))
    file.write_text('[{"kind": "429", "rule": "judge"}]')
    with pytest.raises(ValueError, match="rule"):
        FaultPlan.load(file)


@pytest.mark.parametrize("wrong", [{"kind": "409"}, {"kind": "429", "probability": 2}])
def test_a_wrong_fault_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fault"):
        Fault(**wrong)
