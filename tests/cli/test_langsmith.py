"""LangSmith is switched on by its own variables, through LangChain; its key stays out of all that we write."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support import FakeServer

from .processes import environment

KEY = "lsv2-not-a-real-key-but-one-that-is-looked-for"
MODEL_KEY = "no-real-key-of-a-model-either"


class _Smith(ThreadingHTTPServer):
    """Takes what is sent to LangSmith and answers that all is well."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.taken: list[tuple[str, str, bytes]] = []

    @property
    def address(self) -> str:
        """What ``LANGSMITH_ENDPOINT`` is set to."""
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: _Smith

    def do_GET(self) -> None:
        self._say(b"{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.taken.append((self.path, self.headers.get("x-api-key", ""), body))
        self._say(b"{}")

    do_PATCH = do_POST

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test prints what it needs."""


@pytest.fixture
def smith() -> Iterator[_Smith]:
    """A server in the place of LangSmith."""
    with _Smith() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def review(folder: Path, paper: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Review a paper in a process of its own, whose environment has these variables too."""
    with FakeServer() as models:
        command = ["review", str(paper), "--venue", "neurips-2025", "--strategy", "single", "--model", "fake"]
        return subprocess.run(
            [sys.executable, "-m", "referee", *command, "--base-url", models.base_url, "--out", "run", "--yes"],
            cwd=folder,
            env={**environment(), **variables},
            capture_output=True,
            text=True,
            check=True,
        )


@pytest.mark.slow
def test_the_usual_variables_send_every_call_and_the_key_is_in_no_record(
    tmp_path: Path, examples: Path, smith: _Smith
) -> None:
    done = review(
        tmp_path,
        examples / "short.md",
        LANGSMITH_TRACING="true",
        LANGSMITH_ENDPOINT=smith.address,
        LANGSMITH_API_KEY=KEY,
        LANGSMITH_PROJECT="reviews",
        OPENAI_API_KEY=MODEL_KEY,
    )
    assert smith.taken
    assert {key for _, key, _ in smith.taken} == {KEY}
    sent = b"".join(body for _, _, body in smith.taken)
    assert b"ChatOpenAI" in sent
    assert b"reviews" in sent
    assert KEY.encode() not in sent
    assert MODEL_KEY.encode() not in sent
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert "run.json" in {path.name for path in written}
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in done.stdout + done.stderr


@pytest.mark.slow
def test_without_them_nothing_is_sent(tmp_path: Path, examples: Path, smith: _Smith) -> None:
    review(tmp_path, examples / "short.md", LANGSMITH_ENDPOINT=smith.address, LANGSMITH_API_KEY=KEY)
    assert smith.taken == []
