"""A row that cannot be used is named with its reason, and the others go on."""

from __future__ import annotations

import gzip
import json
import logging
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.data import RejectedSink, read_cases, rejected_text
from referee.data.papers import read_papers
from referee.data.predictions import holds_predictions, read_predictions
from referee.data.reading_notes import ReadingNotes
from referee.errors import DataError
from referee.literature.index import WorkIndex
from referee.schemas.case import ReviewCase

GOOD = {"paper_id": "p", "review_id": "r1", "source": "human", "text": "Fine."}


def line(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode() + b"\n"


def read(file: Path, data: bytes) -> tuple[list[ReviewCase], list[tuple[int, str]]]:
    file.write_bytes(data)
    with RejectedSink(file.parent / "rejected.jsonl") as sink:
        cases = list(read_cases(file, rejected=sink))
    rows = [json.loads(row) for row in sink.path.read_text(encoding="utf-8").splitlines()] if sink.count else []
    assert all(row["file"] == str(file) and len(row["row"]) <= 200 for row in rows)
    assert Counter(row["source"] for row in rows) == sink.by_source
    return cases, [(row["line"], row["reason"]) for row in rows]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"paper_id": "p", "text": "caf\xe9"}\n', "not UTF-8: byte 0xe9"),
        (b'{"paper_id": "p", "text": \n', "not JSON"),
        (b'{"paper_id": "p", "text": "half \\ud800"}\n', "half a surrogate pair"),
        (b"null\n", "the record is null"),
        (b"[1]\n", "the record is a list"),
        (b'{"paper_id": "p"} {"paper_id": "q"}\n', "more than one value"),
        (b'{"text": "of no paper"}\n', "names no paper"),
        (b'{"paper_id": "p", "source": "human", "author_type": "ai", "text": "t"}\n', "contradict"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
    ],
)
def test_a_bad_line_is_left_out_and_named(tmp_path: Path, bad: bytes, reason: str) -> None:
    cases, rejected = read(tmp_path / "set.jsonl", b"\xef\xbb\xbf" + line() + b"\n" + bad + line(review_id="r2"))
    assert [case.case_id for case in cases] == ["r1", "r2"]
    assert [number for number, _ in rejected] == [3]
    assert reason in rejected[0][1]


def test_what_is_missing_is_null_and_an_empty_review_is_kept(tmp_path: Path) -> None:
    data = b'{"paper_id": "p", "review_id": null, "source": null, "text": null, "scores": {"rating": NaN}}\n'
    (case,), rejected = read(tmp_path / "set.jsonl", data)
    assert (case.text, case.rating, case.source, case.kind, case.fields) == (
        "",
        None,
        "unknown",
        "unknown",
        {"rating": None},
    )
    assert case.case_id.startswith("p/unknown/")
    assert rejected == []


def test_reviews_of_two_and_of_fifty_thousand_words(tmp_path: Path) -> None:
    cases, _ = read(tmp_path / "set.jsonl", line(text="Accept it.") + line(review_id="r2", text="word " * 50_000))
    assert [len(case.text.split()) for case in cases] == [2, 50_000]


def test_an_id_that_comes_twice(tmp_path: Path) -> None:
    cases, rejected = read(tmp_path / "set.jsonl", line() + line(text="Other.") + line() + line(text="Third."))
    assert [case.case_id for case in cases] == ["r1", "r1~2", "r1~3"]
    assert cases[1].extra["case_id_given"] == "r1"
    assert len(rejected) == 1
    assert rejected[0][0] == 3
    assert "duplicate" in rejected[0][1]


def test_a_list_goes_on_after_a_broken_record(tmp_path: Path) -> None:
    bad = b'{"paper_id": "p", "text": \'single\', "more": {"a": [1]}}'
    data = b",".join([line(), bad, line(review_id="r2", text="]}[{"), b" 7", line(review_id="r3")])
    cases, rejected = read(tmp_path / "set.json", b"[" + data + b"]")
    assert [case.case_id for case in cases] == ["r1", "r2", "r3"]
    assert [number for number, _ in rejected] == [2, 4]


