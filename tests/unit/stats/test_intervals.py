import math
from statistics import NormalDist

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats import Interval, bootstrap_interval, mean_sd, paired_interval, wilson


def test_no_values_have_no_mean_and_one_cluster_no_interval() -> None:
    nothing = Interval(None, None, None, 0, 0)
    assert bootstrap_interval({}, seed=0) == nothing
    assert bootstrap_interval({"a": [], "b": []}, seed=0) == nothing
    assert bootstrap_interval({"a": [0.5], "b": []}, seed=0) == Interval(0.5, None, None, 1, 1)
    assert bootstrap_interval({"a": [0.0, 1.0]}, seed=0) == Interval(0.5, None, None, 2, 1)


def test_constant_values_have_an_interval_without_width() -> None:
    assert bootstrap_interval({"a": [0.5], "b": [0.5, 0.5]}, seed=0) == Interval(0.5, 0.5, 0.5, 3, 2)


def test_the_mean_is_over_values_and_not_over_clusters() -> None:
    assert bootstrap_interval({"a": [1.0, 1.0, 1.0], "b": [0.0]}, seed=0).mean == 0.75


def test_same_seed_same_interval_in_whatever_order_the_clusters_came() -> None:
    values = {f"p{n}": [n / 10, (n * 7 % 10) / 10] for n in range(10)}
    other_way = dict(reversed(values.items()))
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(other_way, seed=3)
    assert bootstrap_interval(values, seed=3) != bootstrap_interval(values, seed=4)


def test_blocks_of_resamples_cover_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {f"p{n}": [float(n)] for n in range(50)}
    whole = bootstrap_interval(values, seed=1, resamples=501)
    monkeypatch.setattr("referee.stats.resamples._MOST_CELLS", 1000)
    blocks = bootstrap_interval(values, seed=1, resamples=501)
    assert blocks == whole


def test_the_interval_covers_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(20)
    covered = 0
    for trial in range(200):
        papers = rng.normal(0, 1, 40)
        values = {f"p{n}": (paper + rng.normal(0, 0.5, 3)).tolist() for n, paper in enumerate(papers)}
        interval = bootstrap_interval(values, seed=trial, resamples=400)
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= 0 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_reviews_of_one_paper_do_not_count_as_independent() -> None:
    rng = np.random.default_rng(5)
    papers = rng.normal(0, 1, 20)
    clustered = bootstrap_interval({f"p{n}": [value] * 5 for n, value in enumerate(papers)}, seed=0)
    alone = bootstrap_interval({f"p{n}-{k}": [v] for n, v in enumerate(papers) for k in range(5)}, seed=0)
    assert clustered.low is not None
    assert clustered.high is not None
    assert alone.low is not None
    assert alone.high is not None
    ratio = (clustered.high - clustered.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(math.sqrt(5), rel=0.2)


def test_what_pairs_share_cancels() -> None:
    rng = np.random.default_rng(2)
    papers = rng.normal(0, 10, 30)
    noise = rng.normal(0, 0.1, 30)
    pairs = {f"p{n}": [(papers[n] + 1 + noise[n], papers[n])] for n in range(30)}
    interval = paired_interval(pairs, seed=0)
    assert interval.mean == pytest.approx(1, abs=0.1)
    assert interval.low is not None
    assert interval.low > 0.9
    assert paired_interval({}, seed=0) == Interval(None, None, None, 0, 0)
    assert paired_interval({"a": [(0.7, 0.2)]}, seed=0) == Interval(pytest.approx(0.5), None, None, 1, 1)
    assert paired_interval({"a": [(2, 1)], "b": [(3, 2)]}, seed=0) == Interval(1.0, 1.0, 1.0, 2, 2)


def test_swapped_pairs_have_the_mirrored_mean() -> None:
    pairs = {"a": [(0.1, 0.4)], "b": [(0.9, 0.2), (0.3, 0.3)]}
    swapped = {name: [(b, a) for a, b in values] for name, values in pairs.items()}
    there, back = paired_interval(pairs, seed=0), paired_interval(swapped, seed=0)
    assert there.mean is not None
    assert back.mean == pytest.approx(-there.mean)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0), (0, 1, 0.0, 0.7935)],
)
def test_wilson_gives_the_known_intervals(k: int, n: int, low: float, high: float) -> None:
    interval = wilson(k, n)
    assert (interval.mean, interval.n) == (k / n, n)
    assert interval.low == pytest.approx(low, abs=1e-4)
    assert interval.high == pytest.approx(high, abs=1e-4)


