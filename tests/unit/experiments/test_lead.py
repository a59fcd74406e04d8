"""The first sentence of an experiment: grammatical for every metric, in planted errors where these are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.experiments.arms import arms_of
from referee.experiments.comparing import cells_of, compared, self_difference
from referee.experiments.papers import PlanPaper, halved
from referee.experiments.plan import Plan
from referee.reports.experiment_lead import errors_table, lead_lines, lead_sentences, paper_table
from referee.schemas.experiment import ArmRecord, ExperimentResult, PaperValue
from referee.schemas.usage import Usage

ERRORS = [f"e{n}" for n in range(8)]


def outcome(metric: str, *pairs: tuple[float, float], errors: int = 0, tokens: int = 130) -> ExperimentResult:
    values = [
        PaperValue(
            paper=f"p{number}",
            arm=arm,
            metric=metric,
            status="scored",
            value=value,
            by_seed=(value,),
            errors={name: float(n < value * errors) for n, name in enumerate(ERRORS[:errors])},
        )
        for number, pair in enumerate(pairs)
        for arm, value in zip("ab", pair, strict=True)
    ]
    arms = tuple(
        ArmRecord(
            name=arm,
            strategy="single",
            venue="v",
            rounds=0,
            prompts={"review/single": arm},
            units={"finished": len(pairs)},
            usage=Usage(calls=1, input_tokens=used * len(pairs), output_tokens=0),
        )
        for arm, used in (("a", 100), ("b", tokens))
    )
    return ExperimentResult(
        name="x",
        split="development",
        plan_digest="0",
        package_version="0",
        status="finished",
        seeds=(0,),
        metrics=(metric,),
        arms=arms,
        papers=(),
        values=tuple(values),
        cells=cells_of(values, ["a", "b"], [metric]),
        comparisons=compared(values, [("b", "a")], [metric]),
        error_statements={"p0": {"e4": "The abstract says 70, the results 40."}},
    )


@pytest.mark.parametrize(
    ("metric", "pair", "errors", "says"),
    [
        ("planted_recall", (0.5, 0.625), 8, "prompt 'b' finds 1.0 more of 8 planted errors a paper than 'a', 95%"),
        ("planted_recall", (0.625, 0.5), 8, "prompt 'b' finds 1.0 fewer of 8 planted errors a paper than 'a', 95%"),
        ("planted_recall", (0.5, 0.5), 8, "prompt 'b' finds as many of 8 planted errors a paper as 'a', 95%"),
        (
            "planted_recall",
            (0.5, 0.6),
            0,
            "prompt 'b' finds 10.0 percentage points more of the planted errors than 'a',",
        ),
        ("depth", (0.5, 0.62), 0, "prompt 'b' scores 0.12 higher in depth than 'a', 95% interval +0.12 to +0.12, on 2"),
        ("genericness", (0.5, 0.4), 0, "prompt 'b' scores 0.10 lower in genericness (lower is better) than 'a', 95%"),
        ("depth", (0.5, 0.5001), 0, "prompt 'b' scores about the same in depth as 'a', 95% interval"),
        ("words", (100, 150), 0, "prompt 'b' writes 50.0 more words a review than 'a', 95% interval +50.0 to +50.0,"),
        (
            "false_alarms",
            (0.1, 0.2),
            0,
            "prompt 'b' alleges 10.0 percentage points more of the planted errors in clean",
        ),
    ],
)
def test_the_sentence_is_one_for_every_metric(metric: str, pair: tuple[float, float], errors: int, says: str) -> None:
    first, *_ = lead_sentences(outcome(metric, pair, pair, errors=errors))
    assert first.startswith(says)
    assert first.endswith(", on 2 papers; 1.3 times the tokens.")


def test_the_table_says_which_errors_one_alone_found() -> None:
    found = outcome("planted_recall", (0.5, 0.625), (0.5, 0.25), errors=8)
    table = paper_table(found)
    assert table is not None
    assert [list(row[:1]) + list(row[-3:]) for row in table.rows] == [
        ["p1", "-0.2500", "e2, e3", "–"],
        ["p0", "+0.1250", "–", "e4"],
    ]
    assert any(line.startswith("| paper") for line in lead_lines(found))


def test_planted_errors_are_listed_with_what_became_of_each() -> None:
    result = outcome("planted_recall", (0.5, 1.0), errors=4)
    theirs, ours = result.values
    told = {"e2": "The mean is 4, not 5.", "e3": "The abstract says 70, the results 40."}
    result = result.model_copy(
        update={
            "values": (theirs.model_copy(update={"undecided": {"e3": 1.0}}), ours),
            "error_statements": {"p0": told},
        }
    )
    table = errors_table(result)
    assert table is not None
    assert list(table.columns) == ["paper", "planted error", "a", "b"]
    assert [row[1:] for row in table.rows] == [
        ["The mean is 4, not 5.", "missed", "found"],
        ["The abstract says 70, the results 40.", "undecided", "found"],
        ["e0", "found", "found"],
        ["e1", "found", "found"],
    ]
    (said,) = [line for line in lead_sentences(result) if "only a judge" in line]
    assert (
        said
        == "Planted errors that only a judge can decide: 1 for 'a'. They count as not found; --judge MODEL asks one."
    )


def test_over_several_reviews_each_error_has_its_counts() -> None:
    result = outcome("planted_recall", (0.5, 1.0), errors=2)
    several = result.values[0].model_copy(
        update={"by_seed": (0.5, 0.5, 1.0), "errors": {"e0": 1.0, "e1": 1 / 3}, "undecided": {"e1": 1 / 3}}
    )
    table = errors_table(result.model_copy(update={"values": (several, result.values[1])}))
    assert table is not None
    assert {row[1]: row[2] for row in table.rows} == {"e0": "found 3 of 3", "e1": "found 1 undecided 1 of 3"}


def test_two_runs_of_one_prompt_differ_by_what_their_papers_vary() -> None:
    assert self_difference([[0.0, 2.0], [1.0, 1.0]]) == pytest.approx(1.0)  # means 0.5 and 1.5
    assert self_difference([[1.0], [2.0]]) is None
    assert self_difference([]) is None


def test_arms_are_called_by_their_prompts_files() -> None:
    def names(*tables: dict[str, Any]) -> list[str]:
        return [arm.name for arm in arms_of(Plan.model_validate({"grid": {"venues": ["v"], "prompts": list(tables)}}))]

    one = "review/single"
    a, b = {"file": "a.md", "text": "A"}, {"file": "b.md", "text": "B"}
    assert names({one: a}, {one: b}, {one: "v1"}, {}) == ["a", "b", "v1", "stored prompts"]
    assert names({one: a}, {one: {"file": "a.md", "text": "of another folder"}}) == ["a-1", "a-2"]
    assert names({one: "v1"}, {"review/audit": "v1"}) == ["review/single@v1", "review/audit@v1"]
    plan = {"grid": {"venues": ["v"], "prompts": [{one: a}, {f"{one}-brief": b}]}}
    assert {arm.strategy for arm in arms_of(Plan.model_validate(plan))} == {"single"}


def test_halves_go_by_digest_and_an_odd_paper_is_for_development() -> None:
    papers = [PlanPaper(f"p{n}", Path(f"p{n}.md"), str(n)) for n in range(5)]
    splits = {paper.name: paper.split for paper in halved(papers)}
    assert sorted(splits.values()) == ["development"] * 3 + ["test"] * 2
    assert {paper.name: paper.split for paper in halved(papers[::-1])} == splits
    assert {paper.split for paper in halved(papers[:1])} == {"development"}
