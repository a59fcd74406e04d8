"""Sets of papers with their reviews: counted, checked, written in another format, and a frozen part of one drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from referee.data import RejectedSink, read_papers
from referee.data.corpus import Corpus
from referee.data.paper_rows import NO_REVIEW, RowFound, read_rows
from referee.data.reading import require_everybody
from referee.data.row_files import FORMS, RowFiles, row_files
from referee.data.splits import Drawing, Split, SplitRules, only_split, read_split, write_split
from referee.errors import DataError, SettingsError
from referee.nearest import did_you_mean
from referee.reports.corpus_tables import write_corpus
from referee.runs.files import whole_folder
from referee.schemas.paper_row import PaperRow, ScaleOverride
from referee.venues import load_venue
from referee.venues.values import rescaled

REJECTED = "rejected.jsonl"
MOST_OFF_SCALE = 0.01
"""The share of a form's ratings beyond which the form, not the rating, is in doubt."""
_OVERRIDE = re.compile(r"(?P<form>[a-z0-9-]+)=(?P<low>\d{1,3})-(?P<high>\d{1,3})")


@dataclass(frozen=True)
class Checked:
    """How many rows there were, how many have something wrong, and remarks by what they say."""

    rows: int
    broken: int
    remarks: Counter[str]
    venue_years: int


@dataclass(frozen=True)
class Converted:
    """Rows by file, rows that could not be used, papers of a PdfFolder without a PDF, and ratings that were not mapped.

    ``off_scale`` are ratings that their form does not offer: null in the rows, with what stood there beside them.
    ``no_reviews`` are entries in lists of reviews that are no objects, and are not in the rows.
    """

    folder: Path
    counts: Counter[str]
    rejected: int
    without_pdf: int
    off_scale: int
    no_reviews: int


def scale_override(given: str | None) -> ScaleOverride | None:
    """``neurips-2025=1-10`` as a scale in place of a form's own.

    Raises:
        SettingsError: It is written otherwise, or the scale is empty.
        VenueError: There is no such form.
    """
    if given is None:
        return None
    found = _OVERRIDE.fullmatch(given.strip())
    if found is None:
        raise SettingsError(f"{given!r} is no scale for a form.", hint="Write FORM=LOW-HIGH, as neurips-2025=1-10.")
    override = ScaleOverride(form=found["form"], low=int(found["low"]), high=int(found["high"]))
    rescaled(load_venue(override.form), override.low, override.high)
    return override


def describe_set(source: Path, *, out: Path | None = None, conference: str = "") -> Corpus:
    """Count what a set holds, by venue and year.

    Args:
        source: A file or a folder, as ``read_rows`` takes it.
        out: A new folder for the tables as files; None writes none.
        conference: The conference of rows that name none.

    Raises:
        DataError: The set cannot be read, holds no usable row, or ``out`` is there already.
    """
    corpus = Corpus()
    first: RowFound | None = None
    for found in read_rows(source, conference=conference):
        corpus.take(found)
        first = first or (found if found.row is None else None)
    _require(corpus.slices, source, first)
    if out is not None:
        with whole_folder(out) as folder:
            write_corpus(folder, corpus)
    return corpus


def validate_set(source: Path, say: Callable[[str], None], *, conference: str = "") -> Checked:
    """Check each row of a set, and say of each problem the file, the line, the key and the cause.

    Args:
        source: A file or a folder, as ``read_rows`` takes it.
        say: Takes a line of text for each problem.
        conference: The conference of rows that name none.

    Raises:
        DataError: Nothing of the set can be read.
    """
    rows = broken = 0
    remarks: Counter[str] = Counter()
    files: dict[Path, set[str]] = {}
    for found in read_rows(source, conference=conference):
        rows += 1
        broken += bool(found.broken)
        for problem in found.problems:
            if problem.remark:
                remarks[problem.cause] += 1
            else:
                say(f"{found.file}:{found.line or 1}: {problem.key}: {problem.cause}")
        if found.row is not None:
            files.setdefault(found.file, set()).add(f"{found.row.conference or 'no conference'} {found.row.year or ''}")
    for file, names in files.items():
        if len(names) > 1:
            remarks[f"{file} holds several venue-years: {', '.join(sorted(names)[:5])}"] += 1
    if not rows:
        raise DataError(f"{str(source)!r} holds no row.", hint="Give a set with at least one paper.")
    return Checked(rows, broken, remarks, len({name for names in files.values() for name in names}))


