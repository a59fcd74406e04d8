"""The files of a profile: tables for programs, a summary to read, plots, and one page."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from referee.evals.profile.result import (
    Agreement,
    Alpha,
    Cited,
    Consistency,
    Covered,
    Decided,
    Engagement,
    Matched,
    ProfileResult,
    Test,
)
from referee.reports.plots import plots_csv, write_plots
from referee.reports.profile_page import profile_page
from referee.reports.profile_plots import profile_plots
from referee.reports.profile_tables import profile_markdown
from referee.schemas.base import Frozen

PLOTS = "plots"
_CELL = (
    *("group", "measure", "n", "papers", "mean", "low", "high", "sd", "least", "q1", "median", "q3", "most", "total"),
    *("skipped", "reasons"),
)
_SHARES = ("group", "what", "form", "known", "value", "count", "share", "points_from_people", "on_form")


def write_profile(result: ProfileResult, folder: Path, write: Callable[[str, str], object]) -> None:
    """Write ``summary.md``, ``.csv`` and ``.json``, a CSV for each other table, ``plots/`` and ``profile.html``.

    Args:
        result: What was found.
        folder: The run folder, for the pictures.
        write: Writes a text file of that name whole.
    """
    plots = profile_plots(result)
    write("summary.json", result.model_dump_json(indent=2) + "\n")
    write(
        "summary.csv", _table(_CELL, ({**cell.model_dump(), "reasons": _said(cell.reasons)} for cell in result.cells))
    )
    write("comparisons.csv", _records(Test, result.tests))
    write("ratings.csv", _table(_SHARES, _share_rows(result)))
    write("decisions.csv", _records(Decided, result.decisions))
    if result.consistency:
        write("consistency.csv", _records(Consistency, result.consistency))
    if result.agreements:
        write("agreement.csv", _records(Agreement, result.agreements))
        write("alpha.csv", _records(Alpha, result.alphas))
    if result.engagement:
        write("engagement.csv", _records(Engagement, result.engagement))
    if result.citations:
        write("citations.csv", _records(Cited, result.citations))
    if result.coverage:
        write("coverage.csv", _records(Covered, result.coverage))
        write("matched.csv", _records(Matched, result.matched))
    write("plots.csv", plots_csv(plots))
    write_plots(plots, folder / PLOTS)
    write("summary.md", profile_markdown(result, plots))
    write("profile.html", profile_page(result, plots))


def _share_rows(result: ProfileResult) -> Iterator[Mapping[str, object]]:
    """A row for each value; those that the form does not offer have a count and no share.

    ``points_from_people`` is the share less that of all people on the form, in percentage points.
    """
    people = _people(result)
    for one in result.shares:
        about = {"group": one.group, "what": one.what, "form": one.form, "known": one.known}
        total = sum(one.counts)
        theirs = people.get((one.what, one.form), {})
        for value, count in zip(one.allowed, one.counts, strict=True):
            share = count / total if total else None
            apart = None if share is None or not theirs else 100 * (share - theirs[value])
            counted = {"value": value, "count": count, "share": share}
            yield {**about, **counted, "points_from_people": apart, "on_form": True}
        for text, count in one.off_scale.items():
            counted = {"value": float(text), "count": count, "share": None}
            yield {**about, **counted, "points_from_people": None, "on_form": False}


def _people(result: ProfileResult) -> dict[tuple[str, str], dict[float, float]]:
    """Of people, by what and form, the share of each value."""
    human = {one.group for one in result.groups if "human" in (one.keys.get("source"), one.keys.get("kind"))}
    counts: dict[tuple[str, str], Counter[float]] = {}
    for one in result.shares:
        if one.group in human:
            given = counts.setdefault((one.what, one.form), Counter())
            given.update(dict(zip(one.allowed, one.counts, strict=True)))
    return {
        key: {value: count / given.total() for value, count in given.items()}
        for key, given in counts.items()
        if given.total()
    }


def _records(kind: type[Frozen], records: Sequence[Frozen]) -> str:
    return _table(tuple(kind.model_fields), (record.model_dump() for record in records))


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """What is undefined is empty. A name that a spreadsheet would run as a formula gets a quote."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(row[name]) for name in columns})
    return out.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value


def _said(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {count}" for why, count in reasons.items())
