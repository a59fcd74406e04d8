"""The paper's tables and figures, from ``data/results.csv`` alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from intervals import METHODS

HERE = Path(__file__).resolve().parent
PAPER = HERE.parent / "paper"
NOMINAL = 95.0
Row = dict[str, str]
COLOURS = ("#b2182b", "#ef8a62", "#969696", "#2166ac", "#67a9cf", "#1b7837")
MARKERS = ("o", "v", "s", "D", "^", "P")


def results() -> list[Row]:
    """All rows of the stored results."""
    with (HERE / "data" / "results.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def percent(rows: Sequence[Row], column: str, **where: str) -> float:
    """The single row that matches ``where``, its ``column`` in percent or percentage points."""
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return 100 * float(row[column])


def coverage_cells(columns: Sequence[Sequence[float]]) -> list[list[str]]:
    """Coverage columns as LaTeX cells, one list per column; what is closest to the nominal level is bold."""
    cells = []
    for column in columns:
        shown = [f"{value:.1f}" for value in column]
        nearest = min(abs(float(text) - NOMINAL) for text in shown)
        best = [abs(float(text) - NOMINAL) < nearest + 1e-9 for text in shown]
        cells.append([rf"\textbf{{{text}}}" if bold else text for text, bold in zip(shown, best, strict=True)])
    return cells


def tabular(spec: str, heads: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """A booktabs table whose first column is the method."""
    names = [rf"\textsc{{{name}}}" for name in METHODS]
    body = [" & ".join(cells) + r" \\" for cells in zip(names, *columns, strict=True)]
    body.insert(2, r"\addlinespace")
    lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *heads, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def plain(rows: Sequence[Row], column: str, **where: str) -> list[str]:
    """One column of a table, a cell per method, without emphasis."""
    return [f"{percent(rows, column, method=method, **where):.1f}" for method in METHODS]


def main_table(rows: Sequence[Row]) -> str:
    """Table 1: coverage by the number of clusters, and widths at three of them."""
    numbers, shown = ("5", "10", "20", "40", "80"), ("5", "10", "80")
    rows = [row for row in rows if row["study"] == "clusters"]
    columns = [[percent(rows, "coverage", method=m, clusters=g) for m in METHODS] for g in numbers]
    widths = [plain(rows, "mean_width", clusters=g) for g in shown]
    heads = [
        r" & \multicolumn{5}{c}{Coverage (\%)} & \multicolumn{3}{c}{Mean width (points)} \\",
        r"\cmidrule(lr){2-6} \cmidrule(l){7-9}",
        "Interval & " + " & ".join(f"$G={g}$" for g in numbers + shown) + r" \\",
    ]
    return tabular("@{}lrrrrrrrr@{}", heads, coverage_cells(columns) + widths)


def trained_table(rows: Sequence[Row]) -> str:
    """Table 2: the trained pair, with the side of the misses and the width at ten clusters."""
    numbers = ("5", "10", "20", "40")
    rows = [row for row in rows if row["study"] == "trained" and row["training_seed"] == "0"]
    columns = [[percent(rows, "coverage", method=m, clusters=g) for m in METHODS] for g in numbers]
    tails = [plain(rows, name, clusters="10") for name in ("above", "below", "mean_width")]
    heads = [
        r" & \multicolumn{4}{c}{Coverage (\%)} & \multicolumn{3}{c}{At $G=10$} \\",
        r"\cmidrule(lr){2-5} \cmidrule(l){6-8}",
        "Interval & " + " & ".join(f"$G={g}$" for g in numbers) + r" & above (\%) & below (\%) & width \\",
    ]
    return tabular("@{}lrrrrrrr@{}", heads, coverage_cells(columns) + tails)


def seeds_table(rows: Sequence[Row]) -> str:
    """Table 3: the same comparison for five training seeds at ten clusters."""
    pairs = json.loads((HERE / "data" / "meta.json").read_text(encoding="utf-8"))["trained_pairs"]
    rows = [row for row in rows if row["study"] == "trained" and row["clusters"] == "10"]
    columns = [[percent(rows, "coverage", method=m, training_seed=s) for m in METHODS] for s in pairs]
    facts = {
        r"Training seed": [str(seed) for seed in pairs],
        r"Difference $\Delta$ (points)": [f"{100 * pair['difference']:.1f}" for pair in pairs.values()],
        r"Correlation $\rho$": [f"{pair['correlation']:.2f}" for pair in pairs.values()],
        r"Skewness of residuals": [f"{pair['skewness']:.1f}" for pair in pairs.values()],
    }
    heads = [f"{name} & " + " & ".join(cells) + r" \\" for name, cells in facts.items()]
    return tabular("@{}lrrrrr@{}", heads, coverage_cells(columns))


def write_tables() -> None:
    """Write the three tables as LaTeX fragments."""
    rows = results()
    folder = PAPER / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("main", main_table), ("trained", trained_table), ("seeds", seeds_table)):
        (folder / f"{name}.tex").write_text(make(rows), encoding="utf-8")


def write_figures() -> None:
    """Write the three figures as PDF, without dates or program names inside."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    style = {"font.family": "serif", "font.size": 8, "mathtext.fontset": "stix", "pdf.fonttype": 42}
    style |= {"font.serif": ["STIXGeneral", "DejaVu Serif"], "axes.spines.top": False, "axes.spines.right": False}
    plt.rcParams.update(style | {"legend.frameon": False, "lines.markersize": 3.5, "lines.linewidth": 1.1})
    rows = results()
    (PAPER / "figures").mkdir(parents=True, exist_ok=True)

    figure, axes = plt.subplots(figsize=(4.4, 1.85), layout="constrained")
    chosen = [row for row in rows if row["study"] == "correlation"]
    curves(axes, chosen, "correlation")
    axes.set(xlabel=r"intra-cluster correlation $\rho$ of the differences", ylabel="coverage (%)", ylim=(55, 100))
    figure.legend(loc="outside right center", fontsize=7)
    save(figure, "correlation")

    figure, panels = plt.subplots(1, 2, figsize=(5.8, 1.8), layout="constrained", sharey=True)
    for axes, clusters in zip(panels, ("10", "20"), strict=True):
        chosen = [row for row in rows if row["study"] == "sizes" and row["clusters"] == clusters]
        curves(axes, chosen, "size_spread")
        axes.set(xlabel=r"spread $s$ of log cluster sizes", xticks=(0, 0.5, 1, 1.5), ylim=(55, 100))
        axes.set_title(f"$G={clusters}$", fontsize=8)
    panels[0].set_ylabel("coverage (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=7)
    save(figure, "sizes")

    figure, axes = plt.subplots(figsize=(5.0, 1.5), layout="constrained")
    misses(axes, [row for row in rows if row["study"] == "trained" and row["training_seed"] == "0"])
    save(figure, "misses")


def curves(axes, rows: Sequence[Row], column: str) -> None:
    """One coverage curve per method over ``column``, and the nominal level."""
    axes.axhline(NOMINAL, color="black", linewidth=0.6, linestyle=":")
    for method, colour, marker in zip(METHODS, COLOURS, MARKERS, strict=True):
        points = [(float(r[column]), 100 * float(r["coverage"])) for r in rows if r["method"] == method]
        dash = "--" if "boot" in method else "-"
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, linestyle=dash, label=method)


def misses(axes, rows: Sequence[Row]) -> None:
    """For the trained pair at ten clusters: how often the interval lies above or below the truth."""
    for offset, side, colour in ((-0.19, "below", "#2166ac"), (0.19, "above", "#ef8a62")):
        heights = [percent(rows, side, method=m, clusters="10") for m in METHODS]
        places = [k + offset for k in range(len(METHODS))]
        axes.bar(places, heights, width=0.36, color=colour, label=f"{side} the truth")
    axes.axhline((100 - NOMINAL) / 2, color="black", linewidth=0.6, linestyle=":")
    axes.set_xticks(range(len(METHODS)), [m.replace("-", "-\n", 1) for m in METHODS], fontsize=7)
    axes.set(ylabel="misses (%)")
    axes.figure.legend(loc="outside right center", fontsize=7)


def save(figure, name: str) -> None:
    """Write one figure and close it."""
    from matplotlib import pyplot as plt

    nothing = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    figure.savefig(PAPER / "figures" / f"{name}.pdf", metadata=nothing)
    plt.close(figure)


if __name__ == "__main__":
    write_tables()
    write_figures()
