"""Versions of a venue's prompts that were measured on papers: what was seen of each, and which one is kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.usage import Usage

BASE = "v0"
"""The arm that all versions are compared with: what a review does without refined prompts."""

Verdict = Literal["kept", "not confirmed", "within the noise", "behind", "the same", "not measured", "open"]


class Gain(Frozen):
    """A version less the base, paired by paper, so that more is better whatever the metric's direction.

    ``low`` is the lower end of the one-sided interval at the level of the decision, ``p`` the one-sided p value; null
    where they are undefined, as for fewer than two papers. ``pairs`` are the papers that both have a value for.
    """

    pairs: int = Field(ge=0)
    mean: float | None = None
    low: float | None = None
    p: float | None = Field(default=None, ge=0, le=1)


class Stage(Frozen):
    """A round of halving, or the held-out papers: which papers came in, and how the versions stood after all so far.

    ``went_on`` are the versions that were taken further; of the last round the one that was tested.
    """

    held_out: bool = False
    papers: tuple[str, ...]
    gains: dict[str, Gain]
    went_on: tuple[str, ...] = ()


class Selection(Frozen):
    """What the procedure decided. ``tested`` is the one gain that was tested, ``confirmed`` that on held-out papers."""

    stages: tuple[Stage, ...] = ()
    verdicts: dict[str, Verdict]
    level: float
    kept: str = ""
    tested: Gain | None = None
    confirmed: Gain | None = None


class VersionCost(Frozen):
    """What a version took: its reviews, and measuring them. Replies from a cache cost nothing here."""

    reviews: int = 0
    reviewing: Usage = Usage()
    judging: Usage = Usage()


class Measured(Frozen):
    """How the versions of a refinement were measured.

    ``digest`` stands for all that decides it beside the refinement itself. Papers are names to digests of their
    bytes. ``cut_line`` says what of the papers was not read. ``parents`` names the version that each was revised from;
    ``versions`` maps versions to rounds.
    """

    digest: str
    objective: str
    metric_version: str
    better: Literal["higher", "lower"]
    strategy: str
    judges: tuple[str, ...] = ()
    development: dict[str, str]
    held_out: dict[str, str]
    seed: int = 0
    selection: Selection
    parents: dict[str, str] = Field(default_factory=dict)
    costs: dict[str, VersionCost] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cut_line: str = ""

    @property
    def kept_round(self) -> int | None:
        """The round whose steps are used; None where no version is."""
        return int(self.selection.kept.removeprefix("v")) if self.selection.kept else None