def convert_set(
    source: Path,
    *,
    out: Path,
    to: str = "jsonl",
    pdfs: Path | None = None,
    conference: str = "",
    override: ScaleOverride | None = None,
    split: Path | None = None,
) -> Converted:
    """Write a set in another format, a file (or a folder with PDFs) a venue-year, all or nothing.

    Rows that cannot be used go to ``rejected.jsonl``.

    Args:
        source: A file or a folder, as ``read_rows`` takes it.
        out: A new folder.
        to: One of ``FORMS``.
        pdfs: For ``pdffolder``: a folder of PDFs named by paper id.
        conference: The conference of rows that name none.
        override: An overall scale in place of a form's own; the rows that were read on it say so.
        split: Only the papers of this split, which must be as they were when it was drawn.

    Raises:
        DataError: The set cannot be read to its end or holds no usable row; rows of others can be used and none of
            some system; more than one in a hundred ratings of a form are not on its scale; the set is not the split's;
            ``out`` is there already.
        MissingExtra: Parquet is asked for, and the package for it is not installed.
    """
    form = next((known for known in FORMS if known == to), None)
    if form is None:
        raise SettingsError(
            f"format {to!r} is unknown.", hint=f"{did_you_mean(to, FORMS)}There are: {', '.join(FORMS)}."
        )
    if (pdfs is not None) != (form == "pdffolder"):
        raise SettingsError(
            "a PdfFolder needs --pdfs." if pdfs is None else f"format {to!r} takes no PDFs.",
            hint="Give --to pdffolder with --pdfs FOLDER.",
        )
    if pdfs is not None and not pdfs.is_dir():
        raise DataError(f"there is no folder {str(pdfs)!r}.", hint="Give a folder of PDFs named by paper id.")
    chosen = read_split(split) if split is not None else None
    if chosen is not None and override is not None:
        raise SettingsError("a split has its own scale.", hint="Leave --scale-override away.")
    rows = read_rows(source, conference=conference, override=chosen.rules.scale_override if chosen else override)
    with whole_folder(out) as folder:
        scales = _Scales()
        with ExitStack() as stack:
            files = stack.enter_context(row_files(folder, form, pdfs))
            sink = stack.enter_context(RejectedSink(folder / REJECTED))
            first = _written(only_split(rows, chosen) if chosen else rows, files, sink, scales)
        scales.require()
        if files.without_pdf and not files.counts:
            raise DataError(
                f"none of {files.without_pdf:,} papers has a PDF in {str(pdfs)!r}.",
                hint="PDFs are named by paper id, as 465S0gvFWc.pdf.",
            )
        _require(files.counts, source, first)
    return Converted(out, files.counts, sink.count, files.without_pdf, scales.off.total(), scales.no_reviews)


def draw_split(
    source: Path, *, out: Path, rules: SplitRules, papers: Path | None = None, conference: str = ""
) -> Split:
    """Draw a part of a set by ReviewArena's rules, and freeze it in a file.

    Args:
        source: A file or a folder, as ``read_rows`` takes it.
        out: The new file.
        rules: What a paper needs, how many of each conference, the seed.
        papers: The texts of papers whose rows hold none.
        conference: The conference of rows that name none.

    Raises:
        DataError: The set cannot be read to its end, no paper meets the rules, or ``out`` is there already.
    """
    drawing = Drawing(rules, frozenset(read_papers(papers).ids()) if papers is not None else frozenset())
    for found in read_rows(source, conference=conference, override=rules.scale_override):
        _whole(found)
        drawing.take(found)
    split = drawing.split()
    write_split(out, split)
    return split


def _written(rows: Iterator[RowFound], files: RowFiles, sink: RejectedSink, scales: _Scales) -> RowFound | None:
    """Write the rows, and give the first that could not be used.

    Raises:
        DataError: A file breaks off, or no row of somebody can be used.
    """
    first: RowFound | None = None
    used: set[str] = set()
    lost: dict[str, tuple[str, int]] = {}
    for found in rows:
        _whole(found)
        if found.row is None:
            reason = "; ".join(p.cause for p in found.problems)
            sink.add(str(found.file), found.line, reason, found.raw)
            first = first or found
            for name in found.sources:
                place, count = lost.get(name, (f"{str(found.file)!r}, line {found.line}: {reason}", 0))
                lost[name] = place, count + 1
        else:
            scales.take(found, found.row)
            files.add(found.row)
            used |= {review.source for review in found.row.reviews if review.source}
    if used:
        require_everybody(used, lost)
    return first


class _Scales:
    """How many ratings of each form are on its scale: many that are not mean that the form or the scale is wrong."""

    def __init__(self) -> None:
        self.off: Counter[str] = Counter()
        self.no_reviews = 0
        self._all: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def take(self, found: RowFound, row: PaperRow) -> None:
        """Count a row's ratings, and the reviews that it could not take."""
        self.no_reviews += sum(problem.cause == NO_REVIEW for problem in found.problems)
        for review in row.reviews:
            form = review.form_id or ""
            why = review.off_scale.get("rating")
            self._all[form] += why is not None or review.rating is not None
            if why is not None:
                self.off[form] += 1
                self._first.setdefault(form, f"{found.file}, line {found.line}: {why}")

    def require(self) -> None:
        """See that ratings are on their scales.

        Raises:
            DataError: More than one of a form, and more than one in a hundred, are not.
        """
        for form, count in self.off.items():
            if count > 1 and count > MOST_OFF_SCALE * self._all[form]:
                raise DataError(
                    f"{count:,} of {self._all[form]:,} ratings are not on the scale of the form {form!r}, the first in "
                    f"{self._first[form].rstrip('.')}.",
                    hint=f"Is it the right venue and year? --scale-override {form}=LOW-HIGH reads another scale.",
                )


def _whole(found: RowFound) -> None:
    """See that the file goes on: of one that breaks off nobody knows what is missing."""
    if found.breaks_off:
        raise DataError(
            f"{found.problems[0].cause.rstrip('.')}, at line {found.line}.", hint="Get the file again, or mend it."
        )


def _require(rows: object, source: Path, first: RowFound | None) -> None:
    if rows:
        return
    why = f" The first that was left out, line {first.line}: {first.problems[0].cause}." if first else ""
    raise DataError(f"{str(source)!r} holds no usable row.{why}", hint="`referee data validate` names each.")
