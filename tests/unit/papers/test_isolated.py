"""A file that kills, stalls or swells its converter ends as a refusal; the reading process has limits and no keys."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers import isolated, load_paper
from referee.papers.isolated import load_as_set, read_paper
from referee.schemas.paper import Paper
from referee.settings import PaperSettings

LIMITS = PaperSettings(max_seconds=60)
SOON = PaperSettings(max_seconds=2)
# What a converter may be made to do by a file; it stands in for the real one in the child alone.
CONVERTER = """
import json, os, resource, signal, sys, time
from pathlib import Path
__version__ = "0"
class ScannedDocument(Exception): pass
def to_document(path):
{body}
"""
PROBE = """
limits = {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name))[0]
          for name in ("AS", "CPU", "CORE", "FSIZE", "NOFILE")}
seen = {"limits": limits, "names": sorted(os.environ), "fds": len(os.listdir("/proc/self/fd")), "here": os.listdir("."),
        "input": sys.stdin.read(), "session": os.getsid(0) == os.getpid()}
raise ValueError("<" + json.dumps(seen) + ">")
"""


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a converter with this body where the child finds it before the real one."""

    def write(body: str) -> None:
        folder = tmp_path / "converter"
        folder.mkdir()
        lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
        (folder / "rustypaper.py").write_text(CONVERTER.format(body=lines))
        monkeypatch.syspath_prepend(str(folder))

    return write


def refusal(path: Path, bounds: PaperSettings = LIMITS) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        load_as_set(path, bounds)
    assert repr(path.name) in caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper.pdf", "paper.docx", "paper.html", "paper.md"])
def test_the_paper_is_the_same_as_without_a_process(examples: Path, name: str) -> None:
    assert load_as_set(examples / name, LIMITS) == load_paper(examples / name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "crashed (signal 11)"),
        ("os.abort()", "crashed", "crashed (signal 6), as it also does when it needs more than 2,048 MiB"),
        ("held = [bytearray(2**28) for _ in range(99)]", "memory", "used more than 2,048 MiB"),
        ("raise ValueError('io error: out of memory')", "memory", "used more than 2,048 MiB"),
        ("raise KeyError('a fault of ours')", "fault", "the reader failed with \"KeyError: 'a fault of ours'\""),
        ("os._exit(0)", "reply", "is no paper"),
        ("os._exit(3)", "fault", "exit code 3"),
    ],
)
def test_every_end_of_the_converter_has_its_refusal(examples, converter, body: str, kind: str, words: str) -> None:
    converter(body)
    error = refusal(examples / "paper.pdf")
    assert words in error.message
    assert error.ids["converter"] == kind


@pytest.mark.parametrize("body", ["time.sleep(600)", "os.close(1); os.close(2); time.sleep(600)"])
def test_a_converter_that_does_not_end_is_stopped(examples: Path, converter, body: str) -> None:
    converter(body)
    error = refusal(examples / "paper.pdf", SOON)
    assert "stopped after 2 s" in error.message
    assert "paper.max_seconds" in error.hint


def test_the_child_finds_compiled_modules_where_its_parent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for prefix, given in (("/somewhere", ["-X", "pycache_prefix=/somewhere"]), (None, [])):
        monkeypatch.setattr(sys, "pycache_prefix", prefix)
        command = isolated._command({})
        assert command[1 : command.index("-c")] == ["-I", "-B", *given]


@pytest.mark.slow
def test_a_flood_is_no_reply(examples: Path, converter) -> None:
    converter("for _ in range(10**9): os.write(2, b'x' * 10**6)")
    assert refusal(examples / "paper.pdf", SOON).ids["converter"] == "time"


@pytest.mark.slow
def test_what_a_converter_prints_is_no_reply(examples: Path, converter) -> None:
    converter("print('P{}', flush=True); raise ValueError('said at last')")
    assert "said at last" in refusal(examples / "paper.pdf").message


@pytest.mark.slow
def test_a_reply_has_a_bound(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "_REPLY_BYTES", 1000)
    error = refusal(examples / "paper.pdf")
    assert "more than" in error.message


