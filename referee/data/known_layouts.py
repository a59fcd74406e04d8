"""Which public set of known errors a path holds, and everything in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from referee.data.found import refuse_no_data
from referee.data.known_sets import Loaded
from referee.data.layouts.known_rows import (
    find_critique,
    find_peerreview,
    find_spot,
    first_rows,
    read_critique,
    read_peerreview,
    read_spot,
    row_files,
)
from referee.data.layouts.known_trees import find_flaws, find_specs, read_flaws, read_specs
from referee.errors import DataError
from referee.schemas.known import KnownSource

SETS: tuple[KnownSource, ...] = get_args(KnownSource)


@dataclass(frozen=True)
class _Layout:
    """How a set is told and read.

    Attributes:
        wants: What its files hold, for who gave another.
        find: The files or folders below a path that are of this set; none where it is not.
        read: Everything in them.
    """

    wants: str
    find: Callable[[Path], list[Path]]
    read: Callable[[Sequence[Path]], Iterator[Loaded]]


def load_known(source: KnownSource, path: Path) -> Iterator[Loaded]:
    """What a set holds: papers, known errors and reviews, and the rows that cannot be used.

    Args:
        source: Which set it is.
        path: The user's copy: a file, or the folder as it was downloaded or cloned.

    Raises:
        DataError: The path is missing, or holds nothing in this set's layout: fields found and wanted are named.
    """
    refuse_no_data(path)
    if not path.exists():
        raise DataError(f"there is no {str(path)!r}.", hint=f"Give your copy of the set {source!r}.")
    layout = _LAYOUTS[source]
    places = layout.find(path)
    if not places:
        others = [name for name, other in _LAYOUTS.items() if name != source and other.find(path)]
        looks = f" It looks like the set {others[0]!r}." if others else ""
        raise DataError(
            f"{str(path)!r} is not in the layout of the set {source!r}: found {_seen(path)}; wanted {layout.wants}.",
            hint=f"Give the set as it is published; docs/known-errors.md says what is read.{looks}",
        )
    return layout.read(places)


def _seen(path: Path) -> str:
    """What stands there instead: the fields of the first record, else the names in the folder."""
    for file in row_files(path):
        for row in first_rows(file):
            return f"in {file.name!r} the fields {', '.join(sorted(row)[:12]) or 'none'}"
    if path.is_file():
        return "no record in the file"
    return f"the names {', '.join(sorted(inner.name for inner in path.iterdir())[:12]) or 'none'}"


_LAYOUTS: Mapping[KnownSource, _Layout] = {
    "spot": _Layout(
        "rows with error_annotation and doi/arxiv_id or title, as JSON, CSV or Parquet",
        find_spot,
        read_spot,
    ),
    "specs": _Layout(
        "a folder with perturbations/PAPER/PERTURBATION.json",
        find_specs,
        read_specs,
    ),
    "flaws": _Layout(
        "a folder with inserted_error/PAPER_CLAIM_MODEL.txt",
        find_flaws,
        read_flaws,
    ),
    "peerreview-bench": _Layout(
        "rows with paper_id, reviewer_id, review_item and correctness or correctness_primary",
        find_peerreview,
        read_peerreview,
    ),
    "reviewcritique": _Layout(
        "rows with title and reviews (review#1, ...) whose segments have segment_text and reliability",
        find_critique,
        read_critique,
    ),
}
