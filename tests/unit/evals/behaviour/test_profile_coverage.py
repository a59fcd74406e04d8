from __future__ import annotations

import pytest

from referee.evals.behaviour import text_metrics
from referee.evals.behaviour.atomic import AtomicItems, MatchedPair, compared, quantity
from referee.evals.behaviour.coverage_matrix import PairMatrices
from referee.evals.profile.coverage import ALL_SYSTEMS, QUANTITIES, CoverageBook
from referee.evals.reading import Reading, ReadMetric
from referee.evals.registry import find_metrics
from referee.schemas.case import ReviewCase

WEAK_RECALL = ("weaknesses", "recall", "own")
ROWS = ((True, True, False, False, True), (False, True, False, False, False), (False,) * 5, (True, *[False] * 4))


def case(kind: str, number: int = 1) -> ReviewCase:
    about = {"case_id": f"{kind}{number}", "paper_id": f"p{number}", "source": kind, "kind": kind, "text": "Fine."}
    return ReviewCase.model_validate({**about, "venue": "iclr-2024", "decision": "Reject"})


def pair(strengths: tuple[int, int], weaknesses: tuple[int, int], number: int = 1) -> MatchedPair:
    """Numbers of items, generated and human."""
    generated, human = (
        AtomicItems(tuple(["a fine thing"] * strengths[side]), tuple(["bad"] * weaknesses[side]), "text")
        for side in (0, 1)
    )
    return MatchedPair(case("ai", number), case("human", number), generated, human)


def test_the_specification_s_matrix() -> None:
    book = CoverageBook()
    book.add("m", pair((0, 0), (5, 4)), PairMatrices((), ROWS, 0, 5, "rule"))
    found = {(one.measure, one.kind): one for one in book.coverage() if one.polarity == "weaknesses"}
    assert found["recall", "own"].value == pytest.approx(0.75)
    assert found["precision", "own"].value == pytest.approx(0.6)
    assert found["compaction", "own"].value == pytest.approx(0.6)
    assert found["compaction_printed", "own"].value == pytest.approx(1.0)
    assert found["recall", "micro"].value == pytest.approx(0.75)
    volume = found["recall", "volume"].value
    assert volume is not None
    assert 0 < volume <= 0.75


def test_coverage_has_intervals_by_paper_and_chance_its_own() -> None:
    book = CoverageBook()
    nothing = tuple((False,) * 5 for _ in range(4))
    for number in range(1, 5):
        one = pair((0, 0), (5, 4), number)
        book.add("m", one, PairMatrices((), ROWS if number % 2 else nothing, 0, 5, "rule"))
        book.add_chance("m", one, PairMatrices((), nothing, 0, 5, "rule"))
    found = {(one.measure, one.kind): one for one in book.coverage(seed=1) if one.polarity == "weaknesses"}
    recall = found["recall", "own"]
    assert (recall.value, recall.low, recall.high, recall.pairs) == (0.375, 0, 0.75, 4)
    assert (found["recall", "chance"].low, found["recall", "chance"].high) == (0, 0)
    assert found["recall", "volume"].low is not None
    assert found["recall", "micro"].low is None


def test_several_systems_stand_together_too_and_one_does_not() -> None:
    book = CoverageBook()
    book.add("m", pair((0, 0), (5, 4)), PairMatrices((), ROWS, 0, 5, "rule"))
    assert {one.system for one in book.coverage()} == {"m"}
    book.add("n", pair((0, 0), (5, 4), 2), PairMatrices((), tuple((False,) * 5 for _ in range(4)), 0, 5, "rule"))
    recall = {one.system: one for one in book.coverage() if (one.polarity, one.measure, one.kind) == WEAK_RECALL}
    assert {name: one.value for name, one in recall.items()} == {"m": 0.75, "n": 0.0, ALL_SYSTEMS: 0.375}
    assert recall[ALL_SYSTEMS].sd == pytest.approx(0.75 / 2**0.5)


