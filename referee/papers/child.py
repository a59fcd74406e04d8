"""The process that reads one untrusted file: enter the limits, do what is asked, give the result or a refusal."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import PaperParseError
from referee.machine import bound_process

if TYPE_CHECKING:
    from referee.schemas.figure import Figures
    from referee.schemas.page import Highlights, PageImages
    from referee.schemas.paper import Paper

_MOST_OPEN_FILES = 64
# Only a PDF's copy without hidden text is written, into a folder of its own: the converter reads nothing but files.
_FILE_BYTES = 256 * 2**20


PAPER = b"P"
REFUSED = b"R"


def main() -> None:
    """Run with one argument: path and ``PaperSettings`` as JSON, a folder for pictures of pages, one for those of
    figures and the paper that was read, or a file that says what is to be marked and the copy's place.

    The first byte written says what the rest is.

    Errors that are no refusal are left to end the process: their last line on the standard error is their name.
    """
    request = json.loads(sys.argv[1])
    reply = os.dup(1)
    os.dup2(2, 1)  # whatever a converter prints is no reply
    faulthandler.enable()
    bound_process(
        request["max_seconds"],
        memory_bytes=request["max_memory_mb"] * 2**20,
        file_bytes=_FILE_BYTES,
        open_files=_MOST_OPEN_FILES,
    )
    try:
        found = _read(request)
    except PaperParseError as error:
        kind, text = REFUSED, json.dumps({"message": error.message, "hint": error.hint, "ids": error.ids})
    else:
        kind, text = PAPER, found.model_dump_json()
    with os.fdopen(reply, "wb") as stream:
        stream.write(kind + text.encode())


def _read(request: Mapping[str, Any]) -> Paper | PageImages | Figures | Highlights:
    path = Path(request["path"])
    if request.get("pages"):
        from referee.papers.pdf.rendering import render_pages

        return render_pages(path, Path(request["pages"]), max_pages=request["max_pages"])
    if request.get("figures"):
        from referee.papers.figures import cut_figures
        from referee.schemas.paper import Paper

        paper = Paper.model_validate_json(Path(request["paper"]).read_bytes())
        bounds = {name: request[name] for name in ("max_pages", "max_bytes", "max_figures")}
        whole = bool(request.get("whole_pages"))
        return cut_figures(path, paper, Path(request["figures"]), whole_pages=whole, **bounds)
    if request.get("marks"):
        from referee.papers.pdf.annotating import annotate
        from referee.schemas.page import Highlights

        marks = Highlights.model_validate_json(Path(request["marks"]).read_bytes())
        return annotate(path, Path(request["copy"]), marks, max_pages=request["max_pages"])
    from referee.papers.load import load_paper

    return load_paper(path, max_pages=request["max_pages"], max_bytes=request["max_bytes"])
