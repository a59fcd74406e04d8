"""The summary of an evaluation, for a reader and for programs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from referee.evals.comparison import Comparison, Difference
from referee.evals.edges import Edges
from referee.evals.grouping import RowKey
from referee.evals.table import Cell, MetricTotals, Table
from referee.reports.eval_summary import COLUMNS, About, render_summary, summary_csv, summary_json
from referee.reports.paper_table import published_table
from referee.schemas.usage import Usage

GPT, EXPERT, RUN = RowKey("", "gpt|4 *o*"), RowKey("", "Expert"), RowKey("", "=cmd()")
ABOUT = About(reviews=30, papers=12, rejected=2, judges=("m1", "m2"), repeats=2, notes=("mind this",))


def table() -> Table:
    cells = {
        (GPT, "depth"): Cell(
            mean=0.5,
            sd=0.1,
            low=0.4,
            high=0.6,
            papers=10,
            scored=10,
            not_applicable=1,
            failed=2,
            alpha=0.8,
            repeat_sd=0.05,
            parts={"m1": 0.25},
            judged={"m1": (10, 12), "m2": (0, 12)},
            nearest=True,
            best=True,
        ),
        (RUN, "depth"): Cell(failed=3),
        (EXPERT, "depth"): Cell(mean=0.55, scored=1, papers=1),
    }
    totals = MetricTotals(Usage(calls=8, reused_calls=2, cost_usd=None), 16, (("failed", "judge *down*", 5),))
    return Table(("depth",), (GPT, RUN, EXPERT), cells, {"depth": totals}, "source")


def lines(text: str, start: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(start)]


def test_the_summary_prints_value_spread_marks_interval_and_counts() -> None:
    text = render_summary(table(), ABOUT)
    main, sure, further, agreement = lines(text, "| gpt")[:1], *(lines(text, "| gpt")[n : n + 1] for n in (1, 9, 2))
    assert main == [r"| gpt\|4 \*o\* | 0.5000 ± 0.1000 †‡ (m2 judged 0 of 12) |"]
    assert sure == [r"| gpt\|4 \*o\* | [0.4000, 0.6000]; 10 / 1 / 2 |"]
    assert agreement == [r"| gpt\|4 \*o\* | 0.8000; 0.0500 |"]
    assert not further
    assert lines(text, "| depth: m1") == ["| depth: m1 | 0.2500 | – | – |"]
    assert "† nearest to Expert, ‡ best where more is better" in text
    assert "- Judges: m1, m2, each asked 2 times" in text
    assert "rows left out: 2" in text
    assert "- Note: mind this" in text


def test_the_shares_at_the_ends_stand_in_the_summary_and_level_systems_are_named() -> None:
    assert "ends of the scale" not in render_summary(table(), ABOUT)
    cells = {
        (GPT, "depth"): Cell(mean=1.0, scored=4, edges=Edges(1.0, 0.0)),
        (RUN, "depth"): Cell(mean=0.98, scored=10, edges=Edges(0.9, 0.0)),
        (EXPERT, "depth"): Cell(mean=0.5, scored=2, edges=Edges(0.5, 0.5)),
    }
    text = render_summary(level := replace(table(), cells=cells), ABOUT)
    assert lines(text, "| gpt")[0].endswith("| 1.0000 (at the ceiling) |")
    assert lines(text, "| gpt")[2].endswith("| top 100%; bottom 0%, at the ceiling |")
    assert lines(text, "| Expert")[2] == "| Expert | top 50%; bottom 50% |"
    assert lines(text, "- depth: all") == ["- depth: all systems are at the ceiling; none is marked as best"]
    assert [(row["at_top"], row["at_bottom"]) for row in csv.DictReader(io.StringIO(summary_csv(level)))] == [
        ("1.0", "0.0"),
        ("0.9", "0.0"),
        ("0.5", "0.5"),
    ]


def test_a_failure_is_a_dash_and_a_count_and_never_a_number() -> None:
    text = render_summary(table(), ABOUT)
    assert lines(text, "| =cmd()")[:2] == ["| =cmd() | – |", "| =cmd() | –; 0 / 0 / 3 |"]
    assert r"- depth, failed, 5: judge \*down\*" in text
    assert "| unknown |" in " ".join(text.split())


def test_a_silent_judge_stands_beside_the_number_below_the_table_and_in_the_files() -> None:
    text = render_summary(table(), ABOUT)
    assert "m2 answered nothing (depth: judged 0 of 12): no number here is of that judge." in text
    assert lines(text, "| m1") == ["| m1 | 10 of 12 |"]
    assert lines(text, "| m2") == ["| m2 | 0 of 12 |"]
    rows = list(csv.DictReader(io.StringIO(summary_csv(table()))))
    assert [row["judged"] for row in rows] == ["m1 10 of 12; m2 0 of 12", "", ""]
    cells = json.loads(summary_json(table(), ABOUT))["cells"]
    assert cells[0]["judged"] == {"m1": [10, 12], "m2": [0, 12]}
    plain = replace(table(), cells={key: replace(cell, judged={}) for key, cell in table().cells.items()})
    assert "answered nothing" not in render_summary(plain, ABOUT)


def test_the_legend_says_over_what_mean_and_spread_are() -> None:
    assert "over its scored reviews" in render_summary(table(), ABOUT)
    assert "over papers" in render_summary(replace(table(), over_papers=True), ABOUT)


def test_one_review_has_no_interval() -> None:
    assert lines(render_summary(table(), ABOUT), "| Expert")[:2] == ["| Expert | 0.5500 |", "| Expert | –; 1 / 0 / 0 |"]


def test_a_comparison_is_printed_with_its_direction() -> None:
    found = Comparison(
        "a", "b", (Difference("depth", -0.1, -0.2, 0.05, 7, 0.04, 0.08), Difference("x", None, None, None, 0))
    )
    text = render_summary(table(), ABOUT, comparison=found)
    assert "## a less b" in text
    assert lines(text, "| depth | -") or "| depth  | -0.1000" in text
    assert "[-0.2000, +0.0500]" in text
    assert lines(text, "| x ") == ["| x | – | – | 0 | – | – |"]


def test_the_published_table_stands_beside_ours_with_both_rules() -> None:
    text = render_summary(table(), ABOUT, published=published_table())
    assert lines(text, "| MARG GPT-4o ") == ["| MARG GPT-4o | 0.6833 ± 0.0725 † |"]
    assert lines(text, "| MARG GPT-4o-mini") == ["| MARG GPT-4o-mini | 0.7014 ± 0.0832 ‡ |"]
    assert "Other papers and judges than ours" in text


@pytest.mark.parametrize(
    ("metric", "nearest", "highest"),
    [
        ("constructiveness", {"ReviewEval 3.5 Sonnet"}, {"Sakana GPT-4o-mini"}),
        ("topic_coverage", set(), {"ReviewEval 3.5 Haiku"}),
        ("semantic_similarity", set(), {"Sakana GPT-4o"}),
        ("factual_correctness", {"ReviewEval 3.5 Haiku"}, {"ReviewEval 3.5 Haiku"}),
    ],
)
def test_the_published_best_by_both_rules(metric: str, nearest: set[str], highest: set[str]) -> None:
    assert published_table().best(metric) == (nearest, highest)


def test_the_published_table_is_whole() -> None:
    published = published_table()
    assert (len(published.rows), len(published.metrics), published.papers) == (11, 6, 16)
    values = {row.system: row.values for row in published.rows}
    assert values["Expert"]["topic_coverage"] is None
    assert values["ReviewEval GPT-4o"]["topic_coverage"] == (0.6788, 0.2546)


def test_the_csv_has_a_line_a_cell_and_runs_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(summary_csv(table()))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["system"] for row in rows] == ["gpt|4 *o*", "'=cmd()", "Expert"]
    assert (rows[0]["mean"], rows[0]["nearest_to_expert"], rows[1]["mean"], rows[1]["failed"]) == (
        "0.5",
        "True",
        "",
        "3",
    )


def test_the_json_holds_what_the_summary_prints() -> None:
    found = Comparison("a", "b", (Difference("depth", 0.1, 0.0, 0.2, 7),))
    data = json.loads(summary_json(table(), ABOUT, comparison=found, published=published_table()))
    first = data["cells"][0]
    assert (first["system"], first["mean"], first["parts"], first["alpha"]) == ("gpt|4 *o*", 0.5, {"m1": 0.25}, 0.8)
    assert data["cells"][1]["mean"] is None
    assert data["about"]["judges"] == ["m1", "m2"]
    assert data["metrics"]["depth"]["reasons"] == [{"status": "failed", "reason": "judge *down*", "units": 5}]
    assert data["comparison"]["differences"][0]["papers"] == 7
    assert len(data["published"]["rows"]) == 11


@pytest.mark.parametrize(
    ("metric", "digits"),
    [
        ("depth", 4),
        ("semantic_similarity", 4),
        ("of-no-installed-package", 4),
        ("words", 1),
        ("xref", 2),
        ("rating", 2),
    ],
)
def test_the_digits_are_those_of_the_unit_and_the_csv_keeps_all(metric: str, digits: int) -> None:
    cells = {(GPT, metric): Cell(mean=1 / 3, sd=1 / 7, low=0.25, high=0.5, scored=3, papers=3)}
    of_metric = replace(table(), metrics=(metric,), rows=(GPT,), cells=cells, totals={})
    assert f"| {1 / 3:.{digits}f} ± {1 / 7:.{digits}f} |" in lines(render_summary(of_metric, ABOUT), "| gpt")[0]
    assert str(1 / 3) in summary_csv(of_metric)
