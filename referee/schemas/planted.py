"""Errors planted into a paper on purpose: where, what stood there, and the passages that prove each wrong."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

PlantedKind = Literal[
    "number",
    "direction",
    "contradiction",
    "size",
    "equation",
    "stats",
    "overclaim",
    "reference",
    "citation",
    "missing-variance",
    "missing-control",
    "missing-baseline",
    "inserted",
    "neutral",
]
Place = Literal["prose", "cell", "equation", "label", "abstract"]
Difficulty = Literal["local", "near", "far", "table", "derived", "absence"]
AnchorClass = Literal["A1", "A2", "A3", "A4", "none"]


class PlantedEdit(Frozen):
    """A replaced span: character offsets into the clean copy, the words that stood there and those that came."""

    section: str = ""
    place: Place = "prose"
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    before: str
    after: str


class PlantedAnchor(Frozen):
    """A passage that proves the edit wrong: offsets into the planted copy, its text, and what it says."""

    section: str = ""
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    says: str = ""


class PlantedRecord(Frozen):
    """One error. ``sentence_before`` and ``sentence_after`` hold the first edit; ``checks`` names those that passed.

    ``silent``: promise and delivery both went, so that the paper alone does not tell; no part of the headline recall.
    """

    record_id: str = Field(min_length=1)
    kind: PlantedKind
    subtype: str = ""
    severity: Literal["H", "M", "L"]
    difficulty: Difficulty
    anchor_class: AnchorClass
    silent: bool = False
    edits: tuple[PlantedEdit, ...] = Field(min_length=1)
    anchors: tuple[PlantedAnchor, ...] = ()
    sentence_before: str
    sentence_after: str
    expected: str
    statement: str
    also_breaks: tuple[str, ...] = ()
    planter: str
    checks: tuple[str, ...] = ()
    native: tuple[str, ...] = ()


class PlantedKey(Frozen):
    """What is planted in one copy of a paper, and which files it fits.

    Attributes:
        copy_id: Name of the copies' files in ``clean/``, ``planted/`` and ``neutral/``, without the ending.
        paper: Digest (sha-256) of the paper that was given.
        clean_sha256: Of the clean twin; ``planted_sha256`` and ``neutral_sha256`` of the others.
        version: Of the planter: same paper, seed and version give the same bytes.
    """

    schema_version: Literal[1] = 1
    copy_id: str = Field(min_length=1)
    paper: str
    title: str = ""
    seed: int
    version: int
    clean_sha256: str
    planted_sha256: str
    neutral_sha256: str | None = None
    records: tuple[PlantedRecord, ...]
