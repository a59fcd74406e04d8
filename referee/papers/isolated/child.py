"""The child: enter the limits, read one file, give the paper or the refusal back as JSON, end."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from pathlib import Path

from referee.errors import PaperParseError
from referee.papers.isolated.limits import ChildLimits, enter

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
