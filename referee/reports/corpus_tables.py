"""The counts of a corpus as tables: ReviewArena's tables 1, 5 and 6, each venue-year, and the areas of papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.data.corpus import Corpus, Slice, total
from referee.reports.tables import Table, csv_text, dashed, json_text
from referee.runs.files import write_atomically

_TALKS = ("review_rebuttals", "paper_rebuttals", "comments")
_DECISIONS = ("accept", "reject", "withdrawn", "desk_reject", "unknown")
_COUNTS = ("papers", "reviews", "ai_reviews", "rated", "off_scale", *_TALKS, "public_comments", "lost_rebuttals")
_MORE = ("meta_reviews", "earlier_versions", "revised", "with_text", "with_pdf")


class CorpusTable(NamedTuple):
    """A table by the name of its file, as it is shown and as its file holds it."""

    file: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | None]]

    def shown(self) -> Table:
        """For a terminal: what the data do not hold is a dash."""
        cells = [
            ["" if cell is None else f"{cell:,}" if type(cell) is int else str(cell) for cell in row]
            for row in self.rows
        ]
        return dashed(self.title, self.columns, cells)


def corpus_tables(corpus: Corpus) -> tuple[CorpusTable, ...]:
    """Venue-years first, then coverage (table 1), families (table 5), interactions (table 6) and areas (figure 2b)."""
    groups = corpus.by_conference()
    slices = [one for held in groups.values() for one in held]
    decided = [f"decision:{name}" for name in _DECISIONS]
    names = (*_COUNTS, *_MORE, *decided)
    heads = [name.removeprefix("decision:").replace("_", " ") for name in (*_COUNTS, *_MORE)]
    return (
        CorpusTable(
            "venue_years.csv",
            "Venue-years",
            ["venue-year", *heads, *(f"decision {name.replace('_', ' ')}" for name in _DECISIONS)],
            [[one.name, *map(one.count, names)] for one in slices],
        ),
        CorpusTable(
            "coverage.csv",
            "Coverage",
            ["venue", "years", "papers", "reviews"],
            _with_total(groups, ("papers", "reviews"), _years),
        ),
        CorpusTable(
            "families.csv",
            "Venue families",
            ["venue", "years", "API", "forms"],
            [
                [name, _years(held), ", ".join(sorted(_all(held, "apis"))), ", ".join(sorted(_all(held, "forms")))]
                for name, held in groups.items()
            ],
        ),
        CorpusTable(
            "interactions.csv",
            "Interactions",
            ["venue", "years", "papers", "reviews", "review rebuttals", "paper rebuttals", "comments"],
            _with_total(groups, ("papers", "reviews", *_TALKS), _years),
        ),
        CorpusTable(
            "areas.csv",
            "Areas",
            ["venue", "area", "papers"],
            [
                [name, area, count]
                for name, areas in sorted(corpus.areas.items())
                for area, count in areas.most_common()
            ],
        ),
    )


def shown_tables(corpus: Corpus) -> Iterator[Table]:
    """What a terminal shows: the venue-years with the counts that are not all empty, and the interactions."""
    by_year, _, families, interactions, _ = corpus_tables(corpus)
    kept = [n for n, _ in enumerate(by_year.columns) if n == 0 or any(row[n] for row in by_year.rows)]
    yield by_year._replace(
        columns=[by_year.columns[n] for n in kept], rows=[[row[n] for n in kept] for row in by_year.rows]
    ).shown()
    yield families.shown()
    yield interactions.shown()


def write_corpus(folder: Path, corpus: Corpus) -> None:
    """Write each table as CSV, and all in ``describe.json``; what the data do not hold is empty, or null."""
    tables = corpus_tables(corpus)
    for table in tables:
        write_atomically(folder / table.file, csv_text(table.columns, table.rows))
    held = {t.file.removesuffix(".csv"): [dict(zip(t.columns, row, strict=True)) for row in t.rows] for t in tables}
    write_atomically(folder / "describe.json", json_text({**held, "unusable_rows": corpus.unusable}))


def _with_total(
    groups: dict[str, list[Slice]], names: Sequence[str], years: Callable[[list[Slice]], str]
) -> list[list[str | int | None]]:
    every = [one for held in groups.values() for one in held]
    rows: list[list[str | int | None]] = [
        [name, years(held), *(total(held, what) for what in names)] for name, held in groups.items()
    ]
    return [*rows, ["total", "", *(total(every, what) for what in names)]]


def _years(slices: list[Slice]) -> str:
    known = sorted({one.year for one in slices if one.year is not None})
    if not known:
        return ""
    whole = known == list(range(known[0], known[-1] + 1)) and len(known) > 1
    return f"{known[0]}-{known[-1]}" if whole else ", ".join(map(str, known))


def _all(slices: list[Slice], name: str) -> set[str]:
    return {value for one in slices for value in getattr(one, name)}
