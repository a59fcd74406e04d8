from __future__ import annotations

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.detection.token_statistics import (
    FEATURES,
    STATISTICS,
    binoculars,
    fast_detect_gpt,
    gltr_fractions,
    pair_pass,
    published_probability,
    read_tokens,
    sampled_fast_detect_gpt,
    statistic,
    token_pass,
)
from tests.unit.evals.detection.fakes import IDS, A, B, BigramLogits, TableLogits

CLOSE = 1e-6
CORPUS = "the authors show that the method works well on all of the data and that the results are sound " * 4
KNOWN = "the authors show that the method works well on all of the data"
SHUFFLED = "data the of well show works the authors all method on that the"


def test_the_pass_of_the_five_tokens_is_the_specification_s() -> None:
    seen = token_pass(TableLogits(A), "any")
    assert seen.log_p == pytest.approx([-0.440190, -1.440190, -0.440190, -2.046006], abs=CLOSE)
    assert seen.ranks.tolist() == [1, 2, 1, 3]
    assert seen.entropies == pytest.approx([0.947537, 0.947537, 0.947537, 1.109767], abs=CLOSE)


@pytest.mark.parametrize(
    ("name", "raw", "sign"),
    [
        ("loglik", -1.091644, 1),
        ("rank", 1.75, -1),
        ("logrank", 0.447940, -1),
        ("entropy", 0.988094, -1),
        ("llmdev", 0.421850, -1),
        ("llr", 2.437032, 1),
    ],
)
def test_statistics_of_one_model(name: str, raw: float, sign: int) -> None:
    found = statistic(name, token_pass(TableLogits(A), "any"))
    assert found.raw == pytest.approx((raw,), abs=CLOSE)
    assert found.score == pytest.approx(sign * raw, abs=CLOSE)
    assert found.status == "scored"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gltr", [1, 0, 0, 0]),
        ("mfd", [0.447940, -1.091644, 0.988094, 0.421850]),
        ("s5", [-1.091644, 0.988094, 1.75, 0.447940, 0.421850]),
    ],
)
def test_features_have_no_score_of_their_own(name: str, values: list[float]) -> None:
    found = statistic(name, token_pass(TableLogits(A), "any"))
    assert found.raw == pytest.approx(values, abs=CLOSE)
    assert found.score is None


def test_gltr_cuts_ranks_from_zero() -> None:
    ranks = np.array([0, 9, 10, 99, 100, 999, 1000]) + 1
    assert gltr_fractions(ranks) == pytest.approx([2 / 7, 2 / 7, 2 / 7, 1 / 7])


@pytest.mark.parametrize(
    ("reference", "scoring", "score"), [(A, A, -0.270226), (B, A, 0.419772), (A, B, 0.204682)], ids=["AA", "BA", "AB"]
)
def test_fast_detect_gpt(reference: np.ndarray, scoring: np.ndarray, score: float) -> None:
    found = fast_detect_gpt(pair_pass(TableLogits(reference), TableLogits(scoring), "any"))
    assert found.score == pytest.approx(score, abs=CLOSE)


def test_one_model_for_both_is_run_once() -> None:
    model = TableLogits(A)
    assert fast_detect_gpt(pair_pass(model, model, "any")).score == pytest.approx(-0.270226, abs=CLOSE)
    assert model.passes == 1


@pytest.mark.parametrize(("variant", "raw"), [("released", 0.906639), ("paper", 1.030585)])
def test_binoculars(variant: str, raw: float) -> None:
    found = binoculars(pair_pass(TableLogits(A), TableLogits(B), "any"), variant)  # type: ignore[arg-type]
    assert found.raw == pytest.approx((raw,), abs=CLOSE)
    assert found.score == pytest.approx(-raw, abs=CLOSE)


@pytest.mark.parametrize("rows", [1, 2, 3, 64])
@pytest.mark.parametrize("padding", [0, 5])
def test_blocks_and_padding_change_nothing(rows: int, padding: int) -> None:
    plain = token_pass(TableLogits(A), "any")
    seen = token_pass(TableLogits(A, rows=rows, padding=padding), "any")
    for name in (*STATISTICS, *FEATURES):
        assert statistic(name, seen) == statistic(name, plain)
    pair = pair_pass(TableLogits(A, rows=rows, padding=padding), TableLogits(B, rows=2), "any")
    assert binoculars(pair).raw == pytest.approx((0.906639,), abs=CLOSE)
    assert fast_detect_gpt(pair).score == pytest.approx(0.204682, abs=CLOSE)


