"""A frozen part of a corpus: which papers, by ReviewArena's rules, and the digests that hold it to its rows."""

from __future__ import annotations

import hashlib
import json
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from referee.data.drafts import describe
from referee.data.paper_rows import RowFound
from referee.errors import DataError
from referee.machine import refuse_special_file
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.schemas.paper_row import PaperRow, ScaleOverride


class SplitRules(Frozen):
    """How a split is drawn: so many papers a conference, each with so many people's reviews, a text and a rating."""

    seed: int = 0
    quota: int = Field(default=167, ge=1)
    min_reviews: int = Field(default=2, ge=1)
    needs_text: bool = True
    scale_override: ScaleOverride | None = None


class SplitPaper(Frozen):
    """A paper of a split, with the digest of its row and the mean of people's ratings, its target."""

    forum_id: str = Field(min_length=1)
    conference: str
    year: int | None
    target: float
    digest: str


class Split(Frozen):
    """A split as it is stored. ``digest`` is that of rules and papers: a file that was edited shows.

    ``left_out`` counts papers by the rule they do not meet, ``short`` conferences with fewer papers than the quota.
    """

    schema_version: Literal[1] = 1
    rules: SplitRules
    papers: tuple[SplitPaper, ...]
    left_out: dict[str, int] = Field(default_factory=dict)
    short: dict[str, int] = Field(default_factory=dict)
    digest: str


@dataclass
class Drawing:
    """Draws a split of rows that come one by one; in memory are no more papers than the quota of each conference."""

    rules: SplitRules
    texts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._first: dict[str, list[tuple[int, SplitPaper]]] = defaultdict(list)
        self._left_out: Counter[str] = Counter()

    def take(self, found: RowFound) -> None:
        """Take a row in, or count why it cannot be drawn."""
        if found.row is None:
            self._left_out["the row cannot be used"] += 1
            return
        row = found.row
        ratings = [review.rating for review in row.reviews if review.kind != "ai" and review.rating is not None]
        if reason := self._refusal(row, len(ratings)):
            self._left_out[reason] += 1
            return
        paper = SplitPaper(
            forum_id=row.forum_id,
            conference=row.conference or "unknown",
            year=row.year,
            target=sum(ratings) / len(ratings),
            digest=row_digest(row),
        )
        drawn = self._first[paper.conference]
        insort(drawn, (self._place(paper), paper), key=lambda one: one[0])
        del drawn[self.rules.quota :]

    def split(self) -> Split:
        """The split: of each conference the papers that the seed puts first, whatever order they came in.

        Raises:
            DataError: No paper meets the rules.
        """
        if not self._first:
            why = "; ".join(f"{count:,}: {reason}" for reason, count in self._left_out.most_common())
            raise DataError(f"no paper meets the rules of the split ({why or 'there is none'}).", hint=_EASIER)
        by_name = [sorted((paper for _, paper in self._first[name]), key=_id) for name in sorted(self._first)]
        drawn = [paper for papers in by_name for paper in papers]
        return Split(
            rules=self.rules,
            papers=tuple(drawn),
            left_out=dict(sorted(self._left_out.items())),
            short={n: len(p) for n, p in sorted(self._first.items()) if len(p) < self.rules.quota},
            digest=split_digest(self.rules, drawn),
        )

    def _place(self, paper: SplitPaper) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.rules.seed}/{paper.forum_id}".encode()).digest())

    def _refusal(self, row: PaperRow, rated: int) -> str:
        people = sum(review.kind != "ai" for review in row.reviews)
        if people < self.rules.min_reviews:
            return f"fewer than {self.rules.min_reviews} reviews by people"
        if not rated:
            return "no numeric rating on its form's scale"
        text = row.forum_id in self.texts or bool((row.markdown or "").strip() or row.sections)
        return "no text of the paper" if self.rules.needs_text and not text else ""


def _id(paper: SplitPaper) -> str:
    return paper.forum_id


_EASIER = "Give --papers with the texts, or say --no-text, --min-reviews 1; --scale-override reads another scale."


def row_digest(row: PaperRow) -> str:
    """SHA-256 of a row, the same in every format; where its PDF lies does not count."""
    held = row.model_dump(mode="json", exclude={"pdf_path"})
    return hashlib.sha256(json.dumps(held, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def split_digest(rules: SplitRules, papers: Iterable[SplitPaper]) -> str:
    """SHA-256 of the rules and of the papers with their rows' digests."""
    held = [rules.model_dump(mode="json"), [paper.model_dump(mode="json") for paper in papers]]
    return hashlib.sha256(json.dumps(held, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def write_split(path: Path, split: Split) -> None:
    """Write a split whole.

    Raises:
        DataError: The file is there already, or cannot be written.
    """
    if path.exists():
        raise DataError(f"{str(path)!r} is there already; a split is frozen.", hint="Choose another --out.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, split.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error.strerror or error}.", hint="Make room.") from error


def read_split(path: Path) -> Split:
    """A split from its file.

    Raises:
        DataError: The file is missing, is no split, or was edited.
    """
    refuse_special_file(path)
    try:
        split = Split.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(
            f"the split {str(path)!r} cannot be read: {error.strerror or error}.", hint="Make one: referee data split."
        ) from error
    except ValidationError as error:
        raise DataError(
            f"{str(path)!r} is no split: {describe(error)}.", hint="Make one: referee data split."
        ) from error
    if split.digest != split_digest(split.rules, split.papers):
        raise DataError(
            f"the split {str(path)!r} is not the one that was frozen: its digest is another.",
            hint="Take the original file, or draw a new split.",
        )
    return split


def only_split(rows: Iterable[RowFound], split: Split) -> Iterator[RowFound]:
    """The rows of a split's papers; the set must hold each as it was when the split was drawn.

    Raises:
        DataError: Papers are missing or changed; the first are named. Raised after the last row.
    """
    wanted = {paper.forum_id: paper.digest for paper in split.papers}
    changed: list[str] = []
    for found in rows:
        if found.row is None or found.row.forum_id not in wanted:
            continue
        if wanted.pop(found.row.forum_id) != row_digest(found.row):
            changed.append(found.row.forum_id)
        else:
            yield found
    if changed or wanted:
        parts = [
            f"{len(names):,} {what} ({', '.join(map(repr, names[:3]))})"
            for what, names in (("changed", changed), ("missing", sorted(wanted)))
            if names
        ]
        raise DataError(
            f"the set is not the one that the split {split.digest[:12]} was drawn from: of {len(split.papers):,} "
            f"papers {' and '.join(parts)}.",
            hint="Give the set as it was, or draw a new split.",
        )
