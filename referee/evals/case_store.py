"""A review set on the disk: written once while it is read, then taken paper by paper, so that it never sits in memory.

What stays in memory is where the reviews of each paper begin in the file, and the ids: some 200 bytes a review.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from referee.errors import RunError
from referee.evals.forms import FilledBoxes
from referee.runs.lines import Line, records
from referee.schemas.case import ReviewCase

CASES = "cases.jsonl"


class CaseStore:
    """Reviews in a file that is open for reading and writing in binary, one JSON line each.

    Papers keep the order of their first review, the reviews of a paper their own.

    Attributes:
        sources: Number of reviews by source and kind.
        venues: Number of reviews by venue; None counts those that name none.
        boxes: What the reviews fill in.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._end = 0
        self._digest = hashlib.sha256()
        self._all: dict[str, array[int]] = {}
        self._human: dict[str, array[int]] = {}
        self._ids: set[str] = set()
        self._count = 0
        self.sources: Counter[tuple[str, str]] = Counter()
        self.venues: Counter[str | None] = Counter()
        self.boxes = FilledBoxes()

    def __len__(self) -> int:
        return self._count

    def add(self, case: ReviewCase) -> bool:
        """Write a review down; False, and nothing is written, where its id is taken."""
        if case.case_id in self._ids:
            return False
        self._ids.add(case.case_id)
        self._count += 1
        line = case.model_dump_json().encode() + b"\n"
        self._file.seek(self._end)
        self._file.write(line)
        self._all.setdefault(case.paper_id, array("Q")).append(self._end)
        if case.kind == "human":
            self._human.setdefault(case.paper_id, array("Q")).append(self._end)
        self._end += len(line)
        self._digest.update(case.model_dump_json(exclude={"origin"}, exclude_defaults=True).encode())
        self.sources[case.source, case.kind] += 1
        self.venues[case.venue] += 1
        self.boxes.add(case)
        return True

    @property
    def digest(self) -> str:
        """What was added, in its order; where a review was read does not count."""
        return self._digest.hexdigest()

    @property
    def papers(self) -> Iterable[str]:
        """The papers' ids."""
        return self._all.keys()

    def cases(self, paper_id: str) -> Iterator[ReviewCase]:
        """The reviews of a paper, read one by one."""
        return (self._at(offset) for offset in self._all.get(paper_id, ()))

    def humans(self, paper_id: str) -> tuple[ReviewCase, ...]:
        """The human reviews of a paper."""
        return tuple(self._at(offset) for offset in self._human.get(paper_id, ()))

    def human_count(self, paper_id: str) -> int:
        """How many human reviews a paper has."""
        return len(self._human.get(paper_id, ()))

    def sample(self, most: int) -> list[ReviewCase]:
        """At most that many reviews, spread evenly over the file."""
        offsets = sorted(offset for of_paper in self._all.values() for offset in of_paper)
        step = max(len(offsets) / most, 1.0)
        return [self._at(offsets[int(number * step)]) for number in range(min(most, len(offsets)))]

    def part(self, holds: Callable[[str], bool]) -> CaseStore:
        """The reviews of some papers, by their ids; digest, sources, venues and boxes stay those of the whole set."""
        part = copy(self)
        part._all = {paper_id: offsets for paper_id, offsets in self._all.items() if holds(paper_id)}
        part._human = {paper_id: offsets for paper_id, offsets in self._human.items() if paper_id in part._all}
        part._count = sum(map(len, part._all.values()))
        return part

    def copy_to(self, target: IO[bytes]) -> None:
        """Write the set into another file, in the order of its reviews."""
        for offset in sorted(offset for of_paper in self._all.values() for offset in of_paper):
            self._file.seek(offset)
            target.write(self._file.readline())

    def _at(self, offset: int) -> ReviewCase:
        self._file.seek(offset)
        return ReviewCase.model_validate_json(self._file.readline())


def read_stored(path: Path) -> Iterator[ReviewCase]:
    """The reviews of a finished set, one by one.

    Raises:
        RunError: It is missing, or a line is no review: the file was changed or damaged.
    """
    hint = "Start a new run with another --out."
    if not path.is_file():
        raise RunError(f"there is no {str(path)!r}.", hint=hint)

    def refuse(line: Line, error: ValidationError | None) -> None:
        raise RunError(f"{str(path)!r} is damaged in line {line.number}.", hint=hint) from error

    return (case for _, case in records(path, ReviewCase, damaged=refuse))