def test_a_long_block_is_the_same_as_many_short_ones() -> None:
    rng = np.random.default_rng(0)
    table, other = (rng.normal(size=(50, 30)).astype(np.float32) for _ in range(2))
    ids = rng.integers(0, 30, 50).tolist()
    once, often = (token_pass(TableLogits(table, rows=rows, ids=ids), "any") for rows in (64, 7))
    assert once.log_p == pytest.approx(often.log_p, abs=1e-12)
    assert len(once) == 49
    reference = TableLogits(table, ids=ids)
    pairs = [pair_pass(reference, TableLogits(other, rows=rows, ids=ids), "any") for rows in (64, 7)]
    assert fast_detect_gpt(pairs[0]).score == pytest.approx(fast_detect_gpt(pairs[1]).score)
    assert binoculars(pairs[0]).score == pytest.approx(binoculars(pairs[1]).score)


def test_a_text_known_by_heart_is_more_machine_like_than_one_that_is_shuffled() -> None:
    model = BigramLogits(CORPUS)
    other = BigramLogits(CORPUS, smooth=0.2)
    known, shuffled = token_pass(model, KNOWN), token_pass(model, SHUFFLED)
    # A model of pairs is as sure after a word wherever that stands: only words it has never seen make it unsure.
    strange = token_pass(model, "zebras data quagga well okapi works tapir all ibex on that the")
    for name in STATISTICS:
        other_text = strange if name == "entropy" else shuffled
        assert statistic(name, known).score > statistic(name, other_text).score, name  # type: ignore[operator]
    pairs = [pair_pass(other, model, text) for text in (KNOWN, SHUFFLED)]
    for of in (fast_detect_gpt, binoculars):
        assert of(pairs[0]).score > of(pairs[1]).score  # type: ignore[operator]


def test_the_sign_of_entropy_can_be_the_older_one() -> None:
    seen = token_pass(TableLogits(A), "any")
    assert statistic("entropy", seen, entropy_sign=1).score == pytest.approx(0.988094, abs=CLOSE)
    assert statistic("loglik", seen, entropy_sign=-1).score == pytest.approx(-1.091644, abs=CLOSE)


@pytest.mark.parametrize("ids", [[], [3]])
def test_fewer_than_two_tokens_have_no_score(ids: list[int]) -> None:
    short = TableLogits(A[: len(ids)], ids=ids)
    for name in (*STATISTICS, *FEATURES):
        found = statistic(name, token_pass(short, ""))
        assert (found.score, found.status) == (None, "too_short")
    pair = pair_pass(short, TableLogits(B[: len(ids)], ids=ids), "")
    assert fast_detect_gpt(pair).status == binoculars(pair).status == "too_short"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_logit_that_is_no_number_never_becomes_a_score(bad: float) -> None:
    table = A.copy()
    table[1] = bad if not np.isneginf(bad) else table[1]
    table[1, IDS[2]] = bad
    seen = token_pass(TableLogits(table), "any")
    for name in (*STATISTICS, *FEATURES):
        assert statistic(name, seen).status == "nonfinite", name
    pair = pair_pass(TableLogits(table), TableLogits(table), "any")
    assert fast_detect_gpt(pair).score is None or np.isneginf(bad)
    assert fast_detect_gpt(pair_pass(TableLogits(A), TableLogits(table), "any")).status == "nonfinite"
    assert binoculars(pair_pass(TableLogits(A), TableLogits(table), "any")).status == "nonfinite"


def test_tokens_that_a_model_rules_out_elsewhere_do_no_harm() -> None:
    table = np.concatenate([A, np.full((5, 3), -np.inf, dtype=np.float32)], axis=1)
    assert token_pass(TableLogits(table), "any").entropies == pytest.approx(token_pass(TableLogits(A), "any").entropies)
    pair = pair_pass(TableLogits(table), TableLogits(A), "any")
    assert fast_detect_gpt(pair).score == pytest.approx(-0.270226, abs=CLOSE)


