"""Stored anchors: AI reviews of papers by known models, one line each, that other reviews are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from referee.data.drafts import describe
from referee.errors import DataError
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen

ANCHORS = "anchors.jsonl"


class Anchor(Frozen):
    """One AI review of a paper.

    ``paper_id`` is the id by which reviews name the paper, ``paper_hash`` the digest of what was read, and
    ``prompt_digest`` the identity of the prompt: template and reply schema together.
    """

    schema_version: Literal[1] = 1
    paper_id: str = Field(min_length=1)
    model: str = Field(min_length=1)
    review: str = Field(min_length=1)
    decision: Literal["Accept", "Reject"]
    prompt: str
    prompt_digest: str
    paper_hash: str
    temperature: float


def write_anchors(path: Path, anchors: Iterable[Anchor]) -> None:
    """Write the file whole, in the order of papers and models.

    Raises:
        OSError: It cannot be written.
    """
    ordered = sorted(anchors, key=lambda anchor: (anchor.paper_id, anchor.model))
    write_atomically(path, "".join(f"{anchor.model_dump_json()}\n" for anchor in ordered))


def read_anchors(path: Path) -> list[Anchor]:
    """The anchors of a file, or of the run folder that holds one.

    Raises:
        DataError: It is not there, or a line is none; it is named.
    """
    file = path / ANCHORS if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"there is no {str(file)!r}.", hint="Write anchors with `referee detect anchors`.")
    found = []
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                found.append(Anchor.model_validate_json(line))
            except ValidationError as error:
                raise DataError(
                    f"{str(file)!r}, line {number}, is no anchor: {describe(error)}.",
                    hint="Give a file of `referee detect anchors`.",
                ) from error
    return found
