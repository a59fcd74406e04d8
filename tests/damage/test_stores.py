"""What holds for each store of lines, whatever its records are: torn and foreign lines, full disks, ``kill -9``."""

from __future__ import annotations

import errno
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from referee.runs.lines import JsonLines

from .faulty_files import put_in
from .stores import STORES, Store

ROOT = Path(__file__).parents[2]


def filled(store: Store, folder: Path, most: int = 4) -> bytes:
    """The content of a store with records 0 to 3."""
    write = store.writer(folder)
    for number in range(most):
        write(number)
    return (folder / store.file).read_bytes()


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("lost", [2, 30])
def test_a_torn_last_line_is_lost_alone(tmp_path: Path, name: str, lost: int) -> None:
    store = STORES[name]
    content = filled(store, tmp_path)
    (tmp_path / store.file).write_bytes(content[:-lost])
    assert store.read(tmp_path) == [0, 1, 2]
    store.writer(tmp_path)(4)
    assert store.read(tmp_path) == [0, 1, 2, 4]
    assert (tmp_path / store.file).read_bytes().count(b"\n") == 4, "nothing is left of it"


@pytest.mark.parametrize("name", STORES)
def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path: Path, name: str) -> None:
    store = STORES[name]
    (tmp_path / store.file).write_bytes(filled(store, tmp_path)[:-1])
    assert store.read(tmp_path) == [0, 1, 2, 3]
    store.writer(tmp_path)(4)
    assert store.read(tmp_path) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("kind", ["torn", "too long", "of another store"])
def test_a_damaged_line_in_the_middle_takes_no_other_with_it(tmp_path: Path, name: str, kind: str) -> None:
    """Only a snapshot is cut there: its forums are a list that is read on from its last one."""
    store = STORES[name]
    lines = filled(store, tmp_path).splitlines(keepends=True)
    bad = {"torn": lines[1][:20] + b"\n", "too long": b" " * (2**26 + 1) + b"\n", "of another store": b'{"x": 1}\n'}
    (tmp_path / store.file).write_bytes(b"".join([lines[0], bad[kind], *lines[2:]]))
    left = [0] if store.cuts else [0, 2, 3]
    assert store.read(tmp_path) == left
    store.writer(tmp_path)(4)
    assert store.read(tmp_path) == [*left, 4]


@pytest.mark.parametrize("name", STORES)
def test_a_full_disk_loses_the_record_alone(tmp_path: Path, name: str) -> None:
    store = STORES[name]
    content = filled(store, tmp_path)
    write = store.writer(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        put_in(patch, left=25, code=errno.ENOSPC)
        with pytest.raises(OSError, match="No space left") as failed:
            write(4)
    assert failed.value.filename == str(tmp_path / store.file)
    assert (tmp_path / store.file).read_bytes() == content
    store.writer(tmp_path)(5)
    assert store.read(tmp_path) == [0, 1, 2, 3, 5]


def test_a_ledger_goes_on_with_the_numbers_of_its_calls_after_a_torn_line(tmp_path: Path) -> None:
    from referee.runs.ledger import Ledger

    content = filled(STORES["trace"], tmp_path)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content[:-9])
    ledger = Ledger(path)
    assert (ledger.damaged_lines, ledger.next_call_id()) == (1, "c0004")
    ledger.append(ledger.records[0].model_copy(update={"call_id": ledger.next_call_id(), "request": "new"}))
    again = Ledger(path)
    assert (again.damaged_lines, again.next_call_id()) == (0, "c0005")


def test_what_is_damaged_is_counted(tmp_path: Path) -> None:
    from referee.evals.results import damaged_lines
    from referee.experiments.journal import Journal

    for name in ("results", "units"):
        lines = filled(STORES[name], tmp_path).splitlines(keepends=True)
        (tmp_path / STORES[name].file).write_bytes(b"".join([lines[0], b"{\n", *lines[2:]]) + b'{"')
    assert damaged_lines(tmp_path / "results.jsonl") == 2
    assert damaged_lines(tmp_path / "none") == 0
    (said,) = Journal(tmp_path / "units.jsonl").notes
    assert said.startswith("1 line(s) of units.jsonl are damaged"), "what a torn line began had not begun"


async def test_a_result_of_another_run_is_named_and_nothing_is_measured(tmp_path: Path) -> None:
    """``--resume`` ended in a traceback once all was measured and paid."""
    from referee import RunOptions, evaluate
    from referee.errors import RunError

    row = {"review_id": "r", "paper_id": "p", "source": "human", "text": "The proof of Lemma 2 is sound."}
    (tmp_path / "set.jsonl").write_text(json.dumps(row) + "\n")
    done = await evaluate(tmp_path / "set.jsonl", metrics=["words"], options=RunOptions(out=tmp_path / "run"))
    results = done.run / "results.jsonl"
    results.write_bytes(results.read_bytes() + results.read_bytes().replace(b'"r"', b'"stranger"', 1))
    with pytest.raises(RunError, match=r"a result of review 'stranger', which is not in cases\.jsonl"):
        await evaluate(tmp_path / "set.jsonl", metrics=["words"], options=RunOptions(resume=done.run))


KILLS = [(name, seed) for name in STORES for seed in (1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), KILLS)
def test_kill_9_loses_nothing_that_was_taken(tmp_path: Path, name: str, seed: int) -> None:
    store, dice = STORES[name], random.Random(f"{name}{seed}")
    command = [sys.executable, "-m", "tests.damage.stores", name, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(dice.randrange(3, 12))]
        time.sleep(dice.random() * 0.02)
        process.kill()
        said += process.stdout.read().splitlines(keepends=True)
    found = store.read(tmp_path)
    taken = sum(line.endswith(b"\n") for line in said)
    assert taken >= 3
    assert found[:taken] == list(range(taken)), "every record that the store took is there, in its order"
    assert len(found) <= taken + 1, "and the one under way at most"
    store.writer(tmp_path)(len(found))
    assert store.read(tmp_path) == list(range(len(found) + 1))
    with JsonLines(tmp_path / store.file) as lines:
        assert not any(line.fault for line in lines.unread())
