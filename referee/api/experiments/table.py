"""The arms and the human reviews in the layout of ReviewEval's Table 2, from the stored results of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.evals.case_store import read_stored
from referee.evals.grouping import Rows
from referee.evals.registry import better_of, judged_ranges
from referee.evals.results import RESULTS, read_results
from referee.evals.table import build_table
from referee.experiments.execution import EVALUATIONS, SETS
from referee.reports.eval_summary import About, main_table_lines, render_summary
from referee.reports.paper_table import published_table
from referee.schemas.case import ReviewCase
from referee.schemas.experiment import ExperimentResult
from referee.schemas.metric import MetricResult


@dataclass(frozen=True)
class ArmTable:
    """The whole as Markdown, and the main table in lines for the terminal."""

    markdown: str
    lines: list[str]


def arms_and_experts(run: Path, result: ExperimentResult, *, paper_table: bool) -> ArmTable | None:
    """The table over the papers that were measured; None where none was, or where papers are planted.

    Only papers on which every arm has its review are in it. A paper counts once in a row, by the mean over seeds or
    human reviews; the rows of a column are over the same papers.
    """
    usable = [paper.name for paper in result.papers if not paper.excluded]
    papers = [name for name in usable if (run / EVALUATIONS / name / RESULTS).is_file()]
    if result.planted:  # a copy of a paper is nothing that people have reviewed
        return None
    cases = [case for name in papers for case in _cases(run, name)]
    if not cases:
        return None
    table = build_table(
        _results(run, papers),
        Rows("source", cases),
        result.metrics,
        better=better_of(result.metrics),
        judged=judged_ranges(result.metrics),
        over_papers=True,
    )
    about = About(
        reviews=len(cases),
        papers=len(papers),
        judges=result.judges,
        repeats=result.repeats,
        embedder=result.embedder,
        notes=(*result.notes, f"{len(usable) - len(papers)} of {len(usable)} papers were not measured"),
    )
    published = published_table() if paper_table else None
    return ArmTable(render_summary(table, about, published=published), main_table_lines(table))


def _cases(run: Path, paper: str) -> Iterator[ReviewCase]:
    return read_stored(run / SETS / f"{paper}.jsonl")


def _results(run: Path, papers: list[str]) -> Iterator[MetricResult]:
    for name in papers:
        yield from read_results(run / EVALUATIONS / name / RESULTS)
