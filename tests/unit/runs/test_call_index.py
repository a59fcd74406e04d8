"""The index beside a trace: it saves reading, and whatever becomes of it, the trace is what counts."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.runs import Ledger
from referee.runs.call_index import CallIndex
from referee.schemas.run import CallRecord

from .test_ledger import call

REQUESTS = tuple("abcdefgh")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A trace of eight calls, two of them a question that was given up, with an index that knows all."""
    ledger = opened(tmp_path)
    for request in REQUESTS[:6]:
        ledger.append(call(request, f'"{request} ü\u2028"', role=request))
    ledger.append(call("g", "nonsense"))
    ledger.append(call("h", "nonsense", base="g"))
    ledger.append(call("g", None))
    ledger.close()
    return tmp_path


def opened(place: Path) -> Ledger:
    return Ledger(place / "trace.jsonl", index=place / ".trace.sqlite")


def state(ledger: Ledger) -> object:
    """All that a ledger can be asked."""
    replies = [ledger.reply(request) for request in (*REQUESTS, "z")]
    sums = ledger.usage(), ledger.usage_by_role(), ledger.damaged_lines, ledger.next_call_id()
    return replies, sums, ledger.records


def test_a_start_with_a_whole_index_reads_no_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, validate = [], CallRecord.model_validate_json

    def counted(text: bytes) -> CallRecord:
        read.append(text)
        return validate(text)

    monkeypatch.setattr(CallRecord, "model_validate_json", counted)
    ledger = opened(place)
    assert ledger.usage().calls == 9
    assert read == []
    assert ledger.reply("b") is not None
    assert len(read) == 1


def test_what_a_kill_kept_from_the_index_is_read_from_the_trace(place: Path) -> None:
    killed = opened(place)
    killed.append(call("z"))
    del killed
    with (place / "trace.jsonl").open("ab") as file:
        file.write(b'{"call_id": "c9", "requ')
    again = opened(place)
    assert again.reply("z") is not None
    assert again.damaged_lines == 1
    assert state(again) == state(Ledger(place / "trace.jsonl"))


def _other_letter(trace: Path) -> None:
    trace.write_bytes(trace.read_bytes().replace(b"a \xc3\xbc", b"o \xc3\xbc"))


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "missing": lambda trace, index: index.unlink(),
    "empty": lambda trace, index: index.write_bytes(b""),
    "cut": lambda trace, index: index.write_bytes(index.read_bytes()[:9000]),
    "zeros in it": lambda trace, index: index.write_bytes(index.read_bytes()[:4096] + bytes(8192)),
    "no database": lambda trace, index: index.write_bytes(b"GIF89a" * 4000),
    "a folder": lambda trace, index: (index.unlink(), index.mkdir()),
    "a journal of another one": lambda trace, index: (
        index.write_bytes(b"cut"),
        index.with_name(f"{index.name}-journal").write_bytes(bytes(range(256)) * 40),
    ),
    "the trace is shorter": lambda trace, index: trace.write_bytes(trace.read_bytes()[:900]),
    "the trace has another letter": lambda trace, index: _other_letter(trace),
    "the trace has each line twice": lambda trace, index: trace.write_bytes(trace.read_bytes() * 2),
    "the trace is gone": lambda trace, index: trace.unlink(),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_index_is_made_anew(place: Path, kind: str) -> None:
    trace, index = place / "trace.jsonl", place / ".trace.sqlite"
    DAMAGES[kind](trace, index)
    ledger = opened(place)
    assert state(ledger) == state(Ledger(trace))
    ledger.append(call("z"))
    ledger.close()
    again = opened(place)
    assert again.reply("z") is not None
    assert state(again) == state(Ledger(trace))


def test_an_index_that_breaks_down_in_a_run_loses_no_call(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = opened(place)

    add, failures = CallIndex.add, [sqlite3.OperationalError("database or disk is full")]

    def full_once(index: CallIndex, place: int, size: int, added: CallRecord) -> bool:
        if failures:
            raise failures.pop()
        return add(index, place, size, added)

    monkeypatch.setattr(CallIndex, "add", full_once)
    ledger.append(call("z"))
    ledger.append(call("y"))
    assert state(ledger) == state(Ledger(place / "trace.jsonl"))
    assert ledger.reply("z") is not None
    assert ledger.usage().calls == 11


def test_an_index_that_names_wrong_places_is_not_believed(place: Path) -> None:
    expected = state(Ledger(place / "trace.jsonl"))
    with sqlite3.connect(place / ".trace.sqlite") as database:
        database.execute("UPDATE calls SET request = 'x' WHERE request = 'a'")
        database.execute("UPDATE calls SET request = 'a' WHERE request = 'b'")
    database.close()
    assert state(opened(place)) == expected


def test_the_index_holds_no_text(place: Path) -> None:
    secret = call("z", "a very long and secret reply").model_copy(update={"messages": (("user", "a secret paper"),)})
    ledger = opened(place)
    ledger.append(secret)
    ledger.close()
    assert b"secret" in (place / "trace.jsonl").read_bytes()
    assert b"secret" not in (place / ".trace.sqlite").read_bytes()


def test_a_folder_that_was_copied_goes_on(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    other.mkdir()
    shutil.copy(place / "trace.jsonl", other)
    assert state(opened(other)) == state(opened(place))
