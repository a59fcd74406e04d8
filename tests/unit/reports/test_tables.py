"""Numbers and names in CSV."""

from __future__ import annotations

from referee.reports.tables import csv_text


def test_a_csv_holds_no_terminal_sequences() -> None:
    assert csv_text(["a"], [["x\x1b[31mred\x07"], ["\u202eabc"], ["=1+1"], [1.5], ["two\nlines"]]) == (
        'a\nxred\nabc\n\'=1+1\n1.5\n"two\nlines"\n'
    )
