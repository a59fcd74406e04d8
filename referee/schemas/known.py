"""Errors that a paper is known to have: what public sets of errors say, in one shape."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

KnownSource = Literal["spot", "specs", "flaws", "peerreview-bench", "reviewcritique"]


class KnownError(Frozen):
    """One error, in the words of the set it is from. Nothing here says how the paper could be mended.

    Attributes:
        error_id: Unique within the set.
        paper_id: A paper of the set.
        description: What is wrong.
        place: Where, as the set says it: "Lemma 3", "Fig 5"; empty where it does not.
        passages: Words of the paper that hold the error; none where the set names none.
        category: The set's own.
        severity: The set's own, as ``errata`` and ``retract`` of SPOT.
        reported_by: Ids of the set's reviews that the error is taken from; such a review is not measured by it.
    """

    error_id: str = Field(min_length=1)
    paper_id: str = Field(min_length=1)
    description: str = Field(min_length=1)
    place: str = ""
    passages: tuple[str, ...] = ()
    category: str = ""
    severity: str = ""
    reported_by: tuple[str, ...] = ()


class KnownPaper(Frozen):
    """A paper of a set.

    ``file`` is its name in the folder ``papers``, and ``sha256`` the digest of that file's bytes, by which reviews of
    ``referee review`` name their paper; both are empty where the set holds neither text nor file.
    """

    paper_id: str = Field(min_length=1)
    title: str = ""
    file: str = ""
    sha256: str = ""


class KnownSet(Frozen):
    """What ``referee data load`` wrote: which set, its papers, and the digest of the file with the errors."""

    schema_version: Literal[1] = 1
    source: KnownSource
    papers: tuple[KnownPaper, ...]
    errors: int = Field(ge=1)
    errors_sha256: str
