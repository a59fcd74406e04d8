from __future__ import annotations

import asyncio
import gc
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import httpx
import pytest

from tests.cli.processes import wait_for
from tests.held import Held, InSteps
from tests.support import FakeServer, Fault

from .fake_clients import PROMPT, chat_body


def test_the_log_says_who_asked_what_when(client: httpx.Client, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with FakeServer(log_path=path) as server:
        for role, text in (("writer", "a b c"), ("judge", "a b c"), ("judge", "d")):
            client.post(f"{server.base_url}/chat/completions", json=chat_body(text), headers={"X-Referee-Role": role})
        assert len(path.read_text().splitlines()) == 3
        assert client.get(f"{server.url}/log").json() == [entry.as_dict() for entry in server.log]
    first, second, third = server.log
    assert (first.index, first.role, first.model, first.endpoint, first.status) == (0, "writer", "fake", "chat", 200)
    assert first.digest == second.digest != third.digest
    assert first.input_tokens == 5
    assert first.output_tokens > 0
    assert first.finished_s is not None
    assert first.started_s <= first.finished_s <= second.started_s
    assert abs(first.at - time.time()) < 60
    assert first.request is not None
    assert first.request.user == "a b c"
    assert [json.loads(line)["role"] for line in path.read_text().splitlines()] == ["writer", "judge", "judge"]
    assert [entry.index for entry in server.log.calls(role="judge", outcome="ok")] == [1, 2]


def test_replies_depend_on_the_request_and_the_seed_alone(client: httpx.Client) -> None:
    def said(seed: int, text: str) -> str:
        with FakeServer(seed=seed) as server:
            return client.post(f"{server.base_url}/chat/completions", json=chat_body(text)).text

    assert said(1, PROMPT) == said(1, PROMPT)
    assert len({said(seed, PROMPT) for seed in range(5)}) > 1


async def _ask(port: int, number: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(chat_body(f"call {number}")).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_hundreds_of_calls_wait_at_the_same_time() -> None:
    async with FakeServer(InSteps(None, 200)) as server:
        port = int(server.url.rsplit(":", 1)[1])
        answers = await asyncio.gather(*(_ask(port, number) for number in range(200)))
    assert all(answer.startswith(b"HTTP/1.1 200 OK") for answer in answers)
    assert server.log.peak_in_flight == 200
    assert server.log.in_flight == 0
    assert max(entry.in_flight for entry in server.log) == server.log.peak_in_flight


def test_one_connection_serves_many_calls_and_chunked_bodies(client: httpx.Client) -> None:
    body = json.dumps(chat_body()).encode()
    with FakeServer() as server:
        url = f"{server.base_url}/chat/completions"
        for _ in range(3):
            response = client.post(url, json=chat_body())
        chunked = client.post(url, content=iter([body[:10], body[10:]]), headers={"content-type": "application/json"})
    assert response.headers["connection"] == "keep-alive"
    assert chunked.json() == response.json()


def test_health_and_what_is_not_there(client: httpx.Client) -> None:
    with FakeServer() as server:
        assert client.get(f"{server.url}/health").json() == {"status": "ok"}
        assert client.get(f"{server.url}/v1/nothing").status_code == 404
        assert client.post(f"{server.url}/v1beta/models/g:countTokens", json={}).status_code == 404
        assert client.post(f"{server.base_url}/chat/completions", content=b"no json").status_code == 400
        assert client.post(f"{server.base_url}/chat/completions", json={"messages": [3]}).status_code == 400
    assert len(server.log) == 0


def test_nonsense_on_the_socket_does_not_stop_the_server(client: httpx.Client) -> None:
    with FakeServer() as server:
        port = int(server.url.rsplit(":", 1)[1])
        for nonsense in (b"\x16\x03\x01\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"", b"POST / HT"):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(nonsense)
        assert client.get(f"{server.url}/health").status_code == 200


def test_a_client_that_leaves_early_is_recorded() -> None:
    held = Held()
    with FakeServer(held) as server:
        with pytest.raises(httpx.ReadTimeout), httpx.Client(timeout=httpx.Timeout(60, read=0.05)) as hasty:
            hasty.post(f"{server.base_url}/chat/completions", json=chat_body())
        wait_for(lambda: len(server.log))
        assert server.log.entries[0].outcome == "pending"
        held.go.set()
        wait_for(lambda: not server.log.in_flight)
    assert server.log.entries[0].outcome == "client_left"


@pytest.mark.slow
def test_closing_in_the_middle_of_calls_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())  # another test's may end meanwhile
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with FakeServer(faults=[Fault("timeout", first=1, seconds=3600)], latency_s=3600) as server:
            port = int(server.url.rsplit(":", 1)[1])
            connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
            body = json.dumps(chat_body()).encode()
            for connection in connections[:2]:
                connection.sendall(
                    b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body
                )
            wait_for(lambda: server.log.in_flight == 2)
        server.close()
        for connection in connections:
            connection.close()
        gc.collect()
    assert set(threading.enumerate()) <= before
    assert sorted(entry.outcome for entry in server.log) == ["server_closed", "server_closed"]


def test_a_taken_port_is_an_error() -> None:
    with FakeServer() as server:
        port = int(server.url.rsplit(":", 1)[1])
        with pytest.raises(OSError, match="in use"):
            FakeServer(port=port).start()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text('[{"kind": "500", "first": 1}]')
    return path


def test_the_server_as_a_process_outlives_its_clients(client: httpx.Client, plan: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    command = [sys.executable, "-W", "error", "-m", "tests.support.server", "--faults", str(plan), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        where = json.loads(process.stdout.readline())
        url = f"{where['base_url']}/chat/completions"
        assert [client.post(url, json=chat_body()).status_code for _ in range(2)] == [500, 200]
        assert [json.loads(line)["outcome"] for line in log.read_text().splitlines()] == ["500", "ok"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert process.stderr.read() == ""
