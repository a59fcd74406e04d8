"""The planted papers of a run: which key and which twin a review is of, and the record of what it raised."""

from __future__ import annotations

import hashlib
from pathlib import Path

from referee.data.layouts.own import read_review
from referee.data.planted import read_keys, read_twin
from referee.evals.planted.matching import Matcher
from referee.evals.planted.places import Twin
from referee.evals.planted.points import Raised, points_of
from referee.schemas.case import ReviewCase
from referee.schemas.planted import PlantedKey

CLEAN = "-clean"
"""Behind a copy's id: a review by others, whose file says no digest, is of the clean twin."""


class PlantedPapers:
    """A folder of planted papers, each key held to its copies.

    Args:
        folder: What ``referee plant`` wrote: ``clean/``, ``planted/`` and ``keys/``.

    Raises:
        DataError: There is no key, a copy is missing, or a key does not fit its copies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = read_keys(folder)
        self._of: dict[str, tuple[PlantedKey, Twin]] = {}
        for key in self.keys:
            self._of |= {key.clean_sha256: (key, "clean"), f"{key.copy_id}{CLEAN}": (key, "clean")}
            self._of |= {key.planted_sha256: (key, "planted"), key.copy_id: (key, "planted")}
        self._matchers: dict[tuple[str, Twin], Matcher] = {}

    @property
    def digest(self) -> str:
        """Of all keys: a run is resumed with the same ones only."""
        return hashlib.sha256("\n".join(key.model_dump_json() for key in self.keys).encode()).hexdigest()

    def of(self, case: ReviewCase) -> tuple[PlantedKey, Twin] | None:
        """The key and the twin that a review is of, by the digest of its paper's file or by the copy's id."""
        return self._of.get(case.paper_id)

    def matcher(self, key: PlantedKey, twin: Twin) -> Matcher:
        """The matcher of a copy, made when it is first asked for.

        Raises:
            DataError: The copy is gone.
        """
        if (key.copy_id, twin) not in self._matchers:
            self._matchers[key.copy_id, twin] = Matcher(key, read_twin(self.folder, key, twin), twin)
        return self._matchers[key.copy_id, twin]


def raised_by(case: ReviewCase) -> Raised:
    """What a review raises; with its recorded points where it is a ``review.json`` of ours.

    Raises:
        DataError: The file that the review was read from is gone or damaged.
    """
    ours = case.origin is not None and case.origin.layout == "reviews"
    return points_of(case, read_review(case.origin) if ours and case.origin is not None else None)