def test_wilson_covers_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0).binomial(30, 0.1, 2000)
    intervals = {int(k): wilson(int(k), 30) for k in set(draws)}
    hits = [(intervals[int(k)].low or 0) <= 0.1 <= (intervals[int(k)].high or 0) for k in draws]
    assert 0.92 <= np.mean(hits) <= 0.99


def test_no_trials_have_no_share_and_impossible_shares_are_refused() -> None:
    assert wilson(0, 0) == Interval(None, None, None, 0, 0)
    for k, n in ((2, 1), (-1, 3)):
        with pytest.raises(EvaluationError, match="no share"):
            wilson(k, n)


def test_mean_and_deviation_say_nothing_where_n_is_too_small() -> None:
    assert mean_sd([]) == (None, None)
    assert mean_sd([0.3]) == (0.3, None)
    assert mean_sd([0.1] * 3) == (0.1, 0.0)
    assert mean_sd([2, 4, 4, 4, 5, 5, 7, 9]) == (5.0, pytest.approx(math.sqrt(32 / 7)))


def test_what_is_no_number_is_refused() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(EvaluationError, match="finite"):
            bootstrap_interval({"a": [bad]}, seed=0)
        with pytest.raises(EvaluationError, match="finite"):
            mean_sd([bad])
    for level in (0.0, 1.0, 95):
        with pytest.raises(EvaluationError, match="level"):
            bootstrap_interval({"a": [1.0]}, seed=0, level=level)
    with pytest.raises(EvaluationError, match="resamples"):
        bootstrap_interval({"a": [1.0]}, seed=0, resamples=0)


def test_the_paired_interval_widens_as_few_papers_demand() -> None:
    rng = np.random.default_rng(3)
    for papers, least, most in ((5, 1.2, 2.0), (10, 1.05, 1.4), (200, 0.97, 1.05)):
        pairs = {f"p{n}": [(float(d), 0.0)] for n, d in enumerate(rng.normal(0, 1, papers))}
        differences = {name: [a - b for a, b in values] for name, values in pairs.items()}
        usual = bootstrap_interval(differences, seed=1, resamples=4000)
        wider = paired_interval(pairs, seed=1, resamples=4000)
        assert usual.mean == wider.mean
        assert None not in (usual.low, usual.high, wider.low, wider.high)
        ratio = (wider.high - wider.low) / (usual.high - usual.low)  # type: ignore[operator]
        assert least < ratio < most, (papers, ratio)


def test_the_paired_interval_says_nothing_of_one_paper() -> None:
    assert paired_interval({}, seed=0) == Interval(None, None, None, 0, 0)
    assert paired_interval({"a": [(1.0, 0.5)]}, seed=0) == Interval(0.5, None, None, 1, 1)
    with pytest.raises(EvaluationError, match="level"):
        paired_interval({"a": [(1.0, 0.5)]}, seed=0, level=1.0)


def test_the_paired_interval_covers_at_ten_papers() -> None:
    rng = np.random.default_rng(11)
    held = 0
    for trial in range(300):
        pairs = {f"p{n}": [(float(d), 0.0)] for n, d in enumerate(rng.normal(0, 1, 10))}
        interval = paired_interval(pairs, seed=trial, resamples=400)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= 0 <= interval.high
    assert 0.91 <= held / 300 <= 0.98


@pytest.mark.parametrize(("papers", "t"), [(10, 2.26215716285), (12, 2.20098516008)])
def test_a_paired_interval_takes_the_exact_t_quantile(papers: int, t: float) -> None:
    """t at 0.975 with 9 and 11 degrees of freedom, as tables print it."""
    values = {f"p{n}": math.sin(n) * 3.0 for n in range(papers)}
    tail = NormalDist().cdf(-math.sqrt(papers / (papers - 1)) * t)
    paired = paired_interval({paper: [(value, 0.0)] for paper, value in values.items()}, seed=5, resamples=4000)
    plain = bootstrap_interval(
        {paper: [value] for paper, value in values.items()}, seed=5, resamples=4000, level=1 - 2 * tail
    )
    assert (paired.low, paired.high) == pytest.approx((plain.low, plain.high), rel=1e-10)