def test_a_list_that_breaks_off_says_so(tmp_path: Path) -> None:
    cases, rejected = read(tmp_path / "set.json", b"[" + line() + b', {"paper_id": "q", "text": "and th')
    assert len(cases) == 1
    assert "not closed" in rejected[0][1]


def test_records_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    rows = [{**GOOD, "review_id": f"r{n}", "text": f'{n} "quoted" \\ {"long " * 100_000}'} for n in range(4)]
    cases, rejected = read(tmp_path / "set.json", json.dumps(rows).encode())
    assert [case.case_id for case in cases] == ["r0", "r1", "r2", "r3"]
    assert rejected == []


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_tables_with_any_delimiter_and_breaks_inside_cells(tmp_path: Path, delimiter: str) -> None:
    header = delimiter.join(["paper_id", "source", "text"])
    body = delimiter.join(["p", "human", '"First; line, with ""quotes""\nand | a second\tone"'])
    cases, rejected = read(tmp_path / "set.csv", b"\xef\xbb\xbf" + f"{header}\r\n{body}\r\n".encode())
    assert [case.text for case in cases] == ['First; line, with "quotes"\nand | a second\tone']
    assert rejected == []


def test_bad_rows_of_a_table(tmp_path: Path) -> None:
    data = b'paper_id,source,text\np,human,"two\nlines"\np,human,caf\xe9\np,human\np,human,last\n'
    cases, rejected = read(tmp_path / "set.csv", data)
    assert [case.text for case in cases] == ["two\nlines", "last"]
    assert rejected == [(4, "not UTF-8: byte 0xe9"), (5, "the row has 2 cells, the header 3")]


def test_a_quotation_mark_that_is_left_open_is_no_endless_cell(tmp_path: Path) -> None:
    data = b'paper_id,source,text\np,human,"open\n' + b"p,human,row of text\n" * 250_000
    cases, rejected = read(tmp_path / "set.csv", data[:4_250_000])
    assert "quotation mark" in rejected[0][1]
    assert cases


def test_a_file_of_a_folder_that_is_no_review_set_is_named(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.jsonl").write_bytes(line())
    (tmp_path / "set" / "b.json").write_text('{"other": 1}', encoding="utf-8")
    (tmp_path / "set" / "c.json").write_bytes("{}".encode("utf-16"))
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        assert len(list(read_cases(tmp_path / "set", rejected=sink))) == 1
    reasons = [json.loads(row)["reason"] for row in sink.path.read_text(encoding="utf-8").splitlines()]
    assert "has other" in reasons[0]
    assert "UTF-16" in reasons[1]


def test_without_a_sink_every_bad_row_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "set.jsonl").write_bytes(line() + b"null\n")
    with caplog.at_level(logging.WARNING):
        assert len(list(read_cases(tmp_path / "set.jsonl"))) == 1
    assert "line 2 is left out" in caplog.text


RECORD = {"case_id": "c1", "paper_id": "p", "source": "gpt", "kind": "ai", "text": "Thin.", "year": 2024}


@pytest.mark.parametrize("name", ["case_id", "review_id"])
def test_a_row_with_further_columns_is_read_under_either_name_of_its_id(tmp_path: Path, name: str) -> None:
    row = {key: value for key, value in RECORD.items() if key != "case_id"}
    rows = [{**row, name: "c1", "config": "short", "rating": "6: weak accept"}, {**row, name: "c2", "text": "Other."}]
    rows += [{**row, name: "c3", "review": "By another key.", "text": None, "soundness": 3}]
    cases, rejected = read(tmp_path / "set.jsonl", "".join(json.dumps(one) + "\n" for one in rows).encode())
    assert rejected == []
    assert [(case.text, case.source, case.kind, case.year) for case in cases] == [
        (text, "gpt", "ai", 2024) for text in ("Thin.", "Other.", "By another key.")
    ]
    assert (cases[0].rating, cases[0].extra, cases[2].fields["soundness"]) == (6, {"config": "short"}, 3)
    if name == "case_id":
        assert [case.case_id for case in cases] == ["c1", "c2", "c3"]


