from __future__ import annotations

import math

import numpy as np
import pytest

from referee.evals.detection.anchor import AnchorScore, anchor_score, embedded
from referee.evals.detection.claims import claim_match, claims_of, shortened
from tests.unit.evals.detection.fakes import WordEmbedder

ANCHORS = {"a": np.array([1.0, 0.0]), "b": np.array([0.6, 0.8]), "c": np.array([0.0, 1.0])}
REVIEW = np.array([0.8, 0.6])


def test_the_score_is_the_largest_cosine() -> None:
    found = anchor_score(REVIEW, ANCHORS)
    assert found.cosines == pytest.approx({"a": 0.8, "b": 0.96, "c": 0.6}, abs=1e-6)
    assert found.statistic.score == pytest.approx(0.96, abs=1e-6)
    assert found.absent == ()


def test_absent_anchors_and_such_without_a_direction_are_named() -> None:
    found = anchor_score(REVIEW, {"a": ANCHORS["a"], "b": None, "z": np.zeros(2)}, expected=("a", "c"))
    assert found.cosines == pytest.approx({"a": 0.8})
    assert found.absent == ("b", "c", "z")
    assert found.statistic.score == pytest.approx(0.8)


@pytest.mark.parametrize(("review", "anchors"), [(REVIEW, {}), (None, ANCHORS), (np.zeros(2), ANCHORS)])
def test_without_an_anchor_or_a_direction_there_is_no_score(
    review: np.ndarray | None, anchors: dict[str, np.ndarray | None]
) -> None:
    assert anchor_score(review, anchors).statistic.score is None


def test_a_cosine_that_is_no_number_spoils_the_score() -> None:
    assert AnchorScore({"a": 0.5, "b": math.nan}).statistic.status == "nonfinite"


async def test_long_texts_are_embedded_by_windows_and_blank_ones_not_at_all() -> None:
    text = " ".join(f"word{at % 7} is here." for at in range(3000))
    whole, blank = await embedded([text, "  "], WordEmbedder())  # type: ignore[arg-type]
    assert blank is None
    assert whole is not None
    assert np.linalg.norm(whole) == pytest.approx(1)


TEXT = (
    "The evaluation is limited to one dataset, so nothing follows for others. Good.\n"
    "- The baseline was not tuned as the proposed method was, which is unfair.\n"
    "- The proofs of theorem two assume bounded noise, which is never stated anywhere.\n"
)


def test_claims_are_items_and_sentences_of_some_length() -> None:
    assert [claim[:12] for claim in claims_of(TEXT)] == ["The evaluati", "The baseline", "The proofs o"]
    assert claims_of("Good. Fine.") == []


async def test_a_review_that_says_what_models_say_scores_higher() -> None:
    embedder = WordEmbedder()
    claims = claims_of(TEXT)
    ai = await embedder.embed([*claims, "The paper is well written and easy to follow in all of its parts."])
    own = await embedder.embed(
        [f"Remark {at}: my student could not reproduce figure {at} with the released code of March." for at in range(3)]
    )
    same, other = claim_match(await embedder.embed(claims), ai), claim_match(own, ai)
    assert same.statistic.score == pytest.approx(1)
    assert same.nearest == (0, 1, 2)
    assert other.statistic.score < 0.9  # type: ignore[operator]
    assert shortened(same, claims, claims, 1)[0]["claim"] in claims


def test_few_claims_or_none_to_compare_with_have_no_score() -> None:
    three = np.eye(3)
    assert claim_match(three[:2], three).statistic.status == "too_short"
    assert claim_match(three, three[:0]).statistic.status == "undefined"
