"""What code found out about one statement of a review."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

CertificateStatus = Literal["proved", "sourced", "opinion", "refuted"]


class Certificate(Frozen):
    """A statement of a review, or a point of ours, and what backs it.

    ``proved``: code established the claim again: by its program, two places that differ, or a rule. ``sourced``: its
    quotation or its numbers stand in the paper, or what it misses was searched for and not found. ``refuted``: its
    quotation stands nowhere, or its own program gives another value. ``opinion``: everything else. ``passage`` is the
    paper's text, and ``place`` says where it stands.
    """

    statement: str
    status: CertificateStatus
    reason: str = ""
    place: str = ""
    passage: str = ""
    point: int | None = Field(default=None, description="The printed number of one of our points")
