"""Numbers in prose and tables."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import LedgerEntry, number_ledger
from referee.evidence.numerals import find_numerals
from referee.schemas.paper import Block, Section

from .test_rules_material import paper, prose, table, wrap


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("8.1M rows", "8100000", "100000"),
        ("8M rows", "8000000", "1000000"),
        ("1.5 million rows", "1500000", "100000"),
        ("2B tokens", "2000000000", "1000000000"),
        ("2 billion tokens", "2000000000", "1000000000"),
        ("3k steps", "3000", "1000"),
        ("3K steps", "3000", "1000"),
        ("3 thousand steps", "3000", "1000"),
        ("3.40 in all", "3.40", "0.01"),
        ("1,234 in all", "1234", "1"),
    ],
)
def test_a_scale_moves_the_value_and_its_last_digit(text: str, value: str, step: str) -> None:
    (found,) = find_numerals(text)
    assert (found.value, found.step) == (Decimal(value), Decimal(step))
    assert (found.low, found.high) == (Decimal(value) - Decimal(step) / 2, Decimal(value) + Decimal(step) / 2)


def numbers(text: str) -> list[tuple[str, str]]:
    return [(format(n.value, "f"), n.unit) for n in find_numerals(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The model has 4,000 items.", [("4000", "")]),
        ("It reaches 55.5\\% of them.", [("55.5", "%")]),
        ("from 18.9 to 1.5 points", [("18.9", ""), ("1.5", "pp")]),
        ("about 8.1M papers", [("8100000", "")]),
        ("a rate of $2 \\times 10^{-5}$ and of 3e-4", [("0.00002", ""), ("0.0003", "")]),
        ("a skewness of $-0.2$ and −1.5", [("-0.2", ""), ("-1.5", "")]),
        ("12 of 30 (40%)", [("12", ""), ("30", ""), ("40", "%")]),
        ("2.5x and a 12-fold gain", [("2.5", "x"), ("12", "x")]),
        ("took 37.4 s and 12 ms", [("37.4", "s"), ("12", "ms")]),
        ("the range 0.1–0.5", [("0.1", ""), ("0.5", "")]),
    ],
)
def test_numbers_have_value_and_unit(text: str, expected: list[tuple[str, str]]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "GPT-4 and Llama2 and x1 and 3D shapes",
        "as in [12, 3] and Smith et al. (2019), or (Doe, 2020)",
        "Table 2, Figures 3 and 4, Section 4.2, Eq. (5), Appendix B.1",
        "version 1.2.3 and https://a.example/5 and doi:10.7554/eLife.00007",
        "on May 5, 2011",
    ],
)
def test_names_labels_and_citations_are_no_numbers(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("3.40", "3.395", "3.405"), ("12", "11.5", "12.5"), ("8.1M", "8050000", "8150000"), ("1,000", "999.5", "1000.5")],
)
def test_a_number_stands_for_half_a_unit_of_its_last_digit(text: str, low: str, high: str) -> None:
    (found,) = find_numerals(text)
    assert (found.low, found.high) == (Decimal(low), Decimal(high))


@pytest.mark.parametrize(
    ("text", "bound"), [("at most 5%", "<"), ("p < 0.05", "<"), ("more than 7", ">"), ("about 3", "~")]
)
def test_limits_and_approximations_are_marked(text: str, bound: str) -> None:
    assert [n.bound for n in find_numerals(text)] == [bound]


def only(entries: list[LedgerEntry], printed: str) -> LedgerEntry:
    (entry,) = [e for e in entries if e.text == printed]
    return entry


def test_prose_gives_subject_symbol_and_place() -> None:
    text = "We draw s = 0.5. Our model reaches an accuracy of 0.78 on the test set, and the baseline 0.71 ± 0.02."
    entries = number_ledger(paper(text))
    accuracy = only(entries, "0.78")
    assert "accuracy" in accuracy.subject
    assert "test" in accuracy.subject
    assert text[accuracy.start : accuracy.end] == "0.78"
    assert (accuracy.section_id, accuracy.block_id, accuracy.page, accuracy.source) == ("s1", "b1", 3, "prose")
    assert accuracy.sentence.startswith("Our model")
    assert only(entries, "0.5").symbol == "s"
    assert only(entries, "0.02").spread


def test_cells_stand_under_their_heads() -> None:
    block = table(
        " | Coverage (%) | ", "Interval | G = 5 | G = 10", "cluster-t | 93.4 | 93.5", "boot | 82.5 | 89.1 ± 0.4"
    )
    entries = number_ledger(paper(block))
    cell = only(entries, "93.5")
    assert (cell.row_head, cell.column_head, cell.unit) == (("cluster-t",), ("Coverage (%)", "G = 10"), "%")
    assert (cell.table, cell.row, cell.column, cell.source) == ("Table 1", 2, 2, "cell")
    assert only(entries, "0.4").spread
    assert "5" not in [e.text for e in entries]


def test_two_name_columns_and_tables_without_a_head() -> None:
    two = number_ledger(paper(table("Data | Method | Loss", "text8 | Ours | 0.98", " | Base | 1.00")))
    assert [e.row_head for e in two] == [("text8", "Ours"), ("text8", "Base")]
    bare = number_ledger(paper(table("Total papers | 81.1M", "With PDF | 28.9M (35.6%)")))
    assert [(e.text, e.unit) for e in bare] == [("81.1M", ""), ("28.9M", ""), ("35.6%", "%")]


def test_rows_of_unequal_length() -> None:
    ragged = Block(id="t", kind="table", text="x", cells=((), ("a", "b"), ("c",), ("d", "1.5", "2.5"), (), ("", "3.5")))
    assert [(e.text, e.row_head) for e in number_ledger(paper(ragged))] == [
        ("1.5", ("d",)),
        ("2.5", ("d",)),
        ("3.5", ("d",)),
    ]


def test_front_matter_and_bibliography_are_left_out() -> None:
    sections = [
        Section(id=role, heading=role, level=1, role=role, blocks=(prose("There were 12 of them."),))
        for role in ("front", "abstract", "references", "appendix")
    ]
    assert [e.section_id for e in number_ledger(wrap(*sections))] == ["abstract", "appendix"]


@given(
    st.lists(st.text(max_size=120).filter(str.strip), max_size=6),
    st.lists(st.lists(st.text(max_size=12), max_size=4), max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_no_text_and_no_table_breaks_the_ledger(texts: list[str], rows: list[list[str]]) -> None:
    blocks = [Block(id=f"b{i}", kind="paragraph", text=text) for i, text in enumerate(texts)]
    grid = Block(id="t", kind="table", text="table", cells=tuple(map(tuple, rows)))
    for entry in number_ledger(paper(*blocks, grid)):
        assert entry.low <= entry.value <= entry.high


@pytest.mark.parametrize("piece", ["1" * 50, "1,", "%", "(", "Table 1, ", "from 1 to 2 and ", "x = 1 ", "-", "x@", "A"])
def test_long_texts_take_no_quadratic_time(piece: str) -> None:
    started = time.process_time()
    number_ledger(paper(piece * (50_000 // len(piece))))
    assert time.process_time() - started < 5
