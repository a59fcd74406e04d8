"""The process that reads one untrusted file: enter the limits, read, give paper or refusal as JSON, end."""

from __future__ import annotations

import faulthandler
import json
import math
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from referee.errors import PaperParseError

_ALARM_GRACE_S = 10
_MOST_OPEN_FILES = 64


@dataclass(frozen=True)
class ChildLimits:
    """Limits of one reading process.

    Attributes:
        seconds: Wall time, and as much processor time.
        memory_mb: Address space, in MiB; the interpreter and the converters alone take about 350 of it.
        reply_bytes: The paper as JSON, which is all that the parent takes from the child.
        file_bytes: One file it writes. Only a PDF's copy without hidden text is written, into a folder of its own,
            because the converter reads nothing but files.
    """

    seconds: float = 120.0
    memory_mb: int = 2048
    reply_bytes: int = 32 * 2**20
    file_bytes: int = 256 * 2**20


def enter(limits: ChildLimits) -> None:
    """Put this process under the limits; there is no way back.

    The alarm ends a process whose parent is gone and that only waits: processor time alone would never do that.

    Raises:
        ImportError, OSError, ValueError: The system cannot hold the limits.
    """
    import resource

    bounds = {
        resource.RLIMIT_AS: limits.memory_mb * 2**20,
        resource.RLIMIT_CPU: math.ceil(limits.seconds),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: _MOST_OPEN_FILES,
    }
    for kind, most in bounds.items():
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        # The soft limit of processor time sends a signal that can be told from others; the hard one comes after it.
        later = most + 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else most
        resource.setrlimit(kind, (most, later))
    signal.alarm(math.ceil(limits.seconds) + _ALARM_GRACE_S)


PAPER = b"P"
REFUSED = b"R"


def main() -> None:
    """Run with one argument: path and limits as JSON. The first byte written says what the rest is.

    Errors that are no refusal are left to end the process: their last line on the standard error is their name.
    """
    request = json.loads(sys.argv[1])
    reply = os.dup(1)
    os.dup2(2, 1)  # whatever a converter prints is no reply
    faulthandler.enable()
    enter(ChildLimits(**request["limits"]))
    from referee.papers.load import load_paper

    try:
        paper = load_paper(Path(request["path"]), max_pages=request["max_pages"], max_bytes=request["max_bytes"])
    except PaperParseError as error:
        text = json.dumps({"message": error.message, "hint": error.hint, "ids": error.ids})
        _give(reply, REFUSED, text.encode())
    else:
        _give(reply, PAPER, paper.model_dump_json().encode())


def _give(reply: int, kind: bytes, data: bytes) -> None:
    with os.fdopen(reply, "wb") as stream:
        stream.write(kind)
        stream.write(data)
