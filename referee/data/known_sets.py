"""Sets of papers with known errors: what a reader of one yields, the folder that is written, and that folder read.

The folder holds ``set.json`` (a ``KnownSet``), ``errors.jsonl`` (a ``KnownError`` a line), ``papers/`` with a file for
each paper whose text the set has, named by its id, and, if it has reviews, ``reviews.jsonl`` (a ``ReviewCase`` a line).
"""

from __future__ import annotations

import hashlib
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from referee.data.drafts import describe
from referee.data.papers import file_name, paper_name
from referee.data.reading import RejectedSink
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.schemas.known import KnownError, KnownPaper, KnownSet, KnownSource

SET, ERRORS, PAPERS, REVIEWS, REJECTED = "set.json", "errors.jsonl", "papers", "reviews.jsonl", "rejected.jsonl"


@dataclass(frozen=True)
class PaperFound:
    """A paper of a set with its text, or the file that holds it, or neither."""

    paper_id: str
    title: str = ""
    text: str = ""
    file: Path | None = None


@dataclass(frozen=True)
class Loaded:
    """One thing that a reader of a set found, or why a row of it cannot be used."""

    file: Path
    line: int | None
    item: KnownError | PaperFound | ReviewCase | DataError
    raw: str = ""


@dataclass(frozen=True)
class Written:
    """How much of each was written, what could not be used, and how many papers have neither text nor file."""

    papers: int
    errors: int
    reviews: int
    rejected: int
    without_file: int


class KnownWriter:
    """Puts what a reader finds into a folder; errors and reviews last, when all papers are known.

    Args:
        folder: Where to; empty.
        own: The user's files of papers, by their names, for those of which the set has none.
    """

    def __init__(self, folder: Path, own: Mapping[str, Path]) -> None:
        self._folder, self._own = folder, own
        self._papers: dict[str, KnownPaper] = {}
        self._errors: dict[str, Loaded] = {}
        self._reviews: dict[str, Loaded] = {}
        self._first = ""

    def write(self, source: KnownSource, found: Iterable[Loaded]) -> Written:
        """Write the whole set, and ``rejected.jsonl`` where something of it cannot be used.

        Raises:
            DataError: Nothing of it is a known error that can be used.
            OSError: The folder cannot be written.
        """
        (self._folder / PAPERS).mkdir()
        with RejectedSink(self._folder / REJECTED) as sink:
            self._each(found, sink, self._take)
            errors = self._lines(self._errors.values(), sink)
            reviews = self._lines(self._reviews.values(), sink)
        if not errors:
            first = f" The first that was left out: {self._first}" if self._first else ""
            raise DataError(f"there is no known error that can be used.{first}", hint="See docs/known-errors.md.")
        held = "".join(errors).encode()
        (self._folder / ERRORS).write_bytes(held)
        if reviews:
            (self._folder / REVIEWS).write_text("".join(reviews), encoding="utf-8")
        papers, digest = tuple(self._papers.values()), hashlib.sha256(held).hexdigest()
        known = KnownSet(source=source, papers=papers, errors=len(errors), errors_sha256=digest)
        (self._folder / SET).write_text(known.model_dump_json(indent=2) + "\n", encoding="utf-8")
        without = sum(not paper.file for paper in papers)
        return Written(len(papers), len(errors), len(reviews), sink.count, without)

    def _each(self, found: Iterable[Loaded], sink: RejectedSink, take: Callable[[Loaded], None]) -> None:
        for one in found:
            try:
                take(one)
            except DataError as error:
                self._first = self._first or f"{one.file}, line {one.line or 1}: {error.message}"
                sink.add(str(one.file), one.line, error.message, one.raw)

    def _take(self, one: Loaded) -> None:
        item = one.item
        if isinstance(item, DataError):
            raise item
        if isinstance(item, PaperFound):
            self._take_paper(item)
            return
        held, name = (self._errors, item.error_id) if isinstance(item, KnownError) else (self._reviews, item.case_id)
        if name in held:
            raise DataError(f"duplicate: the id {name!r} is taken.")
        held[name] = one

    def _take_paper(self, found: PaperFound) -> None:
        """Keep a paper once, and its first text."""
        before = self._papers.get(found.paper_id)
        if before is not None and before.file:
            return
        stem = file_name(found.paper_id)
        given = found.file or (self._own.get(stem) if not found.text.strip() else None)
        if given is None and not found.text.strip():
            self._papers.setdefault(found.paper_id, KnownPaper(paper_id=found.paper_id, title=found.title))
            return
        name = f"{stem}{given.name[len(paper_name(given)) :] if given else '.md'}"
        target = self._folder / PAPERS / name
        if target.exists():
            raise DataError(f"paper {found.paper_id!r} would be written to {name!r}, where another is.")
        if given is not None:
            shutil.copyfile(given, target)
        else:
            target.write_text(found.text, encoding="utf-8")
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        paper = KnownPaper(paper_id=found.paper_id, title=found.title, file=name, sha256=digest)
        self._papers[found.paper_id] = paper

    def _lines(self, found: Iterable[Loaded], sink: RejectedSink) -> list[str]:
        lines: list[str] = []

        def add(one: Loaded) -> None:
            assert isinstance(one.item, KnownError | ReviewCase)
            if one.item.paper_id not in self._papers:
                raise DataError(f"it is of the paper {one.item.paper_id!r}, which the set does not hold.")
            lines.append(one.item.model_dump_json() + "\n")

        self._each(found, sink, add)
        return lines


