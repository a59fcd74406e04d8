"""What of a paper's figures was looked at as pictures, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from referee.reports.plain import one_line, shortened
from referee.schemas.figure import FigureReading, SeenFigure

HEADING = "Figures as pictures"
_SHOWN_CHARS = 600


def figure_lines(reading: FigureReading | None) -> list[str]:
    """How many were seen and by whom, what each shows as read by eye, and why others were not; empty for no figures."""
    return list(_lines(reading)) if reading is not None else []


def figures_told(reading: FigureReading | None) -> str:
    """One sentence on what was seen, for the disclosure; empty where the paper has no figures."""
    if reading is None:
        return ""
    if not reading.seen:
        return f"Its figures were not looked at: {one_line(reading.reason or reading.unseen[0].reason)}."
    return (
        f"Of its figures and doubtful tables, {len(reading.seen)} of {reading.count} were looked at as pictures; what "
        "is said of a picture was read off it by eye, by the model, and nothing has checked it."
    )


def _lines(reading: FigureReading) -> Iterator[str]:
    yield figures_told(reading)
    if reading.serves:
        yield f"How they serve a reader, as the model says: {one_line(reading.serves)}"
    yield from map(_seen, reading.seen)
    if reading.seen:
        by_reason = sorted(reading.unseen, key=lambda one: one.reason)
        for reason, group in groupby(by_reason, key=lambda one: one.reason):
            yield f"Not seen: {', '.join(one_line(one.label) for one in group)} ({one_line(reason)})."
    yield from map(one_line, reading.left_out)


def _seen(figure: SeenFigure) -> str:
    page = f" (p. {figure.page}{', the whole page' if figure.whole_page else ''})" if figure.page is not None else ""
    shows = shortened(figure.shows, _SHOWN_CHARS) or "nothing was said of it"
    return f"{one_line(figure.label)}{page}, as read by eye: {shows}"
