"""A profile as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence

from referee.evals.profile.result import ProfileResult
from referee.reports.page import Section, render_page
from referee.reports.plots import Plot
from referee.reports.profile_tables import facts, lead, sections

_PLACE = {
    "distribution": "Distributions",
    "rating": "Ratings and confidence",
    "confidence": "Ratings and confidence",
    "trend": "Trends by year",
    "differences": "Differences between groups",
    "coverage": "Atomic items and coverage",
}


def profile_page(result: ProfileResult, plots: Sequence[Plot]) -> str:
    """The page: groups first, pictures beside their tables, every measure last."""
    drawn: dict[str, list[Plot]] = {}
    for plot in plots:
        drawn.setdefault(_PLACE[plot.name.split("-")[0]], []).append(plot)
    parts = {heading: (text, tables) for heading, text, tables in sections(result)}
    order = [
        "Groups",
        "Distributions",
        "Trends by year",
        "Differences between groups",
        "Ratings and confidence",
        "Beside people",
        "Formal citations",
        "Atomic items and coverage",
        "Every measure",
    ]
    shown = [
        Section(
            heading,
            text=tuple(filter(None, [parts[heading][0]])) if heading in parts else (),
            tables=tuple(parts[heading][1]) if heading in parts else (),
            plots=tuple(drawn.get(heading, ())),
        )
        for heading in order
        if heading in parts or heading in drawn
    ]
    notes = [Section("Notes", text=tuple(f"{note}." for note in result.notes))] if result.notes else []
    return render_page("Profile of reviewers", lead(result), [*shown[:1], *notes, *shown[1:]], facts(result))
