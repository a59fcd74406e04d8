"""Papers read by the test's own process, or once for all of its tests.

The child that reads them for a user imports its readers anew for each paper, which is over a second of computing. What
that process promises is tested in ``tests/unit/papers/test_isolated.py``, and by the app and the commands that tests
start as processes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

import pytest

from referee.errors import PaperParseError
from referee.papers import child, isolated, load_paper
from referee.schemas.paper import Paper

# Converters are not made for threads.
_ONE_AT_A_TIME = Lock()
_MOST_BYTES = 4_000_000


@dataclass(frozen=True)
class _Read:
    """A reply, with the pictures that were drawn for it, by name."""

    reply: bytes
    files: dict[str, bytes]


_READ: dict[str, _Read] = {}


@cache
def read_once(path: Path) -> Paper:
    """A paper of the examples or of the shared data, which no test changes."""
    return load_paper(path)


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends, no process is started to read a paper or to draw its pages."""
    monkeypatch.setattr(isolated.Child, "run", _run)


def _run(reading: isolated.Child) -> isolated.Ending:
    request = reading._request
    drawn = next((Path(str(request[kind])) for kind in ("pages", "figures") if request.get(kind)), None)
    key = _key(request)
    with _ONE_AT_A_TIME:
        try:
            known = _READ.get(key)
            if known is None:
                known = _Read(child.PAPER + child._read(request).model_dump_json().encode(), _files(drawn))
            else:
                _write(known.files, drawn)
        except PaperParseError as error:
            told = {"message": error.message, "hint": error.hint, "ids": error.ids}
            known = _Read(child.REFUSED + json.dumps(told).encode(), {})
            key = key if drawn is None else ""
        except Exception as error:
            return isolated.Ending(b"", f"{type(error).__name__}: {error}", 1, timed_out=False, too_long=False)
        if key and sum(map(len, known.files.values())) < _MOST_BYTES:
            _READ[key] = known
    return isolated.Ending(known.reply, "", 0, timed_out=False, too_long=False)


def _files(folder: Path | None) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder and folder.is_dir() else {}


def _write(files: dict[str, bytes], folder: Path | None) -> None:
    for name, data in files.items():
        assert folder is not None
        (folder / name).write_bytes(data)


def _key(request: dict[str, object]) -> str:
    """What decides the reply and the pictures; empty where nothing is kept: for a folder, a copy, and old pictures."""
    path = Path(str(request["path"]))
    pictures = [Path(str(request[kind])) for kind in ("pages", "figures") if request.get(kind)]
    if (
        not path.is_file()
        or request.get("marks")
        or any(folder.is_dir() and any(folder.iterdir()) for folder in pictures)
    ):
        return ""
    rest = {name: bool(value) if name in ("pages", "figures", "paper") else value for name, value in request.items()}
    known = Path(str(request["paper"])).read_bytes() if request.get("paper") else b""
    told = json.dumps({**rest, "path": path.name}).encode()
    return hashlib.sha256(b"\0".join((told, known, path.read_bytes()))).hexdigest()
