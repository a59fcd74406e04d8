import pytest

from referee.evals.behaviour.atomic import AtomicItems
from referee.evals.behaviour.fidelity import (
    MOST_COMPARED,
    Source,
    fidelity,
    item_fidelity,
    normalised,
    redundancy,
)

SOURCE = "The paper is clear. However, the ablation study is missing and baselines are weak."


def test_the_fixtures_of_the_specification() -> None:
    verbatim = item_fidelity("the ablation study is missing", SOURCE)
    assert verbatim is not None
    assert (verbatim.rouge_l, verbatim.contained) == (1.0, True)
    assert round(verbatim.jaccard, 6) == 0.416667
    reworded = item_fidelity("an ablation study was missing", SOURCE)
    assert reworded is not None
    assert (reworded.rouge_l, reworded.contained) == (0.6, False)
    assert round(reworded.jaccard, 6) == 0.214286


def test_markup_blanks_and_case_do_not_count_for_containment() -> None:
    source = "# Weaknesses\n- The **ablation\n  study** of [Table 2](http://x.org) is `missing`."
    assert normalised("1. The ABLATION study") == "the ablation study"
    found = item_fidelity("the ablation study of Table 2 is missing.", source)
    assert found is not None
    assert found.contained


def test_order_counts_for_rouge_and_not_for_jaccard() -> None:
    straight, turned = (
        item_fidelity("paper is clear", "paper is clear"),
        item_fidelity("clear is paper", "paper is clear"),
    )
    assert straight is not None
    assert turned is not None
    assert (straight.jaccard, turned.jaccard) == (1.0, 1.0)
    assert turned.rouge_l == pytest.approx(1 / 3)


def test_the_short_cut_and_the_alignment_agree() -> None:
    source = Source("one two three two one")
    assert source.longest_common(["two", "three", "two"]) == 3
    assert source.longest_common(["one", "one"]) == 2
    assert source.longest_common(["wo"]) == 0


def test_a_made_up_item_shows() -> None:
    honest = AtomicItems(weaknesses=("the ablation study is missing",), source=SOURCE)
    made_up = AtomicItems(weaknesses=("the ablation study is missing", "Theorem 4 contradicts Lemma 1"), source=SOURCE)
    assert fidelity(honest).rouge_l == 1.0
    shown = fidelity(made_up)
    assert (shown.rouge_l, shown.contained, shown.n) == (0.5, 0.5, 2)


def test_without_items_or_words_there_is_no_number_but_a_reason() -> None:
    for items in (
        AtomicItems(source=SOURCE),
        AtomicItems(status="failed", reason="the judge was silent"),
        AtomicItems(strengths=("!!!",), source=SOURCE),
    ):
        found = fidelity(items)
        assert (found.rouge_l, found.contained, found.jaccard) == (None, None, None)
        assert found.status != "scored"
        assert found.reason
    assert fidelity(AtomicItems(status="failed", reason="the judge was silent")).status == "failed"


def test_true_redundancy() -> None:
    found = redundancy(["the ablation study is missing", "ablation study is missing", "typos abound"])
    assert found.rouge_l == pytest.approx((2 * 4 / 9) / 3)
    assert found.jaccard == 0.8
    assert found.contained == pytest.approx(1 / 3)
    twice = redundancy(["same words", "Same  words"])
    assert (twice.rouge_l, twice.jaccard, twice.contained) == (1.0, 1.0, 1.0)


def test_redundancy_takes_two_items_and_not_too_many() -> None:
    for items in ([], ["only one"], ["one", "!!!"], ["a b"] * (MOST_COMPARED + 1)):
        found = redundancy(items)
        assert found.rouge_l is None
        assert found.reason
