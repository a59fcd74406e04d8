from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.errors import DataError
from referee.llm import tokens
from referee.llm.tokens import count_tokens, encoding_name


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("openai:gpt-4", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("claude-sonnet", "o200k_base"),
        ("gpt2", "o200k_base"),
        ("davinci", "o200k_base"),
    ],
)
def test_encodings(model: str, name: str) -> None:
    assert encoding_name(model) == name


def test_counts() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == count_tokens("hello world", "gpt-4") == 2
    assert count_tokens("<|endoftext|>") > 1, "a special token inside a paper is plain text"


OFFLINE = """
import os, socket
def refuse(*a): raise OSError('network')
socket.socket.connect = refuse; socket.getaddrinfo = refuse
from referee.llm.tokens import count_tokens
before = dict(os.environ)
print(count_tokens('hello world'), count_tokens('hello', 'gpt-4'), dict(os.environ) == before)
import tiktoken; print(len(tiktoken.encoding_for_model('gpt-4o').encode('hello')))
"""


@pytest.mark.slow
def test_the_first_count_needs_no_network_and_writes_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "REFEREE_CACHE_DIR": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=300, env=environment
    )
    assert ended.stdout.split() == ["2", "1", "True", "1"], ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [None, b"", b"no archive", gzip.compress(b"aGVsbG8= 0\n"), gzip.compress(b"a" * 99)[:-9]]
)
def test_a_damaged_vocabulary_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None) -> None:
    class Installed:
        def locate_file(self, path: str) -> Path:
            return tmp_path / Path(path).name

    if content is not None:
        (tmp_path / "o200k_base.tiktoken.gz").write_bytes(content)
    monkeypatch.setattr(tokens, "distribution", lambda _: Installed())
    with pytest.raises(DataError, match=r"o200k_base\.tiktoken\.gz' is missing or damaged") as caught:
        tokens._vocabulary("https://host.example/encodings/o200k_base.tiktoken", "0" * 64)
    assert "bpe-openai" in caught.value.hint
