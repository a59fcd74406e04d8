from typing import Any

import pytest

from referee.evals.behaviour.atomic import AtomicItems, MatchedPair, matched_pairs
from referee.evals.behaviour.coverage_matrix import (
    PairMatrices,
    chance_pairs,
    coverage_of,
    holds,
    rule_matrices,
    volume_matched_recall,
)
from referee.schemas.case import ReviewCase

FIXTURE = [[1, 1, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
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
