"""``verify``: whether a paper holds what a review states, by code alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from referee.api.options import RunOptions
from referee.errors import DataError
from referee.evidence import run_computations
from referee.evidence.certificates import Bearings, certify_points, certify_text, statements_of, unfit
from referee.machine import refuse_special_file
from referee.papers.captions import table_rows
from referee.papers.isolated import load_as_set
from referee.runs import Event
from referee.schemas.certificate import Certificate, CertificateStatus
from referee.schemas.computation import ProgramOutcome
from referee.schemas.paper import Paper
from referee.schemas.review import Review

STATUSES: tuple[CertificateStatus, ...] = get_args(CertificateStatus)
_REVIEW = "review.json"
_MOST_BYTES = 20 * 2**20


@dataclass(frozen=True)
class Verification:
    """The certificates of a review's statements or points, in its order, and the title of the paper."""

    paper: str
    certificates: tuple[Certificate, ...]

    @property
    def counts(self) -> dict[CertificateStatus, int]:
        """How many statements have each status."""
        found = Counter(one.status for one in self.certificates)
        return {status: found[status] for status in STATUSES}


def verify(review: str | Path, paper: str | Path, *, options: RunOptions = RunOptions()) -> Verification:
    """Hold each statement of a review against its paper, without a model, a key or a network.

    Args:
        review: A run folder or its ``review.json``, whose points are checked; or any review as plain text or Markdown,
            whose sentences are.
        paper: The paper, as ``review`` takes it.
        options: Progress and settings; no run folder is made.

    Raises:
        PaperParseError: The paper cannot be read.
        DataError: The review cannot be read, is empty, is not in English, has too many statements, or is a review of
            another paper.
    """
    path = Path(paper)
    written = _read(Path(review))
    refuse_special_file(path)
    options.progress(Event("stage", f"reading {path.name}"))
    read = load_as_set(path, options.settled().paper)
    bearings = Bearings(read)
    if isinstance(written, Review):
        _same_paper(written, read, review)
        outcomes = asyncio.run(_run_again(written, read))
        return Verification(read.title, tuple(certify_points(written, bearings, outcomes)))
    statements = statements_of(written)
    reason = unfit(statements, bearings)
    if reason:
        raise DataError(f"{str(review)!r} cannot be checked. {reason}", hint="Name the review and its own paper.")
    return Verification(read.title, tuple(certify_text(statements, bearings)))


async def _run_again(review: Review, paper: Paper) -> dict[str, list[ProgramOutcome]]:
    """What the programs of each point give now, by the point's id."""
    programs = {p.id: [one.program for one in p.computations] for p in review.points if p.number and p.computations}
    if not programs:
        return {}
    tables, text = table_rows(paper), "\n\n".join(section.text for section in paper.sections)
    return {id: await run_computations(own, tables, text) for id, own in programs.items()}


def _read(path: Path) -> Review | str:
    """Our review, or the text of another one."""
    file = path / _REVIEW if path.is_dir() else path
    refuse_special_file(file)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise DataError(f"{str(file)!r} is larger than {_MOST_BYTES >> 20} MB.", hint="Name one review.")
        data = file.read_bytes()
    except OSError as error:
        why = f"{str(path)!r} cannot be read as a review: {error.strerror}."
        raise DataError(why, hint="Name a run folder, its review.json, or a text file.") from error
    if file.suffix.casefold() != ".json":
        return data.decode("utf-8-sig", errors="replace")
    try:
        return Review.model_validate_json(data)
    except ValidationError as error:
        raise DataError(
            f"{str(file)!r} holds no review of `referee review`: {error.errors()[0]['msg']}.",
            hint="Give any other review as plain text or Markdown.",
        ) from error


def _same_paper(review: Review, paper: Paper, name: str | Path) -> None:
    """Refuse a review of another paper: another file with another title."""
    titles = {" ".join(title.casefold().split()) for title in (review.paper_title, paper.title)}
    if review.paper_id != paper.paper_id and len(titles) > 1:
        raise DataError(
            f"{str(name)!r} is a review of another paper: of {review.paper_title!r}, not of {paper.title!r}.",
            hint="Name the paper that it reviews.",
        )
