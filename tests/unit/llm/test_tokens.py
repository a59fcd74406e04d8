from __future__ import annotations

import errno
import hashlib
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


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in tokens.TIKTOKEN_VARIABLES}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=kept | environment
    )


OFFLINE = """
import os, socket
def refuse(*a): raise OSError('network')
socket.socket.connect = refuse; socket.getaddrinfo = refuse
from referee.llm.tokens import count_tokens
before = dict(os.environ)
print(count_tokens('hello world'), count_tokens('hello', 'gpt-4'), dict(os.environ) == before)
import tiktoken; print(len(tiktoken.encoding_for_model('gpt-4o').encode('hello')))
"""


def test_first_count_needs_no_network_and_leaves_the_environment(tmp_path: Path) -> None:
    ended = run(OFFLINE, REFEREE_CACHE_DIR=str(tmp_path))
    assert ended.stdout.split() == ["2", "1", "True", "1"], ended.stderr
    names = {path.name for path in (tmp_path / "tiktoken").iterdir()}
    assert len(names) == 2
    assert all(len(name) == hashlib.sha1(usedforsecurity=False).digest_size * 2 for name in names)


@pytest.mark.parametrize("variable", tokens.TIKTOKEN_VARIABLES)
def test_a_folder_set_by_the_user_is_used(tmp_path: Path, variable: str) -> None:
    ended = run(OFFLINE, **{variable: str(tmp_path / "mine"), "REFEREE_CACHE_DIR": str(tmp_path / "ours")})
    assert ended.stdout.startswith("2 1 True"), ended.stderr
    assert len(list((tmp_path / "mine").iterdir())) == 2
    assert not (tmp_path / "ours").exists()


def test_a_folder_that_cannot_be_written_gives_way_to_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "x"))
    with tokens._seeded_folder() as folder:
        assert folder != tmp_path / "file" / "x"
        assert len(list(folder.iterdir())) == 2
    assert not folder.exists()


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tokens, "_seed_all", full)
    with pytest.raises(DataError, match="vocabulary cannot be stored"), tokens._seeded_folder():
        pass


def test_a_damaged_vocabulary_is_put_in_place_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with tokens._seeded_folder() as folder:
        one = sorted(folder.iterdir())[0]
    whole = one.read_bytes()
    one.write_bytes(whole[:1000])
    with tokens._seeded_folder():
        assert one.read_bytes() == whole