def test_a_text_whose_every_token_is_certain_is_no_score_of_zero() -> None:
    sure = np.full((5, 4), -np.inf, dtype=np.float32)
    sure[np.arange(4), IDS[1:]] = 0
    sure[4, 0] = 0
    pair = pair_pass(TableLogits(sure), TableLogits(sure), "any")
    assert fast_detect_gpt(pair).status == "undefined"
    assert binoculars(pair).status == "undefined"
    assert statistic("llr", token_pass(TableLogits(sure), "any")).score == 0


def test_models_with_other_tokens_and_providers_with_too_few_rows_are_refused() -> None:
    with pytest.raises(EvaluationError, match="different tokens"):
        pair_pass(TableLogits(A), TableLogits(B, ids=[3, 0, 2, 3, 2]), "any")
    with pytest.raises(EvaluationError, match="gave 3 rows"):
        read_tokens(IDS, [A[:3]])
    with pytest.raises(EvaluationError, match="outside of a vocabulary of 2"):
        read_tokens(IDS, [A[:, :2]])


@pytest.mark.parametrize(("reference", "scoring", "analytic"), [(A, A, -0.270226), (B, A, 0.419772), (A, B, 0.204682)])
def test_samples_come_near_the_analytic_form_and_a_seed_gives_one_score(
    reference: np.ndarray, scoring: np.ndarray, analytic: float
) -> None:
    def sampled(seed: int, **more: int) -> float:
        found = sampled_fast_detect_gpt(TableLogits(reference, rows=3), TableLogits(scoring), "x", seed=seed, **more)
        assert found.score is not None
        return found.score

    assert sampled(1) == pytest.approx(analytic, abs=0.04)
    assert sampled(1) == sampled(1) != sampled(2)
    assert sampled(1, samples=50) != pytest.approx(sampled(1), abs=1e-9)


def test_two_samples_are_divided_by_n_less_1() -> None:
    """Of two samples the deviation by n - 1 is their distance over the root of 2."""
    found = sampled_fast_detect_gpt(TableLogits(A), TableLogits(A), "any", seed=3, samples=2)
    rng, log_p = np.random.default_rng(3), A - np.log(np.exp(A).sum(axis=1, keepdims=True))
    drawn = np.zeros(2)
    for row in log_p[:4]:
        drawn += row[np.searchsorted(np.cumsum(np.exp(row)), rng.random(2), side="right")] / 4
    expected = (-1.091644 - drawn.mean()) / (abs(drawn[0] - drawn[1]) / np.sqrt(2))
    assert found.score == pytest.approx(expected, abs=1e-4)


def test_sampling_has_no_score_where_there_is_none() -> None:
    never, broken = A.copy(), A.copy()
    never[0, 0], broken[1] = -np.inf, np.nan
    flat = np.zeros((5, 1), dtype=np.float32)
    for table, ids, status in (
        (A, [3], "too_short"),
        (never, IDS, "nonfinite"),
        (broken, IDS, "nonfinite"),
        (flat, [0, 0, 0], "undefined"),
    ):
        model = TableLogits(table, ids=ids)
        found = sampled_fast_detect_gpt(model, model, "any", seed=1, samples=20)
        assert (found.score, found.status) == (None, status)


def test_the_published_probability_is_shown_for_its_own_pair_alone() -> None:
    pair = ("tiiuae/falcon-7b", "tiiuae/falcon-7b-instruct")
    shown = published_probability(1.0, *pair)
    human = np.exp(-(((1 + 0.0707) / 0.9520) ** 2) / 2) / 0.9520
    machine = np.exp(-(((1 - 2.9306) / 1.9039) ** 2) / 2) / 1.9039
    assert shown == pytest.approx(machine / (human + machine))
    assert published_probability(3.0, *pair) > 0.9  # type: ignore[operator]
    for other in (pair[::-1], ("gpt2", "gpt2"), ("/models/falcon-7b", pair[1])):
        assert published_probability(1.0, *other) is None
    assert published_probability(None, *pair) is None
