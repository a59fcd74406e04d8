"""``referee detect evaluate`` written down: a page, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from referee.evals.detection.evaluation import Rate
from referee.evals.detection.result import DetectionResult
from referee.reports.detection_plots import detection_plots
from referee.reports.detection_tables import DETECTION, FALSE_POSITIVES, TITLE, lead, sections
from referee.reports.page import Section, about, bullets, plots_section, render_markdown, render_page
from referee.reports.plots import Plot, plots_csv
from referee.reports.tables import csv_text, json_text, markdown_table

_COLUMNS = (
    *("detector", "reviews_by", "ai_reviews", "human_reviews", "target", "threshold", "calibration_n", "calibration_k"),
    *("expected_fpr_low", "expected_fpr", "expected_fpr_high", "resolution"),
    *("tpr", "tpr_sd", "tpr_low", "tpr_high", "fpr", "fpr_sd", "fpr_low", "fpr_high"),
    *(
        "auc",
        "auc_low",
        "auc_high",
        "partial_auc",
        "precision_recall",
        "unscored_human",
        "unscored_ai",
        "late_human",
        "anchors",
        "forced",
    ),
)


def write_detection(result: DetectionResult, write: Callable[[str, str], object]) -> tuple[Plot, ...]:
    """Write ``report.html``, ``detection.md``, ``detection.csv``, ``detection.json`` and ``plots.csv``.

    Args:
        result: The numbers.
        write: Writes a text file of that name whole.

    Returns:
        The plots of the page.
    """
    plots = detection_plots(result)
    write("detection.json", _json(result))
    write("detection.csv", csv_text(_COLUMNS, _lines(result)))
    write("plots.csv", plots_csv(plots))
    shown = [*sections(result), about(result.facts), *([plots_section(plots)] if plots else [])]
    notes = bullets(f"Note: {note}." for note in _notes(result))
    write("detection.md", render_markdown(TITLE, [lead(result), notes], shown, table=markdown_table))
    write("report.html", _page(result, plots))
    return plots


def _notes(result: DetectionResult) -> tuple[str, ...]:
    forced = tuple(f"forced, and marked in every table: {mark}" for mark in result.marks)
    return (*forced, *result.notes)


def _json(result: DetectionResult) -> str:
    """All numbers; of single reviews none, which are in the runs of ``detect score``."""
    numbers = TypeAdapter(DetectionResult).dump_python(replace(result, scores={}), mode="json")
    del numbers["scores"]
    return json_text({"schema_version": 1, **numbers, "marks": list(result.marks)})


def _lines(result: DetectionResult) -> Iterator[Sequence[object]]:
    for report in result.reports:
        spread = report.auc_spread
        areas = (report.auc, spread and spread.low, spread and spread.high, report.partial, report.precision_recall)
        left = (
            report.unscored["human"],
            report.unscored["ai"],
            sum(result.late.values()),
            report.anchors,
            "; ".join(report.marks),
        )
        for at in report.at:
            own = at.threshold
            yield (
                *(report.detector, report.llm, at.true_positive_rate.n, at.false_positive_rate.n),
                *(own.target, own.theta, own.n, own.k, own.low, own.mean, own.high, own.resolution),
                *(_rate(at.true_positive_rate, own.flags_anyone)),
                *(_rate(at.false_positive_rate, own.flags_anyone)),
                *areas,
                *left,
            )


def _rate(rate: Rate, resolved: bool) -> tuple[float | None, ...]:
    """Empty where the threshold may flag nobody: a rate of 0 would look measured."""
    return (rate.value, rate.sd, rate.low, rate.high) if resolved else (None,) * 4


def _page(result: DetectionResult, plots: Sequence[Plot]) -> str:
    curves = tuple(plot for plot in plots if plot.name == "roc")
    spreads = tuple(plot for plot in plots if plot.name != "roc")
    beside = {DETECTION: curves, FALSE_POSITIVES: spreads}
    shown = [replace(part, plots=beside.get(part.heading, ())) for part in sections(result)]
    if notes := _notes(result):
        shown.insert(0, Section("Notes", tuple(f"{note}." for note in notes)))
    return render_page(TITLE, lead(result), shown, result.facts)
