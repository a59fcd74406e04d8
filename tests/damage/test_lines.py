"""The promises of ``JsonLines``, on which every store rests: what is damaged, cut off or too long, and bad disks."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from referee.errors import RunError
from referee.runs.lines import JsonLines, Line, lines_of, read_lines, records
from referee.schemas.base import Frozen

from .faulty_files import failing, put_in

SHORT = (b'{"n":1}', b'{"n":2,"text":"\xc3\xbc {}"}', b'{"n":3}')
WHOLE = b"".join(line + b"\n" for line in SHORT)


class Row(Frozen):
    n: int
    text: str = ""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


@pytest.fixture
def file(path: Path) -> Iterator[JsonLines]:
    """The file, with three lines in it."""
    with JsonLines(path) as lines:
        lines.append(*SHORT)
        yield lines


def numbers(path: Path) -> list[int]:
    return [row.n for _, row in records(path, Row)]


def damages(path: Path) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    list(records(path, Row, damaged=lambda line, _: found.append((line.number, line.fault))))
    return found


def test_lines_come_back_with_their_numbers_and_places(file: JsonLines, path: Path) -> None:
    assert path.read_bytes() == WHOLE
    assert [(line.number, line.place, line.text) for line in lines_of(path)] == [
        (1, 0, SHORT[0]),
        (2, 8, SHORT[1]),
        (3, 8 + len(SHORT[1]) + 1, SHORT[2]),
    ]
    assert all(file.read(line.place, len(line.text)) == line.text for line in lines_of(path))
    assert file.append(b'{"n":4}') == len(WHOLE)
    assert numbers(path) == [1, 2, 3, 4]


@pytest.mark.parametrize("kept", range(1, len(SHORT[2]) + 1))
def test_a_last_line_that_was_cut_anywhere_is_passed_over_then_cut_off(path: Path, kept: int) -> None:
    """But for the cut that takes its end alone: the line is whole, and gets its end."""
    before = WHOLE[: -len(SHORT[2]) - 1]
    path.write_bytes(before + SHORT[2][:kept])
    is_whole = kept == len(SHORT[2])
    assert numbers(path) == ([1, 2, 3] if is_whole else [1, 2])
    assert damages(path) == ([] if is_whole else [(3, "torn")])
    assert path.read_bytes() == before + SHORT[2][:kept], "reading changes nothing"
    with JsonLines(path) as lines:
        place = lines.append(b'{"n":9}')
    assert path.read_bytes() == (WHOLE if is_whole else before) + b'{"n":9}\n'
    assert path.read_bytes()[place:] == b'{"n":9}\n'


@pytest.mark.parametrize(
    "tail", [b"\0" * 5000, b"\xff\xfe{", b"[" * 200_000, b'{"n":' + b"9" * 9000, b"[3]", b"x" * 3_000_000]
)
def test_whatever_a_crash_left_at_the_end_is_cut_off(path: Path, tail: bytes) -> None:
    path.write_bytes(WHOLE + tail)
    assert numbers(path) == [1, 2, 3]
    with JsonLines(path) as lines:
        lines.append(b'{"n":9}')
    assert path.read_bytes() == WHOLE + b'{"n":9}\n'


MIDDLES: dict[str, bytes] = {
    "cut": b'{"n":2,"te',
    "zeros": b"\0" * 300,
    "no UTF-8": b'{"n":2,"text":"\xff\xc3"}',
    "half a surrogate pair": b'{"n":2,"text":"\\ud800"}',
    "nested too deeply": b'{"n":2,"text":' + b"[" * 100_000,
    "a number of many digits": b'{"n":' + b"9" * 100_000 + b"}",
    "no number": b'{"n":NaN}',
    "no record": b"[2]",
    "another store's record": b'{"m":2}',
    "two records": b'{"n":2}{"n":2}',
}


@pytest.mark.parametrize("kind", MIDDLES)
def test_a_damaged_line_in_the_middle_is_named_and_takes_no_other_with_it(path: Path, kind: str) -> None:
    damaged = SHORT[0] + b"\n" + MIDDLES[kind] + b"\n\n  \n" + SHORT[2] + b"\n"
    path.write_bytes(damaged)
    assert numbers(path) == [1, 3]
    assert damages(path) == [(2, "")]
    with JsonLines(path) as lines:
        lines.append(b'{"n":9}')
    assert path.read_bytes() == damaged + b'{"n":9}\n', "it stays where it is"


def test_who_reads_may_refuse_a_damaged_line(path: Path) -> None:
    path.write_bytes(b'{"n":1}\nx\n{"n":3}\n')

    def refuse(line: Line, error: Exception | None) -> None:
        raise RunError(f"line {line.number}") from error

    with pytest.raises(RunError, match="line 2"):
        list(records(path, Row, damaged=refuse))


CODES = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_a_disk_that_fails_after_any_byte_leaves_the_file_as_it_was(path: Path, code: int) -> None:
    path.write_bytes(WHOLE)
    for room in range(20):
        with pytest.MonkeyPatch.context() as patch, JsonLines(path) as lines:
            put_in(patch, left=room, code=code)
            with pytest.raises(OSError, match=r".") as failed:
                lines.append(b'{"n":4}', b'{"n":5,"text":"x"}')
            assert (failed.value.errno, failed.value.filename) == (code, str(path))
            assert path.read_bytes() == WHOLE
    with JsonLines(path) as lines:
        lines.append(b'{"n":4}')
    assert numbers(path) == [1, 2, 3, 4]


def test_one_that_goes_on_after_a_failed_write_loses_nothing(file: JsonLines, path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        file.close()
        put_in(patch, left=3, code=errno.ENOSPC)
        with pytest.raises(OSError, match="No space"):
            file.append(b'{"n":4}')
    file.close()
    file.append(b'{"n":5}')
    assert numbers(path) == [1, 2, 3, 5]


def test_what_cannot_be_taken_back_is_cut_off_by_the_next_line(path: Path) -> None:
    path.write_bytes(WHOLE)
    with pytest.MonkeyPatch.context() as patch, JsonLines(path) as lines:
        put_in(patch, left=5, code=errno.EIO)
        patch.setattr("referee.runs.lines.os.ftruncate", failing(errno.EIO))
        with pytest.raises(OSError, match="Input/output"):
            lines.append(b'{"n":4}')
    assert path.read_bytes() == WHOLE + b'{"n":'
    assert (numbers(path), damages(path)) == ([1, 2, 3], [(4, "torn")])
    with JsonLines(path) as lines:
        lines.append(b'{"n":5}')
    assert path.read_bytes() == WHOLE + b'{"n":5}\n'


@pytest.mark.parametrize("at_once", [1, 3, 8])
def test_short_writes_make_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    put_in(monkeypatch, at_once=at_once)
    with JsonLines(path) as lines:
        lines.append(*SHORT)
        lines.append(b'{"n":4}')
    assert path.read_bytes() == WHOLE + b'{"n":4}\n'


def test_a_flush_that_fails_is_said_and_the_line_stands(file: JsonLines, path: Path) -> None:
    list(file.unread())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("referee.runs.lines.os.fsync", failing(errno.EIO))
        with pytest.raises(OSError, match="Input/output") as failed:
            file.append(b'{"n":4}')
        assert failed.value.filename == str(path)
        file.append(b'{"n":5}', flush=False)
    assert numbers(path) == [1, 2, 3, 4, 5]
    assert file.has_unread, "who reads on meets the line whose flush failed"
    assert [line.text for line in file.unread()] == [b'{"n":4}', b'{"n":5}']
    assert not file.has_unread


def test_each_line_is_flushed_unless_told_not_to(file: JsonLines, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr("referee.runs.lines.os.fsync", flushed.append)
    file.append(b'{"n":4}', flush=False)
    assert not flushed
    file.append(b'{"n":5}')
    assert len(flushed) == 1


def test_a_line_above_the_limit_is_refused_before_anything_is_written(path: Path) -> None:
    with JsonLines(path, most=20) as lines:
        lines.append(b"x" * 20)
        with pytest.raises(RunError, match=r"a line of 21 bytes is too long for .*rows.jsonl', which takes 20"):
            lines.append(b'{"n":1}', b"x" * 21)
    assert path.read_bytes() == b"x" * 20 + b"\n"


@pytest.mark.parametrize("end", [b"", b"\n", b'\n{"n":3}\n'])
def test_a_line_above_the_limit_is_passed_over_and_never_in_memory(path: Path, end: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(SHORT[0] + b"\n")
        for _ in range(64):
            stream.write(b" " * 2**20)
        stream.write(end)
    tracemalloc.start()
    found = list(lines_of(path, most=2**16))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(line.number, line.fault) for line in found[:2]] == [(1, ""), (2, "too long")]
    assert [line.text for line in found[2:]] == ([b'{"n":3}'] if end.endswith(b"}\n") else [])
    assert found[-1].end == path.stat().st_size
    assert peak < 5 * 2**20, f"{peak:,} bytes"


@pytest.mark.parametrize("size", [99, 100, 101])
def test_the_limit_counts_a_line_without_its_end(size: int) -> None:
    for end in (b"", b"\n", b"\nx\n"):
        line = next(read_lines(io.BytesIO(b"x" * size + end), 100))
        assert (line.fault == "too long") == (size > 100)


def test_a_last_line_above_the_limit_gets_its_end_and_is_no_end_of_the_file(path: Path) -> None:
    """Nobody can tell whether it is torn: it is left where it is, as a damaged one."""
    path.write_bytes(b'{"n":1}\n' + b"x" * 5000)
    with JsonLines(path, most=1000) as lines:
        lines.append(b'{"n":2}')
        assert [(line.fault, line.text[:7]) for line in lines.unread()] == [
            ("", b'{"n":1}'),
            ("too long", b"xxxxxxx"),
            ("", b'{"n":2}'),
        ]
        assert lines.size == path.stat().st_size


def test_the_first_bytes_are_known_again_by_their_checksum(file: JsonLines, path: Path) -> None:
    size, checksum = file.size, file.checksum
    file.append(b'{"n":4}')
    with JsonLines(path) as again:
        assert again.begins_as(size, checksum)
        assert [line.text for line in again.unread()] == [b'{"n":4}']
        assert not again.begins_as(size, checksum + 1)
        assert not again.begins_as(10**9, checksum)
        assert len(list(again.unread())) == 4, "nothing counts as read"


def test_a_torn_line_does_not_count_as_read(path: Path) -> None:
    path.write_bytes(WHOLE + b'{"n":')
    with JsonLines(path) as lines:
        assert [line.fault for line in lines.unread()] == ["", "", "", "torn"]
        assert lines.size == len(WHOLE)
        lines.append(b'{"n":4}')
        assert lines.size == path.stat().st_size
        assert not lines.has_unread


def test_lines_are_cut_off_from_a_place_on(file: JsonLines, path: Path) -> None:
    second = [line.place for line in lines_of(path)][1]
    file.cut(second)
    file.append(b'{"n":9}')
    assert numbers(path) == [1, 9]


def test_lines_that_end_as_in_other_systems_are_read(path: Path) -> None:
    path.write_bytes(b'{"n":1}\r\n\r\n{"n":2}\r\n')
    assert numbers(path) == [1, 2]


def test_a_missing_file_has_no_lines_and_reading_makes_none(path: Path) -> None:
    assert numbers(path) == []
    with JsonLines(path) as lines:
        assert list(lines.unread()) == []
        assert not lines.has_unread
    assert not path.exists()


def test_a_file_that_ends_with_the_process_is_on_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.runs.lines.os.fsync", failing(errno.EIO))
    with closing(JsonLines(None)) as lines:
        place = lines.append(*SHORT)
        assert lines.read(place, len(SHORT[0])) == SHORT[0]


@pytest.mark.parametrize("change", [lambda path: path.mkdir(), lambda path: path.parent.chmod(0o500)])
def test_what_cannot_be_opened_is_named(path: Path, change: Callable[[Path], object]) -> None:
    change(path)
    try:
        if path.parent.stat().st_mode & 0o200 or os.geteuid():
            with pytest.raises(OSError, match=r".") as failed, JsonLines(path) as lines:
                lines.append(b"{}")
            assert failed.value.filename == str(path)
    finally:
        path.parent.chmod(0o700)


APPENDER = """
import sys
from pathlib import Path
from referee.runs.lines import JsonLines
with JsonLines(Path(sys.argv[1])) as lines:
    for number in range(300):
        lines.append(b'{"n":%d,"text":"%s"}' % (number, sys.argv[2].encode() * (number + 1)), flush=False)
"""


def test_processes_that_append_at_once_mix_no_lines(path: Path) -> None:
    path.write_bytes(b'{"n":0,"text":"torn')
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    both = [subprocess.Popen([sys.executable, "-c", APPENDER, str(path), name], env=environment) for name in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    rows = [row for _, row in records(path, Row)]
    assert damages(path) == []
    for name in "ab":
        assert [row.n for row in rows if row.text[0] == name] == list(range(300)), "each writer's lines, in its order"
    assert all(len(row.text) == row.n + 1 for row in rows)