@dataclass(frozen=True)
class KnownErrors:
    """The known errors of a folder that ``referee data load`` wrote.

    Attributes:
        about: Which set it is, and its papers.
        errors: All of them.
    """

    about: KnownSet
    errors: tuple[KnownError, ...]

    @property
    def digest(self) -> str:
        """Of what is known, for what a resumed run must have in common."""
        return hashlib.sha256(self.about.model_dump_json().encode()).hexdigest()

    def of(self, paper_id: str) -> tuple[KnownError, ...] | None:
        """The known errors of a paper, which may be none; None where the set does not hold the paper.

        Args:
            paper_id: Its id in the set, the name of its file, or the digest of the file's bytes.
        """
        own = self._ids.get(paper_id)
        return None if own is None else self._by_paper.get(own, ())

    @cached_property
    def _ids(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for paper in self.about.papers:
            found |= dict.fromkeys(filter(None, (file_name(paper.paper_id), paper.sha256)), paper.paper_id)
        return found | {paper.paper_id: paper.paper_id for paper in self.about.papers}

    @cached_property
    def _by_paper(self) -> dict[str, tuple[KnownError, ...]]:
        found: dict[str, list[KnownError]] = defaultdict(list)
        for error in self.errors:
            found[error.paper_id].append(error)
        return {paper_id: tuple(held) for paper_id, held in found.items()}


def read_known(folder: Path) -> KnownErrors:
    """The known errors of a folder that ``referee data load`` wrote.

    Raises:
        DataError: It holds none, or its files were changed or are damaged.
    """
    hint = "Give a folder that `referee data load SET PATH --out DIR` wrote."
    try:
        about = KnownSet.model_validate_json((folder / SET).read_bytes())
        held = (folder / ERRORS).read_bytes()
    except OSError as error:
        raise DataError(f"{str(folder)!r} holds no known errors: {error.strerror or error}.", hint=hint) from error
    except ValidationError as error:
        raise DataError(f"{str(folder / SET)!r} is damaged: {describe(error)}.", hint="Load the set again.") from error
    if hashlib.sha256(held).hexdigest() != about.errors_sha256:
        raise DataError(f"{str(folder / ERRORS)!r} is not as it was written.", hint="Load the set again.")
    return KnownErrors(about, tuple(_errors(held)))


def _errors(held: bytes) -> Iterator[KnownError]:
    return (KnownError.model_validate_json(line) for line in held.splitlines())