def test_a_record_of_ours_keeps_a_further_column(tmp_path: Path) -> None:
    case = ReviewCase(case_id="a", paper_id="p", source="m", kind="ai", text="T.", fields={"x": "T."}, extra={"k": 1})
    (again,), _ = read(tmp_path / "set.jsonl", json.dumps({**case.model_dump(mode="json"), "config": "b"}).encode())
    assert again.model_copy(update={"origin": None}) == case.model_copy(update={"extra": {"k": 1, "config": "b"}})


@pytest.mark.parametrize(
    "bad",
    [
        {**RECORD, "rating": "six"},
        {**RECORD, "paper_id": ""},
        {"review_id": "x", "paper_id": "p", "source": "ai:gpt", "kind": "human", "text": "t"},
    ],
)
@pytest.mark.parametrize("good", [GOOD, {**RECORD, "source": "other", "case_id": "c0"}])
def test_a_system_of_which_no_row_can_be_used_is_an_error(
    tmp_path: Path, bad: dict[str, object], good: dict[str, object]
) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", encoding="utf-8")
    if good is GOOD and bad.get("rating"):
        assert len(list(read_cases(file))) == 2, "a flat row keeps a rating that it cannot read"
        return
    with pytest.raises(DataError, match=r"no row of 'gpt' can be used: 1 left out, the first in .* line 2: "):
        list(read_cases(file))


def test_a_file_in_no_known_layout_that_holds_a_system_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(line())
    (tmp_path / "b.jsonl").write_text('{"paper_id": "p", "source": "gpt", "words": "Thin."}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"no row of 'gpt' can be used: .*b\.jsonl': no known layout"):
        list(read_cases(tmp_path))


def test_rows_that_cannot_be_used_are_counted_by_who_wrote_them(tmp_path: Path) -> None:
    rows = [RECORD, {**RECORD, "case_id": "c2", "rating": "six"}, {**RECORD, "case_id": "c3", "year": "soon"}]
    (tmp_path / "set.jsonl").write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows) + b"null\n")
    with RejectedSink(tmp_path / "rejected.jsonl") as sink:
        assert len(list(read_cases(tmp_path / "set.jsonl", rejected=sink))) == 1
    assert sink.by_source == {"gpt": 2, "": 1}
    assert rejected_text(sink.by_source) == "3 row(s) could not be used (of nobody named: 1, of gpt: 2)"


