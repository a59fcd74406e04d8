import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import EvaluationError
from referee.evals.behaviour.coverage_matrix import Coverage, coverage_of, macro, micro

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
