"""Papers read by the test's own process, or once for all of its tests.

The child that reads them for a user imports its readers anew for each paper, which is over a second of computing. What
that process promises is tested in ``tests/unit/papers/test_isolated.py``, and by the app and the commands that tests
start as processes.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from threading import Lock

import pytest

from referee.errors import PaperParseError
from referee.papers import child, isolated, load_paper
from referee.schemas.paper import Paper

# Converters are not made for threads.
_ONE_AT_A_TIME = Lock()
_READ: dict[str, bytes] = {}


@cache
def read_once(path: Path) -> Paper:
    """A paper of the examples or of the shared data, which no test changes."""
    return load_paper(path)


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends, no process is started to read a paper or to draw its pages."""
    monkeypatch.setattr(isolated.Child, "run", _run)


def _run(reading: isolated.Child) -> isolated.Ending:
    request = reading._request
    key = _key(request) if {"pages", "figures", "marks"}.isdisjoint(request) else ""
    with _ONE_AT_A_TIME:
        try:
            reply = _READ.get(key) or child.PAPER + child._read(request).model_dump_json().encode()
        except PaperParseError as error:
            told = {"message": error.message, "hint": error.hint, "ids": error.ids}
            reply = child.REFUSED + json.dumps(told).encode()
        except Exception as error:
            return isolated.Ending(b"", f"{type(error).__name__}: {error}", 1, timed_out=False, too_long=False)
        if key:
            _READ[key] = reply
    return isolated.Ending(reply, "", 0, timed_out=False, too_long=False)


def _key(request: dict[str, object]) -> str:
    """What decides the reply; empty for a folder."""
    path = Path(str(request["path"]))
    if not path.is_file():
        return ""
    rest = {**request, "path": path.name}
    return hashlib.sha256(json.dumps(rest).encode() + b"\0" + path.read_bytes()).hexdigest()
