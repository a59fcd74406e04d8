"""Counts that sum to the papers, differences by hand, one correction over everything; and how they are printed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean

import pytest

from referee.experiments.comparing import cells_of, compared
from referee.experiments.review_set import case_id
from referee.experiments.units import Unit
from referee.experiments.values import Measured, UnitOutcome, values_of
from referee.reports.experiment_summary import render_experiment, write_experiment
from referee.schemas.experiment import ArmCell, ArmRecord, ExperimentResult, PaperValue
from referee.schemas.metric import MetricResult
from referee.stats import holm, paired_interval

from .parts import Bench

STATUSES = ("scored", "failed", "not_applicable", "pending", "scored", "scored")


def value(paper: int, arm: str, metric: str = "m") -> PaperValue:
    status = STATUSES[paper]
    scored = status == "scored"
    number = paper / 10 + (0.2 if arm == "b" else 0.0) + (0.1 if arm == "b" and paper == 4 else 0.0)
    return PaperValue(
        paper=f"p{paper}",
        arm=arm,
        metric=metric,
        status=status,
        value=number if scored else None,
        reason="" if scored else "so",
    )


def test_pairs_failures_and_the_rest_sum_to_the_papers() -> None:
    values = [value(paper, arm) for paper in range(6) for arm in "ab"]
    (one,) = compared(values, [("b", "a")], ["m"])
    assert (one.n_pairs, one.n_failed, one.n_not_applicable, one.n_pending) == (3, 1, 1, 1)
    assert one.mean_difference == pytest.approx((0.2 + 0.3 + 0.2) / 3)
    assert one.low is not None
    assert one.high is not None
    assert 0.2 - 1e-9 <= one.low <= one.mean_difference <= one.high <= 0.3 + 1e-9
    assert one.p == 0.25  # of eight sign patterns, all plus and all minus
    cells = cells_of(values, ["a", "b"], ["m"])
    assert (cells[0].n_scored, cells[0].n_failed, cells[0].n_not_applicable, cells[0].n_pending) == (3, 1, 1, 1)
    assert cells[0].mean == pytest.approx((0.0 + 0.4 + 0.5) / 3)


def test_the_interval_is_the_one_for_few_papers() -> None:
    values = [value(paper, arm) for paper in (0, 4, 5) for arm in "ab"]
    (one,) = compared(values, [("b", "a")], ["m"])
    pairs = {f"p{n}": [(value(n, "b").value or 0.0, value(n, "a").value or 0.0)] for n in (0, 4, 5)}
    expected = paired_interval(pairs, seed=20_260_101)
    assert (one.low, one.high) == (expected.low, expected.high)


def test_the_correction_is_over_all_comparisons_and_metrics() -> None:
    values = [value(paper, arm, metric) for paper in (0, 4, 5) for arm in "ab" for metric in ("m", "n")]
    values += [v.model_copy(update={"arm": "c"}) for v in values if v.arm == "a"]
    found = compared(values, [("b", "a"), ("c", "a"), ("c", "b")], ["m", "n"])
    assert len(found) == 6
    assert [one.p_holm for one in found] == holm([one.p or 0.0 for one in found])
    assert found[0].p_holm == 1.0  # 6 * 0.25, capped


def test_with_one_pair_nothing_is_said_of_chance() -> None:
    (one,) = compared([value(0, "a"), value(0, "b")], [("b", "a")], ["m"])
    assert (one.n_pairs, one.low, one.p, one.p_holm) == (1, None, None, None)


@pytest.mark.slow
async def test_files_hold_what_the_summary_says(tmp_path: Path) -> None:
    result = await Bench(tmp_path, ("p0", "p1"), ("a", "b|c"), metrics=("depth", "tone")).run()
    result = result.model_copy(update={"notes": ("a <b>note</b>",)})
    files: dict[str, str] = {}
    write_experiment(result, lambda name, text: files.update({name: text}))
    assert set(files) == {
        "results.jsonl",
        "summary.json",
        "summary.csv",
        "comparisons.csv",
        "summary.md",
        "report.html",
    }
    assert ExperimentResult.model_validate_json(files["summary.json"]) == result
    lines = [json.loads(line) for line in files["results.jsonl"].splitlines()]
    assert len(lines) == 2 * 2 * 2
    rows = list(csv.DictReader(files["comparisons.csv"].splitlines()))
    assert [(row["first"], row["n_pairs"]) for row in rows] == [("b|c", "2"), ("b|c", "2")]
    summary = files["summary.md"]
    assert "b\\|c less a" in summary
    assert "<b>" not in summary.replace("\\<b>", "")
    assert "pairs / failed / n.a. / pending" in summary


@pytest.mark.parametrize(
    ("planted", "clean", "told"),
    [
        (0.5, None, ("scored", 0.5, (0.5,))),
        (0.25, 0.75, ("scored", 0.5, (0.75, 0.25))),
        (None, None, ("not_applicable", None, (None, None))),
    ],
    ids=["speaks of one copy", "speaks of both", "speaks of neither"],
)
def test_a_planted_paper_has_one_value_of_the_copies_that_a_metric_speaks_of(
    planted: float | None, clean: float | None, told: tuple[str, float | None, tuple[float | None, ...]]
) -> None:
    own = [Unit("p", "a", 0, {"paper": twin}, twin=twin) for twin in ("clean", "planted")]
    results = {
        (case_id(unit), "m"): MetricResult(
            case_id=case_id(unit),
            paper_id=unit.twin,
            source="a",
            metric="m",
            version="1",
            status="not_applicable" if value is None else "scored",
            value=value,
            reason="" if value is not None else "not of this copy",
        )
        for unit, value in zip(own, (clean, planted), strict=True)
    }
    finished = {unit: UnitOutcome("finished") for unit in own}
    (value,) = values_of(Measured("p", {"a": own}, finished, results), ["m"])
    assert (value.status, value.value, value.by_seed) == told
    failed = {own[0]: UnitOutcome("failed", "mute"), own[1]: UnitOutcome("finished")}
    (value,) = values_of(Measured("p", {"a": own}, failed, results), ["m"])
    assert value.status == "failed"


def test_arms_at_the_ceiling_of_a_judged_metric_are_named_and_told_apart_by_nothing() -> None:
    seeds = {("p0", "a"): (1, 1), ("p1", "a"): (1, 1), ("p0", "b"): (1, 0), ("p1", "b"): (1, 1)}
    values = [
        PaperValue(paper=paper, arm=arm, metric="m", status="scored", value=fmean(own), by_seed=own)
        for (paper, arm), own in seeds.items()
    ]
    first, second = cells_of(values, ["a", "b"], ["m"], {"m": (0.0, 1.0)})
    assert (first.at_top, first.at_bottom, second.at_top, second.at_bottom) == (1, 0, 0.75, 0.25)
    assert [cell.at_top for cell in cells_of(values, ["a"], ["m"])] == [None]
    text = _summary_of(first, second)
    assert "(at the ceiling)" in text
    assert "top 75%; bottom 25%" in text
    assert "all arms are at the" not in text
    assert "- m: all arms are at the ceiling" in _summary_of(first, second.model_copy(update={"at_top": 0.9}))


def _summary_of(*cells: ArmCell) -> str:
    arms = tuple(ArmRecord(name=name, strategy="single", venue="iclr-2025", rounds=0) for name in ("a", "b"))
    about = {"name": "try", "split": "development", "plan_digest": "0" * 64, "package_version": "1", "seeds": (0, 1)}
    told = {"status": "finished", "metrics": ("m",), "arms": arms, "papers": (), "values": (), "comparisons": ()}
    return render_experiment(ExperimentResult.model_validate({**about, **told, "cells": cells}))
