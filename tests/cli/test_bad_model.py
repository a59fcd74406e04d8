"""A model or server that misbehaves: a clear error, a run folder that says so, and a run that can be continued."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support import ChatRequest, FakeServer, Fault

from .command import Referee
from .refusals import assert_failed_run, assert_finished, assert_refused, on, record, trace

VENUE = ("--venue", "neurips-2025", "--strategy", "single")
RUN = Path("run")


def rated(value: object) -> Callable[[ChatRequest], str]:
    """A good reply but for its overall rating, on a form from 1 to 6."""

    def reply(request: ChatRequest) -> str:
        return json.dumps(request.instance(rating={"reason": "It is so.", "evidence": [], "value": value}))

    return reply


# What the server says, the calls it gets, and what the user is told.
MISBEHAVIOUR: dict[str, tuple[Any, int, tuple[str, ...]]] = {
    "prose": (Fault("prose"), 3, ("was not a JSON object", "stronger model")),
    "empty for ever": (Fault("empty"), 3, ("was empty", "stronger model")),
    "a refusal": (Fault("refusal"), 1, ("the model declined: I cannot help with that", "not asked again")),
    "a score of 11": (rated(11), 3, ("rating.value", "given: 11", "'6: Strong Accept'")),
    "NaN": (rated(float("nan")), 3, ("NaN", "not a JSON number")),
    "infinity": (
        lambda request: rated(0)(request).replace('"value": 0', '"value": 1e999'),
        3,
        ("a number that is too large",),
    ),
    "a list": ("[]", 3, ("the reply", "given: []")),
    "half an object": (Fault("truncated"), 3, ("no valid JSON",)),
    "a reply at the token limit": (Fault("length"), 1, ("cut off at the token limit (length)", "reasons less")),
    "brackets without end": ("[" * 50_000, 3, ("nested too deeply",)),
    "a reply without end": ("[" * 100_000, 1, ("cut off at the token limit: more came", "reasons less")),
    "a number without end": ('{"rating": %s}' % ("1" * 5000), 3, ("too many digits",)),
    "half a surrogate pair": (rated("\ud800"), 3, ("rating.value",)),
    "a rejected request": (Fault("400"), 5, ("rejected the request", "HTTP 400", "not tried again")),
    "too long for the server": (Fault("context"), 1, ("4096 tokens", "REFEREE_MODELS__CONTEXT_TOKENS")),
    "errors of its own": (Fault("500"), 6, ("HTTP 500", "Try again later")),
    "closed connections": (Fault("drop"), 6, ("did not answer", "Try again later")),
    "silence": (Fault("timeout"), 6, ("did not answer in time", "calls.timeout_s")),
}


@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_a_run_that_failed_says_why_and_can_be_continued(
    referee: Referee, paper: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    said_by_server, calls, told = MISBEHAVIOUR[kind]
    monkeypatch.setenv("REFEREE_CALLS__RETRY_WAIT_S", "0")
    monkeypatch.setenv("REFEREE_CALLS__TIMEOUT_S", "0.5" if kind == "silence" else "20")
    server.script.entries["writer"] = said_by_server

    done = referee("review", paper, *VENUE, "--out", RUN, *on(server))
    assert_refused(done, "'fake@", *told, "--resume run")
    assert len(server.log) == calls
    assert_failed_run(RUN, told[0])
    answered = [call for call in trace(RUN) if call.status == "answered"]
    ended = kind in ("a refusal", "a reply at the token limit", "a reply without end")
    assert len(answered) == (calls if calls == 3 or ended else 0), "each reply that was paid is kept"
    assert record(RUN).usage.calls == len(answered)

    del server.script.entries["writer"]
    monkeypatch.delenv("REFEREE_CALLS__TIMEOUT_S")
    done = referee("review", paper, *VENUE, "--resume", RUN, *on(server))
    assert done.code == 0, done.err
    assert len(server.log) == calls + 1
    assert_finished(RUN)
    assert record(RUN).error == ""


def test_a_wrong_key_is_not_tried_again(referee: Referee, paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", "a-wrong-key")
    with FakeServer(expected_key="the-right-key", context_tokens=32_000) as server:
        done = referee("review", paper, *VENUE, "--out", RUN, *on(server))
        assert_refused(done, "'fake@", "refused the key", "REFEREE_API_KEY", "not tried again", "--resume run")
        assert len(server.log) == 1
        assert_failed_run(RUN, "refused the key")
        monkeypatch.setenv("REFEREE_API_KEY", "the-right-key")
        done = referee("review", paper, *VENUE, "--resume", RUN, *on(server))
    assert done.code == 0, done.err
    assert len(server.log) == 2
    assert_finished(RUN)


def test_an_address_without_its_path(referee: Referee, paper: Path, server: FakeServer) -> None:
    done = referee("review", paper, *VENUE, "--out", RUN, "--model", "fake", "--base-url", server.url, "--no-cache")
    assert_refused(done, "not found", "HTTP 404", "--base-url")
    assert "try 1" not in done.err


BODIES = {
    "a web page": (b"<!doctype html><title>Hello</title>", "text/html"),
    "an empty object": (b"{}", "application/json"),
    "a list": (b"[]", "application/json"),
    "an error with status 200": (b'{"error": {"message": "no such model"}}', "application/json"),
    "no choices": (b'{"id": "1", "object": "chat.completion", "model": "m", "choices": []}', "application/json"),
    "bytes": (bytes(range(256)), "application/json"),
}


@pytest.fixture
def stranger() -> Iterator[type[BaseHTTPRequestHandler]]:
    """A server that answers everything with one body."""

    class Stranger(BaseHTTPRequestHandler):
        body, kind, address, posts = b"", "", "", 0

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", self.kind)
            self.send_header("content-length", str(len(self.body)))
            self.end_headers()
            self.wfile.write(self.body)

        def do_POST(self) -> None:
            Stranger.posts += 1
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        Stranger.address = f"http://127.0.0.1:{server.server_port}/v1"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield Stranger
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("kind", BODIES)
def test_a_server_that_is_no_chat_server(referee: Referee, paper: Path, stranger: Any, kind: str) -> None:
    stranger.body, stranger.kind = BODIES[kind]
    done = referee("review", paper, *VENUE, "--out", RUN, "--model", "m", "--base-url", stranger.address, "--no-cache")
    assert_refused(done, "'m@127.0.0.1", "not as a chat server does", "--base-url", "/v1")
    assert stranger.posts == 3, "a gateway's page may pass"
    assert_failed_run(RUN, "not as a chat server does")


def test_half_a_surrogate_pair_outside_the_json_is_written_down(referee: Referee, paper: Path, stranger: Any) -> None:
    text = '{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":'
    stranger.body = (text + r'{"role":"assistant","content":"No \ud800 JSON"}}]}').encode()
    stranger.kind = "application/json"
    done = referee("review", paper, *VENUE, "--out", RUN, "--model", "m", "--base-url", stranger.address, "--no-cache")
    assert_refused(done, "was not a JSON object")
    assert stranger.posts == 3
    assert_failed_run(RUN, "was not a JSON object")


def test_what_the_model_writes_does_not_steer_the_terminal(referee: Referee, paper: Path, server: FakeServer) -> None:
    server.script.entries["writer"] = lambda request: json.dumps(request.instance(summary="\x1b[31mRed\x07\x00 alert."))
    done = referee("review", paper, *VENUE, "--out", RUN, *on(server))
    assert done.code == 0, done.err
    shown = done.out + done.err + (RUN / "review.md").read_text()
    assert "alert" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x00"}


def test_a_run_folder_that_vanishes_during_a_call(referee: Referee, paper: Path, server: FakeServer) -> None:
    def reply(request: ChatRequest) -> Any:
        shutil.rmtree(RUN)
        return request.instance()

    server.script.entries["writer"] = reply
    done = referee("review", paper, *VENUE, "--out", RUN, *on(server))
    assert_refused(done, "'run'", "can no longer be used", "No such file", "Start a new run")
    assert "--resume" not in done.err


def test_a_trace_that_cannot_be_written_stops_the_run(referee: Referee, paper: Path, server: FakeServer) -> None:
    def reply(request: ChatRequest) -> Any:
        (RUN / "trace.jsonl").mkdir()
        return request.instance()

    server.script.entries["writer"] = reply
    done = referee("review", paper, *VENUE, "--out", RUN, *on(server))
    assert_refused(done, "'run/trace.jsonl'", "Is a directory", "--resume run")
    assert record(RUN).status == "failed"
    assert not list(RUN.glob("review.*"))
    (RUN / "trace.jsonl").rmdir()
    del server.script.entries["writer"]
    done = referee("review", paper, *VENUE, "--resume", RUN, *on(server))
    assert done.code == 0, done.err
    assert_finished(RUN)
