"""A metric's correlations as a section of the summary and as CSV."""

from __future__ import annotations

from referee.evals.correlations import Correlations
from referee.reports.markdown_text import inline
from referee.reports.page import Section
from referee.reports.tables import csv_text, dashed, interval, number

CORRELATIONS = "correlations.csv"
BY_REFERENCES = "by_references.csv"
_DIGITS = 3


def correlation_section(found: Correlations) -> Section:
    """Spearman's rho of every pair, and the means by bins of cross-references."""
    text = (
        "Spearman's rho over reviews, with its 95 percent interval (bootstrap over papers). Neither says which of the "
        "two brings about the other."
    )
    columns = ["system", "quantity", "with", "rho", "interval", "reviews", "papers"]
    pairs = [
        [
            *(one.row, one.quantity, one.other, number(one.rho.mean, _DIGITS)),
            *(interval(one.rho.low, one.rho.high, _DIGITS), str(one.rho.n), str(one.rho.clusters)),
        ]
        for one in found.pairs
    ]
    bins = [
        [
            *(one.row, one.quantity, one.bin, str(one.reviews)),
            *(number(one.mean, _DIGITS), number(one.gain, _DIGITS, signed=True)),
        ]
        for one in found.bins
    ]
    shown = [dashed("", ["system", "quantity", "references", "reviews", "mean", "gain"], bins)] if bins else []
    return Section(f"What goes with {inline(found.metric)}", (text, dashed("", columns, pairs), *shown))


def correlation_files(found: Correlations) -> dict[str, str]:
    """By file name, a line a pair, and a line a bin where cross-references were counted."""
    names = ("system", "quantity", "with", "rho", "low", "high", "reviews", "papers")
    pairs = (
        (one.row, one.quantity, one.other, one.rho.mean, one.rho.low, one.rho.high, one.rho.n, one.rho.clusters)
        for one in found.pairs
    )
    files = {CORRELATIONS: csv_text(names, pairs)}
    if found.bins:
        bins = ((one.row, one.quantity, one.bin, one.reviews, one.mean, one.gain) for one in found.bins)
        files[BY_REFERENCES] = csv_text(("system", "quantity", "references", "reviews", "mean", "gain"), bins)
    return files
