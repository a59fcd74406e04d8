"""The choice among versions: rounds, what is asked for when, verdicts, and how often it is wrong and right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import pytest

from referee.experiments.halving import (
    FEWEST_HELD_OUT,
    LEVEL,
    POWER,
    TRUE_GAINS,
    Ask,
    few_papers,
    held_out_count,
    most_reviews,
    power_line,
    rounds_of,
    select,
    taken_in_order,
)
from referee.schemas.refinement import BASE, Selection

Score = Callable[[str, str], float | None]
DEVELOPMENT, HELD_OUT = [f"d{n}" for n in range(8)], ["h0", "h1"]
# By paper, what all versions share, and by version and paper, what only one has.
_PAPER = {name: n % 3 / 10 for n, name in enumerate([*DEVELOPMENT, *HELD_OUT])}


def searched(score: Score, versions: int = 4, **more: int) -> tuple[Selection, list[Ask]]:
    asked: list[Ask] = []
    procedure = select([f"v{n}" for n in range(1, versions + 1)], DEVELOPMENT, HELD_OUT, base=BASE, **more)
    try:
        ask = next(procedure)
        while True:
            asked.append(ask)
            found = {
                name: {paper: value for paper in ask.papers if (value := score(name, paper)) is not None}
                for name in (BASE, *ask.versions)
            }
            ask = procedure.send(found)
    except StopIteration as done:
        return done.value, asked


def level(means: Mapping[str, float]) -> Score:
    """A mean by version, with the paper's own share and a small wobble."""
    return lambda name, paper: means.get(name, 0.3) + _PAPER[paper] + (sum(map(ord, name + paper)) % 5) / 100


@pytest.mark.parametrize(
    ("versions", "papers", "rounds"),
    [
        (1, 6, ((1, 6),)),
        (2, 4, ((2, 2), (1, 4))),
        (3, 4, ((3, 2), (1, 4))),
        (4, 8, ((4, 2), (2, 4), (1, 8))),
        (3, 40, ((3, 10), (2, 20), (1, 40))),
        (8, 6, ((8, 2), (2, 3), (1, 6))),
        (5, 2, ((5, 2),)),
    ],
)
def test_the_better_half_goes_on_and_the_papers_double(
    versions: int, papers: int, rounds: tuple[tuple[int, int], ...]
) -> None:
    assert rounds_of(versions, papers) == rounds


def test_a_version_that_rises_is_taken_through_and_opens_the_held_out_papers_once() -> None:
    done, asked = searched(level({"v3": 0.6}))
    assert done.kept == "v3"
    assert done.verdicts == {"v1": "behind", "v2": "behind", "v3": "kept", "v4": "behind"}
    assert [(len(ask.versions), len(ask.papers), ask.held_out) for ask in asked] == [
        (4, 2, False),
        (2, 2, False),
        (1, 4, False),
        (1, 2, True),
    ]
    papers = [paper for ask in asked for paper in ask.papers]
    assert papers == [*DEVELOPMENT, *HELD_OUT], "each once"
    reviews = sum((len(ask.versions) + 1) * len(ask.papers) for ask in asked)
    assert reviews == sum(most_reviews(4, len(DEVELOPMENT), len(HELD_OUT))) == 28
    assert done.tested is not None
    assert done.tested.pairs == 8
    assert done.tested.mean == pytest.approx(0.3, abs=0.03)
    assert (done.tested.low or 0) > 0
    assert done.tested.p is not None
    assert done.tested.p <= 2 * LEVEL / 4


@pytest.mark.parametrize(
    ("score", "verdict", "opened"),
    [
        (level({}), "within the noise", False),
        (
            lambda name, paper: 0.3 + (name == "v1") * (0.4 if paper in ("d0", "d1", "d2") else -0.1),
            "within the noise",
            False,
        ),
        (lambda name, paper: 0.3 + (name == "v1") * (0.0 if paper in HELD_OUT else 0.2), "not confirmed", True),
        (lambda name, paper: None if paper > "d1" else 0.3 + (name == "v1") * 0.2, "not measured", False),
        (lambda name, paper: None if paper == "h0" else 0.3 + (name == "v1") * 0.2, "not measured", True),
        (lambda name, paper: None, "not measured", False),
    ],
)
def test_what_is_not_shown_is_not_kept(score: Score, verdict: str, opened: bool) -> None:
    done, asked = searched(score)
    assert done.kept == ""
    assert verdict in done.verdicts.values()
    assert any(ask.held_out for ask in asked) is opened


def test_less_may_be_better_and_more_proposals_ask_for_more() -> None:
    score = level({"v2": 0.1, "v3": 0.6})
    assert searched(score, sign=-1)[0].kept == "v2"

    # A rise that is shown among two proposals, and not where it is one of forty that were made.
    def weak(name: str, paper: str) -> float:
        return (name == "v1") * (0.1 + (int(paper[1]) % 4 - 1.5) / 10)

    assert searched(weak, versions=2)[0].kept == "v1"
    assert searched(weak, versions=2, proposals=40)[0].verdicts["v1"] == "within the noise"
    assert searched(weak, versions=0) == (Selection(verdicts={}, level=LEVEL), [])


def test_papers_are_taken_by_seed_and_content_and_not_by_name() -> None:
    papers = {f"p{n}": f"digest {n}" for n in range(20)}
    assert taken_in_order(papers, 1) != taken_in_order(papers, 2)
    renamed = {f"q{99 - n}": f"digest {n}" for n in range(20)}
    assert [papers[name] for name in taken_in_order(papers, 1)] == [renamed[n] for n in taken_in_order(renamed, 1)]
    assert [held_out_count(n) for n in (3, 6, 10, 20, 40)] == [FEWEST_HELD_OUT, 2, 2, 5, 10]


def test_few_papers_are_told_what_they_cannot_show() -> None:
    assert "+0.1 in 5%" in few_papers(4, 2)
    assert few_papers(15, 5) == ""
    assert power_line(3) == power_line(6), "the table begins with six"
    assert power_line(1000) == power_line(40)


def test_false_acceptance_and_power_are_those_of_the_table(load: Callable[[str], ModuleType]) -> None:
    """A smaller run of ``benchmarks/refine_power.py``, whose 2,000 searches a cell are in docs/refinement.md."""
    power = load("refine_power")
    wrong = power.false_acceptance(10, 3, 250)
    assert power.wilson(wrong, 250).low <= LEVEL
    assert power.false_acceptance(10, 3, 100, level=0.9) > 20, "the level is what holds it"
    for papers, gain in ((10, 0.2), (40, 0.1)):
        seen = power.power(papers, 3, gain, 150)
        assert seen == pytest.approx(POWER[papers][TRUE_GAINS.index(gain)], abs=0.15)
