"""Plots: each is data first, and is drawn as SVG or PNG when it is asked for."""

from referee.reports.plots.charts import (
    CHANCE,
    PEOPLE,
    bars,
    calibration,
    cumulative,
    dots,
    dots_beside_lines,
    forest,
    frontier,
    lines,
    roc,
)
from referee.reports.plots.plot import Plot, plots_csv, write_plots

__all__ = [
    "CHANCE",
    "PEOPLE",
    "Plot",
    "bars",
    "calibration",
    "cumulative",
    "dots",
    "dots_beside_lines",
    "forest",
    "frontier",
    "lines",
    "plots_csv",
    "roc",
    "write_plots",
]
