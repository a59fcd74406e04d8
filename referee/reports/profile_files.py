"""The files of a profile: tables for programs, a summary to read, plots, and one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

from referee.evals.profile.result import ProfileResult
from referee.evals.reading import Reading
from referee.evals.store import Reasons, Values
from referee.literature.checking import Checked
from referee.reports.page import Section, about, bullets, plots_section, render_markdown, render_page
from referee.reports.plots import Plot, plots_csv
from referee.reports.profile_plots import profile_plots
from referee.reports.profile_tables import facts, lead, sections
from referee.reports.tables import csv_text, markdown_table

TITLE = "Profile of reviewers"
_CELL = (
    *("group", "measure", "n", "papers", "mean", "low", "high", "sd", "least", "q1", "median", "q3", "most", "total"),
    *("skipped", "reasons"),
)
_SHARES = ("group", "what", "form", "known", "value", "count", "share", "points_from_people", "on_form")
_PLACE = {
    "distribution": "Distributions",
    "rating": "Ratings and confidence",
    "confidence": "Ratings and confidence",
    "trend": "Trends by year",
    "differences": "Differences between groups",
    "coverage": "Atomic items and coverage",
}
_ORDER = (
    *("Groups", "Distributions", "Trends by year", "Differences between groups", "Ratings and confidence"),
    *("Beside people", "Formal citations", "Atomic items and coverage", "Every measure"),
)


# File, field of the result, and the field without which the file is left out.
_RECORDS = (
    ("comparisons.csv", "tests", ""),
    ("decisions.csv", "decisions", ""),
    ("consistency.csv", "consistency", "consistency"),
    ("agreement.csv", "agreements", "agreements"),
    ("alpha.csv", "alphas", "agreements"),
    ("engagement.csv", "engagement", "engagement"),
    ("citations.csv", "citations", "citations"),
    ("coverage.csv", "coverage", "coverage"),
    ("matched.csv", "matched", "coverage"),
)


def write_profile(result: ProfileResult, write: Callable[[str, str], object]) -> tuple[Plot, ...]:
    """Write ``summary.md``, ``.csv`` and ``.json``, a CSV for each other table, and ``report.html``.

    Args:
        result: What was found.
        write: Writes a text file of that name whole.

    Returns:
        The plots that both show, to be drawn beside them.
    """
    plots = profile_plots(result)
    cells = ({**cell.model_dump(), "reasons": _said(cell.reasons)} for cell in result.cells)
    write("summary.json", result.model_dump_json(indent=2) + "\n")
    write("summary.csv", csv_text(_CELL, cells))
    write("ratings.csv", csv_text(_SHARES, _share_rows(result)))
    for name, field, needed in _RECORDS:
        if not needed or getattr(result, needed):
            write(name, _records(result, field))
    write("plots.csv", plots_csv(plots))
    write("summary.md", _markdown(result, plots))
    write("report.html", _page(result, plots))
    return plots


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


def _records(result: ProfileResult, field: str) -> str:
    columns = get_args(ProfileResult.model_fields[field].annotation)[0].model_fields
    return csv_text(tuple(columns), (record.model_dump() for record in getattr(result, field)))


def _said(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {count}" for why, count in reasons.items())


def _markdown(result: ProfileResult, plots: Sequence[Plot]) -> str:
    notes = bullets(f"Note: {note}." for note in result.notes)
    shown = [*sections(result), about(facts(result)), *([plots_section(plots)] if plots else [])]
    return render_markdown(TITLE, [lead(result), notes], shown, table=markdown_table)


def _page(result: ProfileResult, plots: Sequence[Plot]) -> str:
    """The page: groups first, pictures beside their tables, every measure last."""
    drawn: dict[str, list[Plot]] = {}
    for plot in plots:
        drawn.setdefault(_PLACE[plot.name.split("-")[0]], []).append(plot)
    parts = {part.heading: part.body for part in sections(result)}
    shown = [
        Section(heading, parts.get(heading, ()), tuple(drawn.get(heading, ())))
        for heading in _ORDER
        if heading in parts or heading in drawn
    ]
    notes = [Section("Notes", tuple(f"{note}." for note in result.notes))] if result.notes else []
    return render_page(TITLE, lead(result), [*shown[:1], *notes, *shown[1:]], facts(result))


def profile_line(read: Reading, group: str, values: Values, reasons: Reasons) -> dict[str, Any]:
    """A review in ``profile.jsonl``: who, what was read of it, every number, and why one is null."""
    case, found = read.case, read.text
    line: dict[str, Any] = {
        "case_id": case.case_id,
        "paper_id": case.paper_id,
        "source": case.source,
        "kind": case.kind,
        "venue": case.venue,
        "year": case.year,
        "date": case.date,
        "group": group,
        "status": found.status,
        "values": dict(values),
        "reasons": {name: why for name, why in reasons.items() if why},
        "xref_bin": found.xref_bin if found.status == "scored" else None,
        "targets": [f"{target.kind} {target.number}" for target in (*found.references.core, *found.references.extra)],
        "citations": _citations(read),
    }
    if read.items is not None:
        line["items"] = {
            "backend": read.items.backend,
            "split": read.items.split,
            "status": read.items.status,
            "strengths": list(read.items.strengths),
            "weaknesses": list(read.items.weaknesses),
        }
    return line


def _citations(read: Reading) -> list[dict[str, Any]]:
    checks = read.checked if read.checked is not None else [None] * len(read.text.formal)
    return [
        {"style": cited.style, "title": cited.title, "year": cited.year, **_looked_up(check)}
        for cited, check in zip(read.text.formal, checks, strict=True)
    ]


def _looked_up(check: Checked | None) -> dict[str, Any]:
    """The status of a citation with the record it rests on, or the reason for none."""
    if check is None:
        return {"status": None}
    record = check.record
    listed = {"title": record.title, "year": record.year, "doi": record.doi, "source": record.source} if record else {}
    about = {"record": listed, "weak": check.weak or None, "reason": check.reason}
    return {"status": check.status, **{name: value for name, value in about.items() if value}}