def peak_mib(work: Callable[[], object]) -> float:
    """The most memory that Python's objects took meanwhile, in MiB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def packed(file: Path, *parts: bytes | int) -> None:
    """A packed file of these parts, with 24 MiB of a character in place of each number."""
    with gzip.open(file, "wb") as stream:
        for part in parts:
            for _ in range(24 if isinstance(part, int) else 1):
                stream.write(bytes([part]) * 2**20 if isinstance(part, int) else part)


X, BLANK, LONG = ord("x"), ord(" "), b"x" * 3_000_000
SECOND = line(review_id="r2")
CSV = b"paper_id,source,text\np,human,Fine.\np,human,Good.\n"
BOMBS: dict[str, tuple[tuple[bytes | int, ...], int, str]] = {
    "blanks.jsonl.gz": ((line(), BLANK, b"\n" + SECOND), 2, "the line is longer than 4 MiB"),
    "text.jsonl.gz": ((line(), b'{"text": "', X, b'"}\n' + SECOND), 2, "the line is longer than 4 MiB"),
    "no-end.jsonl.gz": ((line(), SECOND, X), 2, "the line is longer than 4 MiB"),
    "list.json.gz": ((b"[" + line(), b"," + SECOND + b',{"text": "', X, b'"}]'), 2, "the record is longer than 4 MiB"),
    "keys.json.gz": ((b'{"a": "', LONG, b'", "b": "', LONG, b'"}'), 0, "the record is longer than 4 MiB"),
    "cell.csv.gz": ((CSV, b"p,human,", X, b"\n"), 2, "a row is longer than 4 MiB"),
    "row.csv.gz": ((CSV, b'p,"a\n', (b'","' + b"a" * 60 + b"\n") * 200_000), 2, "a row is longer than 4 MiB"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_what_unpacks_to_a_line_or_a_record_without_end_is_named_and_takes_no_memory(tmp_path: Path, name: str) -> None:
    parts, good, reason = BOMBS[name]
    packed(tmp_path / name, *parts)
    rejected: list[tuple[int, str]] = []
    cases: list[ReviewCase] = []

    def reading() -> None:
        with RejectedSink(tmp_path / "rejected.jsonl") as sink:
            cases.extend(read_cases(tmp_path / name, layout="flat", rejected=sink))
        rows = map(json.loads, sink.path.read_text(encoding="utf-8").splitlines())
        rejected.extend((row["line"], row["reason"]) for row in rows)

    assert peak_mib(reading) < 150
    assert len(cases) == good
    assert reason in rejected[0][1]


def test_a_line_of_4_mib_is_read_and_a_longer_one_is_not(tmp_path: Path) -> None:
    whole = line(text="x" * (2**22 - len(line(text=""))))
    cases, rejected = read(
        tmp_path / "set.jsonl", whole + line(review_id="r2", text="y" * 2**22) + line(review_id="r3")
    )
    assert [case.case_id for case in cases] == ["r1", "r3"]
    assert rejected == [(2, "the line is longer than 4 MiB")]


def test_lists_of_papers_and_predictions_have_the_limit_too(tmp_path: Path) -> None:
    paper = {"paper_id": "p1", "markdown": "# T\n\nText of the paper.\n"}
    for name, opened in (("papers.jsonl", open), ("papers.jsonl.gz", gzip.open)):
        with opened(tmp_path / name, "wb") as stream:
            stream.write(b" " * (2**22 + 1) + b"\n\n" + json.dumps(paper).encode() + b"\n")
        store = read_papers(tmp_path / name)
        assert store.problems == (f"{name}, line 1: the line is longer than 4 MiB",)
        found = store.get("p1")
        assert found is not None
        assert "Text of the paper." in found.content[-1].text
    (tmp_path / "predictions.jsonl").write_bytes(
        b'{"status":"failed","paper_id":"p","kept_rating":null}\n' + b" " * 2**23
    )
    assert holds_predictions(tmp_path / "predictions.jsonl")
    (tmp_path / "predictions.jsonl").write_bytes(b" " * 2**23)
    assert not holds_predictions(tmp_path / "predictions.jsonl")
    with pytest.raises(DataError, match="line 1, is no prediction: the line is longer than 4 MiB"):
        read_predictions(tmp_path / "predictions.jsonl")
    with pytest.raises(DataError, match="line 1 is longer than 4 MiB"):
        WorkIndex.load(tmp_path / "predictions.jsonl")


@pytest.mark.parametrize(
    ("year", "read_as"), [("1e308", None), ("-5", None), ("0", None), ("1e4", None), ("2020.0", 2020)]
)
def test_a_year_that_is_none_counts_as_missing_and_is_said(tmp_path: Path, year: str, read_as: int | None) -> None:
    data = line(year=7).replace(b"7", year.encode())
    (case,), rejected = read(tmp_path / "set.jsonl", data)
    assert (case.year, rejected) == (read_as, [])
    assert case.extra.get("year_unread") == (None if read_as else str(json.loads(year)))
    notes = ReadingNotes()
    notes.add(case)
    assert list(notes.notes()) == ([] if read_as else ["1 year(s) cannot be read and count as missing"])


def test_a_year_that_is_none_in_our_own_records_is_named(tmp_path: Path) -> None:
    own = {"case_id": "c", "paper_id": "p", "source": "s", "kind": "human", "text": "Fine.", "year": 10**307}
    _, rejected = read(
        tmp_path / "set.jsonl", json.dumps(own).encode() + b"\n" + json.dumps(own | {"year": 2020}).encode()
    )
    assert [number for number, _ in rejected] == [1]
    assert "year" in rejected[0][1]
