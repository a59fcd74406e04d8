"""The tables that computations can ask for: rows as a reader's text has them, and which may have been read wrongly."""

import pytest

from referee.evidence import run_computations
from referee.papers.captions import table_rows
from referee.schemas.computation import Program, TableRows
from referee.schemas.paper import Block, Converter, Paper, Section

CELLS = (("Method", "F1"), ("ours", "0.81"))
UNEVEN = (("Method", "F1"), ("ours",))


def paper(*blocks: Block, kind: str = "pdf") -> Paper:
    section = Section(id="s1", heading="Results", level=1, blocks=blocks)
    return Paper(
        paper_id="0" * 64, title="T", format=kind, sections=(section,), converter=Converter(name="test", version="1")
    )


def table(label: str | None, cells: tuple[tuple[str, ...], ...] = (), text: str = "as cells") -> Block:
    return Block(id=f"t{label}", kind="table", text=text, cells=cells, label=label)


def caption(label: str) -> Block:
    return Block(id=f"c{label}", kind="caption", text=f"{label}: Results.", label=label)


def test_rows_by_number() -> None:
    shown = paper(table("Table 2", CELLS), caption("Table 2"), table(None, CELLS[:1] * 2), caption("Table A1"))
    assert table_rows(shown) == {"2": TableRows(rows=CELLS), "A1": TableRows(rows=CELLS[:1] * 2)}


def test_a_table_without_cells_is_its_text_by_rows() -> None:
    shown = paper(table("Table 1", text="Method | F1\nours | 0.81"), caption("Table 1"))
    assert table_rows(shown) == {"1": TableRows(rows=CELLS)}


@pytest.mark.parametrize(("kind", "doubtful"), [("pdf", True), ("latex", False)])
def test_rows_of_different_length_are_doubtful_where_cells_are_guessed(kind: str, doubtful: bool) -> None:
    shown = paper(table("Table 1", UNEVEN), caption("Table 1"), kind=kind)
    assert table_rows(shown) == {"1": TableRows(rows=UNEVEN, doubtful=doubtful)}


def test_a_table_that_was_not_read_is_left_out() -> None:
    assert table_rows(paper(caption("Table 1"), Block(id="p", kind="paragraph", text="Words."))) == {}


async def test_a_program_sees_them() -> None:
    tables = table_rows(paper(table("Table 2", UNEVEN), caption("Table 2")))
    program = Program(id="p", code='sum(len(row) for row in table("2"))', expects="3")
    [outcome] = await run_computations([program], tables, "")
    assert (outcome.status, outcome.doubtful) == ("agrees", ("2",))
