"""The pure parts of ``benchmarks/review.py``; no figure is asserted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import pytest

Load = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("log", "length"),
    [
        ([], 0),
        ([(0, 1)], 1),
        ([(0, 1), (0, 1), (0.1, 1.1)], 1),
        ([(0, 1), (1, 2), (2.5, 3.5)], 3),
        # eight sections at once, then one that joins them, then a repair of it
        ([*[(0.01 * n, 1 + 0.01 * n) for n in range(8)], (1.2, 2.2), (2.3, 3.3)], 3),
        # a long call beside three short ones that follow each other: the chain is the three
        ([(0, 10), (0, 1), (1, 2), (2, 3)], 3),
        # the call that starts first is not in the chain
        ([(0, 5), (1, 2), (3, 4), (5, 6)], 3),
        # two pairs that overlap crosswise
        ([(0, 2), (1, 3), (2, 4), (3, 5)], 2),
    ],
)
def test_the_longest_chain_counts_calls_that_follow_each_other(
    load: Load, log: list[tuple[float, float]], length: int
) -> None:
    module = load("review_chain")
    calls = [module.Span(started, finished) for started, finished in log]
    for order in (calls, calls[::-1]):
        chain = module.longest_chain(order)
        assert len(chain) == length
        assert all(b.started_s >= a.finished_s for a, b in pairwise(chain))


# six sections at once, then one across them, one check, one form and its repair
SECTIONS = [*[(0.01 * n, 10 + 0.01 * n) for n in range(6)], (11, 21), (21, 31), (31, 41), (41, 51)]


@pytest.mark.parametrize(
    ("log", "slots", "waves"),
    [
        ([], 4, 0),
        ([(0, 1)], 4, 1),
        (SECTIONS, 4, 6),
        (SECTIONS, 6, 5),
        (SECTIONS, 100, 5),
        (SECTIONS, 1, 10),
        # two that nothing waits for fill the slots beside a chain of three; taken first, they would lengthen it
        ([(0, 9), (0, 9), (0, 1), (1, 2), (2, 3)], 2, 3),
        # the second of a pair waits for the first alone, and shares a wave with what is left of the first wave
        ([(0, 1), (0, 3), (0, 3), (1, 4)], 2, 2),
    ],
)
def test_the_shortest_schedule_fills_the_slots_as_far_as_calls_wait_for_others(
    load: Load, log: list[tuple[float, float]], slots: int, waves: int
) -> None:
    module = load("review_chain")
    calls = [module.Span(started, finished) for started, finished in log]
    for order in (calls, calls[::-1]):
        assert module.fewest_waves(order, slots) == waves


def test_a_call_without_an_end_is_in_no_chain(load: Load) -> None:
    module = load("review_chain")
    log = [SimpleNamespace(started_s=0.0, finished_s=None), SimpleNamespace(started_s=1.0, finished_s=2.0)]
    assert module.spans(log) == [module.Span(1.0, 2.0)]


def test_each_review_is_measured_by_its_own_chain(load: Load) -> None:
    module = load("review")
    reviews = [module.Reviewed(seconds, calls=9, chain=chain) for seconds, chain in [(2.2, 2), (3.6, 3), (2.6, 2)]]
    row = module._wall_row("review", reviews, 1.0)
    assert row.cells() == ("review", "2.60 s", "2.20 s to 3.60 s", "chain 2/3 of 9 x 1.00 s", "1.20")


def test_a_review_without_a_call_has_no_ratio(load: Load) -> None:
    module = load("review")
    with pytest.raises(module.CommandFailed, match="no call"):
        module._wall_row("review", [module.Reviewed(0.1, calls=0, chain=0)], 1.0)


def test_measured_processes_get_no_settings_and_no_keys(load: Load) -> None:
    given = {"PATH": "/bin", "REFEREE_MODELS__DEFAULT": "local", "OPENAI_API_KEY": "secret", "REFEREE_CACHE_DIR": "/c"}
    kept = load("review_processes").environment(given)
    assert kept["PATH"] == "/bin"
    assert kept["REFEREE_CACHE_DIR"] == "/c"
    assert not {"REFEREE_MODELS__DEFAULT", "OPENAI_API_KEY"} & kept.keys()
