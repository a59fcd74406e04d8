"""Every store of JSON lines behind two functions: write the so-manieth record, and list the records that are read.

Run as a program it writes records without end, and says each number once the store has taken it:

    python -m tests.damage.stores NAME FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path


@dataclass(frozen=True)
class Store:
    """``writer`` gives the function that writes a record by its number; ``read`` gives the numbers of all records.

    ``file`` is where the lines are; ``cuts`` says that what follows a damaged line is cut off with it.
    """

    file: str
    writer: Callable[[Path], Callable[[int], object]]
    read: Callable[[Path], list[int]]
    cuts: bool = False


def _call(number: int) -> object:
    from referee.schemas.run import CallRecord

    about = {"call_id": f"c{number:04d}", "request": f"r{number}", "base": f"r{number}", "role": "writer"}
    more = {"prompt": "p@v1", "prompt_digest": "d", "model": "m", "status": "answered", "reply": "ü" * 50}
    return CallRecord.model_validate(about | more)


def _ledger(folder: Path, *, indexed: bool) -> object:
    from referee.runs.ledger import Ledger

    return Ledger(folder / "trace.jsonl", index=folder / ".trace.sqlite" if indexed else None)


def _ledger_writer(indexed: bool) -> Callable[[Path], Callable[[int], object]]:
    def writer(folder: Path) -> Callable[[int], object]:
        ledger = _ledger(folder, indexed=indexed)
        return lambda number: ledger.append(_call(number))  # type: ignore[attr-defined]

    return writer


def _ledger_read(indexed: bool) -> Callable[[Path], list[int]]:
    def read(folder: Path) -> list[int]:
        with closing(_ledger(folder, indexed=indexed)) as ledger:  # type: ignore[type-var]
            return [int(call.request[1:]) for call in ledger.records]  # type: ignore[attr-defined]

    return read


def _results_writer(folder: Path) -> Callable[[int], object]:
    from referee.evals.results import append_result
    from referee.runs.lines import JsonLines
    from referee.schemas.metric import MetricResult

    def write(number: int) -> None:
        made = {"metric": "words", "version": "1", "case_id": str(number), "paper_id": "p", "source": "s"}
        with JsonLines(folder / "results.jsonl") as lines:
            append_result(lines, MetricResult.model_validate(made | {"status": "scored", "value": 1.0}))

    return write


def _results_read(folder: Path) -> list[int]:
    from referee.evals.results import read_results

    return [int(result.case_id) for result in read_results(folder / "results.jsonl")]


def _journal_writer(folder: Path) -> Callable[[int], object]:
    from referee.experiments.journal import Entry, Journal

    journal = Journal(folder / "units.jsonl")
    return lambda number: journal.append(Entry(event="began", kind="review", paper="p", folder=str(number)))


def _journal_read(folder: Path) -> list[int]:
    from referee.experiments.journal import Journal

    return [int(entry.folder) for entry in Journal(folder / "units.jsonl").entries]


def _register_writer(folder: Path) -> Callable[[int], object]:
    from referee.experiments.looked_at import Look, note_look

    def write(number: int) -> None:
        about = {"at": "2026-11-28", "plan": "p", "split": "test", "store": "s", "run": str(number), "papers": ("d",)}
        note_look(Look.model_validate(about), folder / "register.jsonl")

    return write


def _register_read(folder: Path) -> list[int]:
    from referee.experiments.looked_at import looks

    return [int(look.run) for look in looks(folder / "register.jsonl")]


def _book_writer(folder: Path) -> Callable[[int], object]:
    from referee.llm.batches.book import Batch, Book
    from referee.llm.batches.protocol import Submission

    book = Book(folder)

    def write(number: int) -> None:
        made = Submission(name=str(number), model="m", requests=1, at=0.0)
        book.note("submitting", Batch(made), submission=made)

    return write


def _book_read(folder: Path) -> list[int]:
    from referee.llm.batches.book import Book

    return [int(name) for name in Book(folder).batches]


def _snapshot_writer(folder: Path) -> Callable[[int], object]:
    from referee.collecting.snapshot import Snapshot

    snapshot = Snapshot(folder / "venue.jsonl")
    return lambda number: snapshot.add([{"id": str(number), "content": {"title": "ü" * 50}}])


def _snapshot_read(folder: Path) -> list[int]:
    from referee.collecting.snapshot import Snapshot

    return [int(name) for name in Snapshot(folder / "venue.jsonl").forums]


def _events_writer(folder: Path) -> Callable[[int], object]:
    from referee.app.job_files import Line, add_line

    return lambda number: add_line(folder, Line(said=str(number)))


def _events_read(folder: Path) -> list[int]:
    from referee.app.job_files import lines_from

    return [int(line.said) for _, line in lines_from(folder, 0)]


STORES: dict[str, Store] = {
    "trace": Store("trace.jsonl", _ledger_writer(False), _ledger_read(False)),
    "trace with its index": Store("trace.jsonl", _ledger_writer(True), _ledger_read(True)),
    "results": Store("results.jsonl", _results_writer, _results_read),
    "units": Store("units.jsonl", _journal_writer, _journal_read),
    "register": Store("register.jsonl", _register_writer, _register_read),
    "batches": Store("book.jsonl", _book_writer, _book_read),
    "snapshot": Store("venue.jsonl", _snapshot_writer, _snapshot_read, cuts=True),
    "events": Store("events.jsonl", _events_writer, _events_read),
}


if __name__ == "__main__":
    write = STORES[sys.argv[1]].writer(Path(sys.argv[2]))
    for number in count():
        write(number)
        print(number, flush=True)
