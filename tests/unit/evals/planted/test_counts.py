"""Shares from verdicts: the numbers at the end of the specification's section 10, to the digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from referee.evals.planted.counts import ArmCount, PaperCount, cells, comparable, corrected, difference
from referee.evals.planted.matching import Hit, RecordOutcome, Verdict

SIZES = {"A": 4, "B": 3, "C": 5}
S1 = {"A": {1: 1, 2: 2}, "B": {1: 1}, "C": {1: 2, 2: 4, 3: 11}}
S2 = {"A": {1: 1, 2: 1, 3: 1}, "B": {1: 1}, "C": {2: 1, 3: 1, 4: 1, 5: 1}}


def paper(name: str, ranks: Mapping[int, int], ambiguous: int = 0) -> PaperCount:
    """A paper whose records are found at these ranks; so many of the others are ambiguous."""
    rest: list[Verdict] = ["ambiguous"] * ambiguous + ["missed"] * SIZES[name]
    records = []
    for number in range(1, SIZES[name] + 1):
        rank = ranks.get(number)
        hit = Hit(verdict="found", point=f"r{rank}", rank=rank) if rank else Hit(verdict=rest.pop(0))
        one = RecordOutcome(
            record_id=f"{name}{number}", kind="number", severity="H", difficulty="far", printed=hit, raised=hit
        )
        records.append(one)
    return PaperCount(tuple(records))


def arms(**changes: PaperCount) -> dict[str, ArmCount]:
    first = {name: paper(name, S1[name]) for name in SIZES}
    second = {name: paper(name, S2[name]) for name in SIZES}
    return comparable({"S1": first, "S2": second | changes})


def test_recalls_and_their_difference() -> None:
    one, two = arms().values()
    assert (one.recall_low, two.recall_low) == (pytest.approx(0.5), pytest.approx(0.6667, abs=5e-5))
    assert one.mean_of_papers == pytest.approx(0.4778, abs=5e-5)
    assert two.mean_of_papers == pytest.approx(0.6278, abs=5e-5)
    found = difference(one, two)
    assert found.mean == pytest.approx(0.15)
    assert (found.low, found.high) == (pytest.approx(-0.179, abs=5e-4), pytest.approx(0.479, abs=5e-4))
    assert not found.shown
    assert (found.only_second, found.only_first) == (3, 1)


@pytest.mark.parametrize(("recall", "expected"), [(0.5, 0.4545), (8 / 12, 0.6364)])
def test_one_ghost_of_twelve_corrects_the_recall(recall: float, expected: float) -> None:
    assert corrected(recall, 1 / 12) == pytest.approx(expected, abs=5e-5)
    assert corrected(recall, None) is None
    assert corrected(recall, 1.0) is None


def test_ghosts_of_an_arm_are_over_the_papers_whose_twin_was_reviewed() -> None:
    one = arms()["S1"]
    ghosted = ArmCount({name: replace(own, ghosts=int(name == "A")) for name, own in one.papers.items()})
    assert ghosted.corrected == pytest.approx(0.4545, abs=5e-5)
    assert one.ghost is None
    assert one.corrected is None


def test_what_is_left_open_counts_in_the_high_recall_alone() -> None:
    one = comparable({"S1": {name: paper(name, S1[name], ambiguous=name != "C") for name in SIZES}})["S1"]
    assert one.recall_high == pytest.approx(0.6667, abs=5e-5)


def test_the_lower_bound_of_precision_leaves_duplicates_out() -> None:
    papers = {name: paper(name, S1[name]) for name in SIZES}
    first = papers["A"].records[0]
    again = first.model_copy(update={"printed": first.printed.model_copy(update={"duplicates": ("r8", "r9")})})
    papers["A"] = replace(papers["A"], records=(again, *papers["A"].records[1:]), points=20)
    assert comparable({"S1": papers})["S1"].precision_low == pytest.approx(6 / 18)


def test_a_failed_review_takes_its_paper_out_of_every_arm() -> None:
    one, two = arms(B=PaperCount((), failed=True)).values()
    assert (one.recall_low, two.recall_low) == (pytest.approx(5 / 9), pytest.approx(7 / 9))
    assert (one.n, one.failed, two.failed) == (9, 0, 1)


def test_recall_among_the_first_remarks() -> None:
    only_c = comparable({"S1": {"C": paper("C", S1["C"])}})["S1"]
    assert [only_c.recall_at(k) for k in (3, 5, 10)] == pytest.approx([0.2, 0.4, 0.4])
    assert only_c.recall_low == pytest.approx(0.6)


@pytest.mark.parametrize(("copies", "share"), [(4, None), (5, pytest.approx(0.5))])
def test_a_cell_of_fewer_than_twenty_records_has_counts_only(copies: int, share: object) -> None:
    records = paper("A", S1["A"]).records * copies
    assert cells(records, "kind") == {"number": (2 * copies, 4 * copies, share)}


def test_nothing_gives_no_number() -> None:
    empty = ArmCount({})
    assert (empty.recall_low, empty.recall_high, empty.mean_of_papers, empty.precision_low) == (None,) * 4
    assert difference(empty, empty).mean is None
    assert comparable({}) == {}