def test_a_reply_is_validated(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = isolated._Reading(examples / "paper.pdf", LIMITS)
    for reply in (b"", b"P", b'P{"paper_id": 1}', b"R", b"R[]", b'R{"message": 1}', b"X{}"):
        with pytest.raises(PaperParseError, match="no paper"):
            reading._understood(reply, Paper)


def test_the_child_has_limits_and_nothing_of_ours(
    examples: Path, converter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "REFEREE_API_KEY", "SOME_SECRET", "PYTHONPATH"):
        monkeypatch.setenv(name, "of-no-concern")
    converter(PROBE)
    with (tmp_path / "open").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        message = refusal(examples / "paper.pdf").message
    seen = json.loads(message[message.index("<") + 1 : message.rindex(">")])
    assert seen["limits"] == {"AS": 2**31, "CPU": 60, "CORE": 0, "FSIZE": 2**28, "NOFILE": 64}
    assert not [name for name in seen["names"] if "KEY" in name or "TOKEN" in name or "SECRET" in name]
    assert set(seen["names"]) <= {
        *("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "TMPDIR", "HOME"),
        *("RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"),
    }
    assert seen["fds"] <= 6  # the three of every process, the reply, the listing itself, and the library's one
    assert seen["here"] == []
    assert seen["input"] == ""
    assert seen["session"] is True


def test_a_panic_of_the_converter_is_a_refusal_that_names_it(examples: Path, converter) -> None:
    converter("class PanicException(BaseException): pass\nraise PanicException('byte 3 is inside a letter')")
    error = refusal(examples / "paper.pdf")
    assert "rustypaper broke off while it read it: byte 3 is inside a letter" in error.message
    assert "converter" not in error.ids


@pytest.mark.slow
def test_a_file_that_a_converter_writes_has_a_bound(examples: Path, converter) -> None:
    converter("os.truncate(os.open('big', os.O_CREAT | os.O_WRONLY), 2**28 + 1)")
    error = refusal(examples / "paper.pdf")
    assert "File too large" in error.message


def test_nothing_is_left_behind(examples: Path, converter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    converter("Path('left').write_bytes(b'x'); os.kill(os.getpid(), signal.SIGKILL)")
    before = sorted(tmp_path.iterdir())
    refusal(examples / "paper.pdf")
    assert sorted(tmp_path.iterdir()) == before


def test_hidden_text_is_still_taken_out_of_a_copy(draw_pdf) -> None:
    words = "We count words in papers and find that there are few of them in each."
    path = draw_pdf(
        [[(words, 100 + 14 * n, "Times-Roman", 11) for n in range(20)] + [("tiny words", 500, "Times-Roman", 1)]]
    )
    assert load_as_set(path, LIMITS) == load_paper(path)


def test_refusals_of_the_reader_come_back_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing more\n%%EOF")
    with pytest.raises(PaperParseError) as here:
        load_paper(path)
    error = refusal(path)
    assert (error.message, error.hint, error.ids) == (here.value.message, here.value.hint, here.value.ids)


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_short_plain_text_needs_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a process was started for plain text")

    path = tmp_path / name
    path.write_text("# A\n\nText.\n")
    monkeypatch.setattr("referee.papers.isolated.Child.run", never)
    assert load_as_set(path, LIMITS).format in ("markdown", "text")
    path.write_bytes(b"%PDF-1.4")
    with pytest.raises(AssertionError):
        load_as_set(path, LIMITS)
    path.write_text("word " * 2**14)
    with pytest.raises(AssertionError):
        load_as_set(path, LIMITS)


@pytest.mark.parametrize(
    ("name", "words"), [("none.pdf", "no file"), (".", "without a .tex file"), ("empty.pdf", "0 bytes")]
)
def test_what_is_no_file_is_refused_before(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "empty.pdf").touch()
    with pytest.raises(PaperParseError, match=words):
        load_as_set(tmp_path / name, LIMITS)


async def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(600):
        if holds():
            return True
        await asyncio.sleep(0.05)
    return False


async def test_cancelling_ends_the_child(examples: Path, converter, tmp_path: Path) -> None:
    sign = tmp_path / "pid"
    converter(f"Path({str(sign)!r}).write_text(str(os.getpid())); time.sleep(600)")
    task = asyncio.create_task(read_paper(examples / "paper.pdf", PaperSettings()))
    assert await eventually(lambda: sign.exists() and bool(sign.read_text()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await eventually(lambda: not Path(f"/proc/{sign.read_text()}").exists())


def test_without_limits_of_the_system_nothing_is_read(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "find_spec", lambda name: None)
    error = refusal(examples / "paper.pdf")
    assert "no limits" in error.message
    assert "paper.isolated = false" in error.hint


def test_a_process_that_cannot_start_is_named(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert "No such file" in refusal(examples / "paper.pdf").message


async def test_settings_decide(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert (await read_paper(examples / "paper.pdf", PaperSettings(isolated=False))).format == "pdf"


def test_the_readers_last_words_are_logged_for_debugging_only(
    examples: Path, converter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="referee")
    converter("os.kill(os.getpid(), signal.SIGSEGV)")
    refusal(examples / "paper.pdf")
    (record,) = [r for r in caplog.records if r.name == "referee.papers.isolated"]
    assert record.levelno == logging.DEBUG
    assert "to_document" in record.getMessage()
