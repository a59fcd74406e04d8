"""A unit is one review of one paper by one arm and seed. Finished ones lie in a store that all plans share.

One process at a time makes a unit. Another one that wants the same unit waits, and finds it finished.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from referee.machine import try_lock
from referee.runs import Ledger
from referee.runs.files import write_atomically
from referee.runs.folder import RECORD, TRACE, read_record
from referee.schemas.paper_cut import PaperCut
from referee.schemas.review import Review
from referee.schemas.usage import Usage

REVIEW = "review.json"
UNITS = "units"
_log = logging.getLogger(__name__)
_NAME_CHARS = 24


@dataclass(frozen=True)
class Unit:
    """One review that a plan asks for.

    Attributes:
        paper: The paper's name in the plan.
        arm: The arm's name.
        seed: Which of several reviews of one paper by one arm.
        identity: All that decides the review: paper, form, strategy, models, prompts, rounds, settings, seed.
        problem: Why it cannot be made; no call is made for it then.
        unread: What of the paper the model would read, where it is not asked because that is too little.
        twin: Which copy of a planted paper is reviewed: ``planted`` or ``clean``; empty for an ordinary paper.
    """

    paper: str
    arm: str
    seed: int
    identity: Mapping[str, str] = field(default_factory=dict, hash=False)
    problem: str = ""
    twin: str = ""
    unread: PaperCut | None = field(default=None, hash=False, compare=False)

    @cached_property
    def digest(self) -> str:
        """The digest of the identity: plans that ask for the same review share it."""
        return hashlib.sha256(json.dumps(dict(self.identity), sort_keys=True).encode()).hexdigest()

    @property
    def label(self) -> str:
        """For messages."""
        copy = f" ({self.twin} copy)" if self.twin else ""
        return f"paper {self.paper!r}{copy}, arm {self.arm!r}, seed {self.seed}"

    @property
    def shared_work(self) -> str:
        """The digest of what its first unit makes for all that share it: refined prompts; empty where there is none."""
        return self.identity.get("refinement of the prompts", "")

    @property
    def models(self) -> tuple[str, ...]:
        """The ids of the models that make it."""
        return tuple(sorted({value for key, value in self.identity.items() if key.startswith("model for ")}))


class UnitStore:
    """A folder with a run folder of ``referee review`` for each unit, and beside each its identity in clear."""

    def __init__(self, folder: Path) -> None:
        self.path = folder

    def folder(self, unit: Unit) -> Path:
        """Where the unit's run lies, or will."""
        return self.path / unit.digest[:_NAME_CHARS]

    def file(self, unit: Unit) -> Path:
        """Where the unit's review lies, or will."""
        return self.folder(unit) / REVIEW

    def claim(self, digest: str) -> Path:
        """The file that says whether somebody is making the unit, or the shared work, of that digest."""
        return self.path / f"{digest[:_NAME_CHARS]}.lock"

    def begin(self, unit: Unit) -> Path:
        """The unit's folder; its identity is written down.

        Raises:
            OSError: The store cannot be written.
        """
        folder = self.folder(unit)
        self.path.mkdir(parents=True, exist_ok=True)
        identity = json.dumps(dict(unit.identity), indent=2, sort_keys=True, ensure_ascii=False)
        write_atomically(folder.with_name(f"{folder.name}.json"), identity + "\n")
        return folder

    def review(self, unit: Unit) -> Review | None:
        """The finished review; None where there is none, or one that is damaged and must be made again."""
        return None if unit.problem else finished_review(self.folder(unit))

    def usage(self, unit: Unit) -> Usage:
        """What the unit took over all its starts, whichever plan made them."""
        return folder_usage(self.folder(unit))


def finished_review(folder: Path) -> Review | None:
    """The review of a finished run; None where there is none, or one that is damaged and must be made again."""
    if not (folder / RECORD).is_file() or read_record(folder).status != "finished":
        return None
    try:
        return Review.model_validate_json((folder / REVIEW).read_bytes())
    except (OSError, ValidationError) as error:
        _log.warning("the review in %s is damaged and is made and paid again: %s", folder, type(error).__name__)
        return None


def folder_usage(folder: Path) -> Usage:
    """What the calls in a run folder took, from their ledger: also right where the process was killed."""
    return Ledger(folder / TRACE).usage()


LOOK_AGAIN_S = 0.2


@contextmanager
def claimed(file: Path) -> Iterator[bool]:
    """Try to claim what the file stands for; false where another process, or another task of this one, has done so.

    The kernel gives the claim back when the process ends, however it ends. The file stays.

    Raises:
        OSError: It cannot be opened.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)


async def wait_for_others() -> None:
    """Wait a moment before a claim is tried again; the kernel tells nobody that one was given back."""
    await asyncio.sleep(LOOK_AGAIN_S)