def test_items_on_neither_side_are_null_with_a_reason() -> None:
    book = CoverageBook()
    book.add("m", pair((0, 0), (0, 0)), PairMatrices((), (), 0, 0, "rule"))
    for one in book.coverage():
        assert one.value is None
        assert one.reason
    for matched in book.matched():
        assert matched.ratio is None
        assert matched.pairs == 0


def test_a_pair_that_no_judge_could_read_is_counted_and_not_zero() -> None:
    book = CoverageBook()
    read, unread = PairMatrices((), ROWS, 0, 5, "judge:m"), PairMatrices((), (), 0, 0, "judge:m", "failed", "silence")
    book.add("m", pair((0, 0), (5, 4)), read)
    book.add("m", pair((0, 0), (5, 4), 2), unread)
    (recall,) = [
        one for one in book.coverage() if (one.polarity, one.measure, one.kind) == ("weaknesses", "recall", "own")
    ]
    assert (recall.value, recall.pairs, recall.skipped) == (0.75, 1, 1)


def test_ratios_and_differences_are_those_of_the_pairs_kept_whole() -> None:
    pairs = [pair((2, 1), (4, 2)), pair((3, 0), (1, 4), 2), pair((0, 2), (0, 0), 3)]
    book = CoverageBook()
    for one in pairs:
        book.add("m", one, PairMatrices((), (), 0, 0, "rule"))
    mine = {(one.split, one.quantity): one for one in book.matched()}
    assert {split for split, _ in mine} == {"all", "venue iclr-2024", "decision reject"}
    for name in QUANTITIES:
        other = compared([(quantity(one.generated, name), quantity(one.human, name)) for one in pairs])
        own = mine["all", name]
        assert (own.ratio, own.pairs, own.zero_denominators) == (other.ratio, other.pairs, other.zero_denominators)
        assert (own.difference, own.difference_median) == (other.difference, other.difference_median)
        assert (own.compared, own.undefined) == (other.compared, other.undefined)
    weaknesses = mine["all", "weaknesses"]
    assert (weaknesses.ratio_median, weaknesses.generated_total, weaknesses.human_total) == (1.125, 5, 6)
    assert weaknesses.ratio_sd == pytest.approx(1.75 / 2**0.5)


def numbers_of(items: AtomicItems) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every number that is made of items, and why those that are null are."""
    case = ReviewCase(case_id="r", paper_id="p", source="m", kind="ai", text=items.source)
    reading = Reading(case, text_metrics(items.source), items=items)
    metrics = [one for one in find_metrics(["behaviour"]) if isinstance(one, ReadMetric) and one.part == "items"]
    return {one.name: one.of(reading) for one in metrics}, {one.name: one.why(reading) for one in metrics}


def test_a_review_without_a_strength_has_no_ratio_of_weaknesses_to_strengths() -> None:
    values, reasons = numbers_of(AtomicItems((), ("the ablation study is missing",), "the ablation study is missing"))
    assert (values["strengths"], values["weaknesses"], values["weaknesses_per_strength"]) == (0, 1, None)
    assert reasons["weaknesses_per_strength"] == "the review has no strength"
    assert (values["strengths_chars"], values["weaknesses_chars"]) == (0, 29)


def test_items_that_repeat_each_other() -> None:
    items = ("the ablation is missing", "the ablation is missing in Table 2", "the text is hard to read")
    values, _ = numbers_of(AtomicItems((), items, " ".join(items)))
    assert values["redundancy_contained"] == pytest.approx(1 / 3)
    assert values["redundancy_jaccard"] == pytest.approx(4 / 7)


def test_items_that_a_judge_made_up_are_shown_by_fidelity() -> None:
    source = "The paper is clear. However, the ablation study is missing and baselines are weak."
    values, _ = numbers_of(AtomicItems((), ("an ablation study was missing",), source, "judge:m"))
    assert values["fidelity_rouge_l"] == pytest.approx(0.6)
    assert values["fidelity_contained"] == 0.0
    assert values["fidelity_jaccard"] == pytest.approx(0.214286, abs=1e-6)
