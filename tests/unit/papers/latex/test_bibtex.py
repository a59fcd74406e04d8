"""Entries of .bib files as they are found in papers, and names in them."""

from __future__ import annotations

import pytest

from referee.papers.latex.bibtex import read_bibtex, split_names


def test_what_is_given_twice_counts_once() -> None:
    entries = read_bibtex(
        "@misc{a, title={One}, Year=1999, title={Two}}\n@misc{a, title={Three}}\n@Book(b, title={Q (r)})"
    )
    assert [(key, entry.kind, entry.get("title")) for key, entry in entries.items()] == [
        ("a", "misc", "One"),
        ("b", "book", "Q (r)"),
    ]
    assert entries["a"].get("year", "title") == "1999"
    assert entries["a"].get("doi") == ""


def test_named_strings_are_put_in_and_joined() -> None:
    entries = read_bibtex(
        '@STRING{jot = "Journal"}\n@misc{a, journal = JOT # " of " # {Tests}, publisher = jot, day = 3}'
    )
    assert entries["a"].fields == {"journal": "Journal of Tests", "publisher": "Journal", "day": "3"}


def test_comments_and_broken_entries_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    source = "% @misc{x, title={no}}\n@comment{@misc{y, title={no}}}\n@misc{open, title={never\n@misc{b, title={Yes}}"
    assert list(read_bibtex(source)) == ["b"]
    assert not caplog.records


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ana de la Cruz", ("Ana", "de la Cruz")),
        ("de la Cruz, Ana", ("Ana", "de la Cruz")),
        ("King, Jr, Martin Luther", ("Martin Luther Jr", "King")),
        ("Greg~S. Corrado", ("Greg S.", "Corrado")),
        ("{World Health Organization}", ("", "{World Health Organization}")),
        ("others", ("", "others")),
    ],
)
def test_names_are_parted(name: str, expected: tuple[str, str]) -> None:
    assert split_names(f"{name} and Lo, Kyle") == [expected, ("Kyle", "Lo")]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "source", ["\n@a(" * 20_000, "@a{" * 20_000, "@misc{a, title=" + "{" * 200_000, "@misc{a," * 20_000]
)
def test_a_hostile_file_has_no_entries(source: str) -> None:
    assert read_bibtex(source) == {}


@pytest.mark.timeout(20)
def test_a_hostile_name_is_cut() -> None:
    assert len(split_names("}" * 300_000)) == 1
