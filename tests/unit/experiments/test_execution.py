"""The order under a budget, what a failure does to a pair, and what is not paid twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from referee.errors import ModelUnavailable, ReplyInvalid
from referee.experiments.schedule import ordered
from referee.experiments.units import Unit
from referee.schemas.case import ReviewCase

from .parts import TOKENS, Bench, units, values

ARMS = ("a", "b", "c")
PAPERS = tuple(f"p{n}" for n in range(5))


@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_any_beginning_of_the_order_is_balanced_over_the_arms(seeds: tuple[int, ...]) -> None:
    order = ordered(units(PAPERS, ARMS, seeds), PAPERS, ARMS)
    assert len(order) == len(set(order)) == len(PAPERS) * len(ARMS) * len(seeds)
    for end in range(len(order) + 1):
        counts = Counter(unit.arm for unit in order[:end])
        assert max(counts[arm] for arm in ARMS) - min(counts[arm] for arm in ARMS) <= 1


def test_each_paper_begins_with_another_arm() -> None:
    order = ordered(units(PAPERS, ARMS), PAPERS, ARMS)
    assert [unit.arm for unit in order[:: len(ARMS)]] == ["a", "b", "c", "a", "b"]


async def test_half_the_budget_measures_whole_pairs_and_the_rest_is_pending(tmp_path: Path) -> None:
    half = TOKENS * len(PAPERS) * len(ARMS) // 2
    bench = Bench(tmp_path, PAPERS, ARMS, max_tokens=half)
    result = await bench.run()
    assert (result.status, result.paid.total_tokens, len(bench.made)) == ("stopped", 700, 7)
    counts = Counter(unit.arm for unit in bench.made)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert bench.judged == ["p0", "p1"]
    for one in result.comparisons:
        assert (one.n_pairs, one.n_pending, one.n_failed) == (2, 3, 0)

    bench.max_tokens = None
    result = await bench.run()
    assert (result.status, result.paid.total_tokens) == ("finished", 1500)
    assert len(bench.made) == len(set(bench.made)) == 15
    assert bench.judged == list(PAPERS)
    assert all(one.n_pairs == 5 for one in result.comparisons)


async def test_a_unit_that_fails_fails_its_pair_in_every_arm_and_is_tried_again(tmp_path: Path) -> None:
    def failing(unit: Unit) -> Exception | None:
        return ReplyInvalid("no valid reply") if (unit.paper, unit.arm) == ("p1", "b") else None

    bench = Bench(tmp_path, ("p0", "p1", "p2"), ARMS, failing=failing)
    result = await bench.run()
    assert len(bench.made) == 9
    assert bench.judged == ["p0", "p2"]  # a pair that is failed is not judged
    for one in result.comparisons:
        assert (one.n_pairs, one.n_failed) == (2, 1)
    found = values(result)
    assert found["p1", "b"].reason == "no valid reply"
    assert found["p1", "a"].reason == "arm 'b': no valid reply"
    assert {found["p1", arm].status for arm in ARMS} == {"failed"}
    assert result.arms[1].units == {"finished": 2, "failed": 1, "pending": 0, "reused": 0}

    bench.failing = lambda unit: None
    result = await bench.run()
    assert len(bench.made) == 10
    assert bench.judged == ["p0", "p2", "p1"]
    assert all((one.n_pairs, one.n_failed) == (3, 0) for one in result.comparisons)


async def test_a_model_that_dies_half_way_is_given_up_after_three_units(tmp_path: Path) -> None:
    alive = [True] * 2

    def failing(unit: Unit) -> Exception | None:
        if unit.arm != "b" or (alive and alive.pop()):
            return None
        return ModelUnavailable("no answer")

    papers = tuple(f"p{n}" for n in range(8))
    bench = Bench(tmp_path, papers, ("a", "b"), failing=failing)
    result = await bench.run()
    assert Counter(unit.arm for unit in bench.made) == {"a": 8, "b": 5}
    (one,) = result.comparisons
    assert (one.n_pairs, one.n_failed) == (2, 6)
    reasons = [values(result)[paper, "b"].reason for paper in papers]
    assert reasons[:6] == ["", "", "no answer", "no answer", "no answer", reasons[5]]
    assert "not asked: model of b left 3 units in a row unanswered" in reasons[7]


async def test_units_of_an_earlier_plan_are_not_made_again(tmp_path: Path) -> None:
    first = Bench(tmp_path, ("p0", "p1"), ("a", "b"))
    await first.run()
    second = Bench(tmp_path, ("p0", "p1"), ("a", "b", "c"), run_name="other")
    result = await second.run()
    assert [unit.arm for unit in second.made] == ["c", "c"]
    assert result.paid.total_tokens == 2 * TOKENS
    assert result.arms[0].units["reused"] == 2
    assert result.arms[0].usage.total_tokens == 2 * TOKENS  # what it took, whoever paid


async def test_a_metric_that_fails_on_one_review_fails_the_pair_for_that_metric_alone(tmp_path: Path) -> None:
    def score(unit: Unit, metric: str) -> float | None:
        return None if (unit.paper, unit.arm, metric) == ("p0", "a", "depth") else 0.5

    bench = Bench(tmp_path, ("p0", "p1"), ("a", "b"), metrics=("depth", "tone"), score=score)
    result = await bench.run()
    assert values(result)["p0", "b"].reason == "arm 'a': the judge was mute"
    counts = {one.metric: (one.n_pairs, one.n_failed) for one in result.comparisons}
    assert counts == {"depth": (1, 1), "tone": (2, 0)}

    bench.score = lambda unit, metric: 0.5
    result = await bench.run()
    assert bench.judged == ["p0", "p1", "p0"]  # only what failed is measured again
    assert all(one.n_pairs == 2 for one in result.comparisons)


async def test_seeds_are_one_value_a_paper(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ("p0",), ("a",), seeds=(0, 1), score=lambda unit, metric: float(unit.seed))
    value = values(await bench.run())["p0", "a"]
    assert (value.value, value.by_seed) == (0.5, (0.0, 1.0))


async def test_a_damaged_review_is_made_again_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(tmp_path, ("p0",), ("a",))
    execution = bench.execution()
    await bench.run()
    (execution.store.folder(execution.units[0]) / "review.json").write_text('{"review_id": "r"')
    await bench.run()
    assert len(bench.made) == 2
    assert "is damaged and is made and paid again" in caplog.text


async def test_the_judge_sees_the_form_s_texts_and_not_the_arm(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ("p0",), ("b", "a"))
    await bench.run()
    lines = (tmp_path / "run" / "sets" / "p0.jsonl").read_text().splitlines()
    cases = [ReviewCase.model_validate_json(line) for line in lines]
    assert [(case.source, case.kind, case.venue, case.text) for case in cases] == [
        ("a", "ai", "iclr-2020", "By a."),
        ("b", "ai", "iclr-2020", "By b."),
    ]
