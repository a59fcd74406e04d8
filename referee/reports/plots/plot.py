"""A plot: its data as rows, and how they are drawn."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.reports.tables import csv_text
from referee.runs.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cell = str | int | float | None

INK, MUTED, FAINT = "#1b1e24", "#5c6470", "#d5d9e0"
# Okabe and Ito's colours, which colour-blind readers can tell apart, on light and on dark ground.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a8f99", "#7a5195")
# Of people alone, on every plot; several groups of people are shades of one colour.
PEOPLE_COLOURS = ("#e69f00", "#a87400", "#f2cf80", "#6e4c00")
_THEMED = {INK: "var(--ink)", MUTED: "var(--muted)", FAINT: "var(--faint)"}
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "referee",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "text.parse_math": False,
}
_TITLE_LETTERS_AN_INCH = 11
_FONT = re.compile(r"font: ([^;\"]*?)'?DejaVu Sans'?[^;\"]*")
_IDS = re.compile(r'(\bid="|href="#|url\(#)')


@dataclass(frozen=True)
class Plot:
    """What is shown, row by row, and a function that draws it.

    Attributes:
        name: Names the files; letters, digits and hyphens.
        title: What a reader sees above it.
        columns: Names of the rows' cells.
        rows: Everything that is drawn, and nothing else.
        draw: Draws the rows on axes.
        caption: What a reader needs to know beside the title.
        size: Width and height in inches.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    draw: Callable[[Axes], None] = field(compare=False)
    caption: str = ""
    size: tuple[float, float] = (6.4, 3.4)

    def svg(self, *, themed: bool = False) -> str:
        """The drawing as SVG, the same bytes for the same data.

        Args:
            themed: For a page: no title (the page has it), a transparent ground, and the variables ``--ink``,
                ``--muted`` and ``--faint`` for colours, so that it follows the page's light and dark.
        """
        drawn = self._drawn("svg", titled=not themed).decode()
        drawn = drawn[drawn.index("<svg") :]
        drawn = _FONT.sub(r"font: \1system-ui, sans-serif", drawn)
        if themed:
            for colour, variable in _THEMED.items():
                drawn = drawn.replace(colour, variable)
            drawn = _IDS.sub(rf"\g<1>{self.name}-", drawn)
            drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{_attribute(self.title)}" ', 1)
        return drawn

    def png(self) -> bytes:
        """The drawing as PNG, at 160 dots per inch."""
        return self._drawn("png", titled=True)

    def figure(self, *, titled: bool) -> Figure:
        """The drawing as a figure of matplotlib; the title is broken into lines that fit."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=self.size, layout="constrained")
        self.draw(figure.add_subplot())
        if titled:
            lines = textwrap.fill(self.title, int(self.size[0] * _TITLE_LETTERS_AN_INCH))
            figure.suptitle(lines, x=0.01, ha="left", fontsize=10.5)
        return figure

    def _drawn(self, kind: str, *, titled: bool) -> bytes:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in a script the font lacks
            buffer = io.BytesIO()
            metadata = {"Date": None} if kind == "svg" else {"Software": None}
            self.figure(titled=titled).savefig(buffer, format=kind, dpi=160, transparent=not titled, metadata=metadata)
        return buffer.getvalue()


def plots_csv(plots: Iterable[Plot]) -> str:
    """All rows of all plots in one table of four columns: plot, row (from 1), column, value."""
    lines: list[tuple[Cell, ...]] = []
    for plot in plots:
        for number, row in enumerate(plot.rows, start=1):
            lines += [(plot.name, number, column, cell) for column, cell in zip(plot.columns, row, strict=True)]
    return csv_text(("plot", "row", "column", "value"), lines)


def write_plots(plots: Iterable[Plot], folder: Path) -> list[Path]:
    """Write each plot as NAME.svg and NAME.png; the paths in the order of the plots. No plot, no folder."""
    written = []
    for plot in plots:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{plot.name}.svg", plot.svg() + "\n")
        (folder / f"{plot.name}.png").write_bytes(plot.png())
        written += [folder / f"{plot.name}.svg", folder / f"{plot.name}.png"]
    return written


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
