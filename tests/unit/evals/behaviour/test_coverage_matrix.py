from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import EvaluationError
from referee.evals.behaviour.atomic import AtomicItems, MatchedPair, matched_pairs
from referee.evals.behaviour.coverage_matrix import (
    Coverage,
    PairMatrices,
    chance_pairs,
    coverage_of,
    holds,
    macro,
    micro,
    rule_matrices,
    volume_matched_recall,
)
from referee.schemas.case import ReviewCase

FIXTURE = [[1, 1, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_the_fixture_of_the_specification() -> None:
    found = coverage_of(FIXTURE)
    measures = (
        found.recall,
        found.precision,
        found.f1,
        found.density,
        found.density_covered,
        found.compaction,
        found.compaction_printed,
    )
    assert [round(value, 6) for value in measures if value is not None] == [
        *(0.75, 0.6, 0.666667, 1.25, 1.666667, 0.6, 1.0)
    ]


def test_without_human_items_recall_and_density_are_undefined() -> None:
    found = coverage_of([], generated=3)
    assert (found.recall, found.density, found.f1, found.density_covered) == (None, None, None, None)
    assert (found.precision, found.compaction) == (0.0, 0.0)
    assert "human" in found.reason
    assert found.status == "scored"


def test_without_generated_items_recall_is_zero_and_precision_undefined() -> None:
    found = coverage_of([[], []])
    assert (found.recall, found.density) == (0.0, 0.0)
    assert (found.precision, found.compaction, found.compaction_printed, found.f1) == (None, None, None, None)
    assert "generated" in found.reason


def test_without_any_item_nothing_is_defined() -> None:
    found = coverage_of([], generated=0)
    assert (found.recall, found.precision, found.status) == (None, None, "not_applicable")
    assert found.reason


def test_no_match_at_all_is_zero_and_not_undefined() -> None:
    found = coverage_of([[0, 0], [0, 0]])
    assert (found.recall, found.precision, found.f1, found.compaction) == (0, 0, 0, 0)
    assert found.density_covered is None


@pytest.mark.parametrize(("matrix", "generated"), [([[1], [1, 0]], None), ([], None), ([[1, 0]], 3)])
def test_a_matrix_that_is_none_is_refused(matrix: list[list[int]], generated: int | None) -> None:
    with pytest.raises(EvaluationError, match="one number of columns"):
        coverage_of(matrix, generated)


def test_macro_weighs_pairs_alike_and_micro_items() -> None:
    pairs = [coverage_of([[1]]), coverage_of([[0, 0], [0, 0], [1, 0]]), coverage_of([], generated=4)]
    by_pair, together = macro(pairs), micro(pairs)
    assert by_pair["recall"].value == pytest.approx((1 + 1 / 3) / 2)
    assert (by_pair["recall"].n, by_pair["recall"].skipped) == (2, 1)
    assert by_pair["precision"].value == pytest.approx((1 + 0.5 + 0) / 3)
    assert (together.recall, together.precision) == (2 / 4, 2 / 7)
    none = macro([])
    assert none["recall"].value is None
    assert none["recall"].reason
    assert micro([]) == Coverage(0, 0, 0, 0, 0)


@given(
    st.integers(0, 5).flatmap(
        lambda g: st.lists(st.lists(st.booleans(), min_size=g, max_size=g), max_size=5).map(lambda m: (m, g))
    )
)
def test_bounds_and_what_holds_of_any_matrix(drawn: tuple[list[list[bool]], int]) -> None:
    matrix, columns = drawn
    found = coverage_of(matrix, columns)
    turned = coverage_of(
        [list(column) for column in zip(*matrix, strict=True)] if matrix else [[]] * columns, len(matrix)
    )
    assert (found.recall, found.precision, found.f1) == (turned.precision, turned.recall, turned.f1)
    for share in (found.recall, found.precision, found.f1):
        assert share is None or 0 <= share <= 1
    if found.precision is not None and found.compaction_printed is not None:
        assert found.compaction_printed >= found.precision


SEEDS = "The variance over random seeds of the reinforcement learning runs is not reported."
SEEDS_TOO = "Reinforcement learning runs vary with their random seeds, so error bars are needed."
TYPOS = "There are many typing errors in the appendix and in the captions of figures."


def review(case_id: str, paper_id: str, kind: Any, venue: str | None = "v") -> ReviewCase:
    source = "human" if kind == "human" else "model"
    return ReviewCase(case_id=case_id, paper_id=paper_id, source=source, kind=kind, text="t", venue=venue)


def papers(number: int, humans: int = 2, venue: str | None = "v") -> list[MatchedPair]:
    reviews: list[tuple[ReviewCase, AtomicItems]] = []
    for n in range(number):
        own = AtomicItems((f"merit of {n}",), (f"fault of {n}",))
        reviews.append((review(f"{venue}g{n}", f"{venue}{n}", "ai", venue), own))
        reviews += [(review(f"{venue}h{n}.{k}", f"{venue}{n}", "human", venue), own) for k in range(humans)]
    return matched_pairs(reviews)


def test_the_rule_wants_telling_words_in_common() -> None:
    assert holds(SEEDS, SEEDS_TOO)
    assert not holds(SEEDS, TYPOS)
    assert not holds("The paper provides good results.", "The paper provides good results.")
    assert not holds("", SEEDS)


def test_items_of_different_polarity_never_match() -> None:
    pair = matched_pairs(
        [
            (review("h", "p", "human"), AtomicItems((SEEDS,), (TYPOS,))),
            (review("g", "p", "ai"), AtomicItems((TYPOS, SEEDS_TOO), (SEEDS_TOO,))),
        ]
    )[0]
    found = rule_matrices(pair)
    assert (found.strengths, found.weaknesses, found.backend) == (((False, True),), ((False,),), "rule")
    both = found.coverage()
    assert both is not None
    assert (both.human, both.generated, both.matches, both.recall) == (2, 3, 1, 0.5)


def test_a_side_without_items_keeps_its_size() -> None:
    pair = matched_pairs(
        [
            (review("h", "p", "human"), AtomicItems((), (TYPOS,))),
            (review("g", "p", "ai"), AtomicItems((TYPOS, SEEDS), ())),
        ]
    )[0]
    found = rule_matrices(pair)
    strengths, weaknesses = found.coverage("strengths"), found.coverage("weaknesses")
    assert strengths is not None
    assert weaknesses is not None
    assert (strengths.human, strengths.generated, strengths.recall) == (0, 2, None)
    assert (weaknesses.human, weaknesses.generated, weaknesses.recall, weaknesses.precision) == (1, 0, 0.0, None)


def test_what_failed_has_no_coverage() -> None:
    failed = PairMatrices((), (), 3, 2, "judge:x", "failed", "silent")
    assert failed.coverage() is None
    assert failed.volume_matched("strengths") is None


def test_chance_takes_human_items_of_another_paper_of_the_venue() -> None:
    pairs = [*papers(5), *papers(4, humans=1, venue="w")]
    found = chance_pairs(pairs, seed=3)
    assert (len(found.pairs), found.left_out, found.reason) == (len(pairs), 0, "")
    for before, after in zip(pairs, found.pairs, strict=True):
        assert after.generated == before.generated
        assert after.human_case.paper_id != before.generated_case.paper_id
        assert after.human_case.venue == before.human_case.venue
        assert after.human != before.human
    assert chance_pairs(pairs, seed=3) == found
    assert chance_pairs(pairs, seed=4) != found
    by_paper = {pair.human_case.case_id for pair in found.pairs if pair.generated_case.case_id == "vg0"}
    assert len(by_paper) == 2


def test_chance_wraps_where_the_other_paper_has_fewer_reviews_and_leaves_out_a_lone_paper() -> None:
    pairs = [*papers(1, humans=3), *papers(2, humans=1, venue="w")]
    found = chance_pairs(pairs)
    assert (len(found.pairs), found.left_out) == (2, 3)
    assert found.reason
    uneven = [*papers(2, humans=3)[:3], *papers(2, humans=3)[3:4]]
    assert [pair.human_case.case_id for pair in chance_pairs(uneven).pairs[:3]] == ["vh1.0"] * 3


def test_volume_matched_recall() -> None:
    plain = coverage_of(FIXTURE).recall
    value = volume_matched_recall(FIXTURE, 5)
    assert plain is not None
    assert value is not None
    # Of five columns one is missing in each draw; without the first or the second a row loses its only match.
    assert 0.5 <= value < plain
    assert value == volume_matched_recall(FIXTURE, 5)
    assert volume_matched_recall([[1, 0], [0, 0], [0, 1]], 2) == pytest.approx(2 / 3)
    assert volume_matched_recall([], 4) is None
    assert volume_matched_recall([[]], 0) == 0.0


def test_volume_matched_recall_tends_to_its_expectation() -> None:
    # One human item, ten generated, three of which hold it: a single draw holds it in 3 of 10.
    value = volume_matched_recall([[1, 1, 1, 0, 0, 0, 0, 0, 0, 0]], 10, draws=20_000)
    assert value == pytest.approx(0.3, abs=0.02)
