"""Untrusted files are read in a child process with limits: every way it can end is a paper or a named refusal."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel, ValidationError

from referee.errors import PaperParseError
from referee.papers.child import PAPER, REFUSED
from referee.papers.load import checked_head, is_plain_text, load_paper
from referee.schemas.figure import Figures
from referee.schemas.page import Highlights, PageImages
from referee.schemas.paper import Paper
from referee.settings import PaperSettings

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from referee.papers.child import main; main()"
_ENVIRONMENT = ("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
# Each thread reserves address space, which counts against the limit on machines with many cores.
_FEW_THREADS = {"RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
_CHUNK, _KEPT_ERRORS, _REPLY_BYTES = 64 * 1024, 8 * 1024, 32 * 2**20
Made = TypeVar("Made", bound=BaseModel)


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        reply: What it gave back, at most the bound and one chunk.
        errors: The end of what it and the converters wrote as errors.
        code: Its exit code; negative for a signal.
        timed_out: It was still running at the deadline and was stopped.
        too_long: Its reply passed the bound and it was stopped.
    """

    reply: bytes
    errors: str
    code: int
    timed_out: bool
    too_long: bool


class Child:
    """One reading process; it can be stopped from another thread."""

    def __init__(self, request: Mapping[str, Any], seconds: float) -> None:
        self._request = request
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> Ending:
        """Start it and wait for its end.

        Raises:
            OSError: No process, pipe or folder can be made.
        """
        kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        with tempfile.TemporaryDirectory(prefix="referee-", ignore_cleanup_errors=True) as folder:
            process = subprocess.Popen(  # noqa: S603
                _command(self._request),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                # What a program needs to run at all: no key, no token, no setting and no home gets in.
                env={**kept, **_FEW_THREADS, "TMPDIR": folder, "HOME": folder},
                start_new_session=True,
            )
            with process:
                self._process = process
                try:
                    if self._stopped:
                        process.kill()
                    return self._attended(process)
                finally:
                    process.kill()

    def stop(self) -> None:
        """End it now, also before it has begun."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def _attended(self, process: subprocess.Popen[bytes]) -> Ending:
        assert process.stdout is not None, "it was opened with a pipe"
        assert process.stderr is not None, "it was opened with a pipe"
        deadline = time.monotonic() + self._seconds
        heard = {"reply": bytearray(), "errors": bytearray()}
        timed_out = not self._listen({"reply": process.stdout, "errors": process.stderr}, heard, deadline)
        too_long = len(heard["reply"]) > _REPLY_BYTES
        if not timed_out and not too_long:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                timed_out = True
        if timed_out or too_long:
            process.kill()
        return Ending(
            bytes(heard["reply"]),
            heard["errors"].decode("utf-8", "backslashreplace"),
            process.wait(),
            timed_out,
            too_long,
        )

    def _listen(self, pipes: Mapping[str, IO[bytes]], heard: Mapping[str, bytearray], deadline: float) -> bool:
        """Read until both pipes are closed or the reply is too long; False at the deadline."""
        with selectors.DefaultSelector() as selector:
            for name, pipe in pipes.items():
                selector.register(pipe, selectors.EVENT_READ, name)
            while selector.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(left):
                    data = os.read(key.fd, _CHUNK)
                    if not data:
                        selector.unregister(key.fileobj)
                    heard[key.data].extend(data)
                del heard["errors"][:-_KEPT_ERRORS]
                if len(heard["reply"]) > _REPLY_BYTES:
                    return True
        return True


def _command(request: Mapping[str, Any]) -> list[str]:
    """The same interpreter, closed off from the user's own settings, with the parent's places to import from."""
    own, places = str(Path(__file__).parents[2]), [place for place in sys.path if Path(place).is_absolute()]
    places = places if own in places else [own, *places]
    kept = [] if sys.pycache_prefix is None else ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [
        sys.executable, "-I", "-B", *kept, "-c", _START, json.dumps(list(dict.fromkeys(places))), json.dumps(request),
    ]  # fmt: skip


_LOG = logging.getLogger(__name__)
_OUT_OF_MEMORY = ("MemoryError", "memory allocation of", "bad_alloc", "ut of memory", "failed to map segment")
_STOPPED_BY_TIME = (signal.SIGXCPU, signal.SIGALRM)
# How programs end themselves when they get no memory: pdfium says nothing before it does.
_GAVE_UP = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)
_MOST_PLAIN_BYTES = 2**16
_SHOWN = 200
_OTHER_FORMAT = "Export or download the paper again, or give it in another format"
_MEMORY_HINT = f"{_OTHER_FORMAT}; for a very long paper set paper.max_memory_mb (REFEREE_PAPER__MAX_MEMORY_MB)."


def load_as_set(path: Path, bounds: PaperSettings) -> Paper:
    """Read a paper as ``load_paper`` does, within the settings' limits; in a child process unless they say otherwise.

    PDF, Word, HTML, LaTeX and archives are read by the child. Markdown and plain text of at most 64 KiB are read here:
    no converter touches them. The child has no key in its environment, no open file of ours and a folder of its own.

    Raises:
        PaperParseError: As ``load_paper``; or the converter crashed, was stopped at a limit, or gave no paper. Then
            ``ids["converter"]`` is ``crashed``, ``time``, ``memory``, ``fault`` or ``reply``.
    """
    return _Reading(path, bounds).run()


async def read_paper(path: Path, bounds: PaperSettings) -> Paper:
    """As ``load_as_set``, without blocking the event loop; when it is cancelled, the child ends at once.

    Raises:
        PaperParseError: As ``load_as_set``.
    """
    reading = _Reading(path, bounds)
    return await _awaited(reading, reading.run)


async def draw_pages(path: Path, folder: Path, bounds: PaperSettings) -> PageImages:
    """Pictures of a PDF's pages in a folder, and their lines; drawn by a child process, as ``read_paper`` reads.

    Raises:
        PaperParseError: As ``load_as_set``.
    """
    reading = _Reading(path, bounds, pages=str(folder.absolute()))
    return await _awaited(reading, lambda: reading.made(PageImages))


async def draw_figures(
    path: Path, paper: Paper, folder: Path, bounds: PaperSettings, *, whole_pages: bool = False
) -> Figures:
    """Pictures of a paper's figures and tables in a folder; cut out by a child process, as ``read_paper`` reads.

    With ``whole_pages`` those of a PDF are shown as the pages they stand on.

    Raises:
        PaperParseError: As ``load_as_set``; the review goes on without pictures then.
        OSError: The folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".referee-", dir=folder.parent) as place:
        known = Path(place) / "paper.json"
        known.write_text(paper.model_dump_json(), encoding="utf-8")
        asked = {"paper": str(known.absolute()), "figures": str(folder.absolute())}
        reading = _Reading(path, bounds, **asked, **({"whole_pages": "yes"} if whole_pages else {}))
        return await _awaited(reading, lambda: reading.made(Figures))


async def annotate_copy(path: Path, copy: Path, highlights: Highlights, bounds: PaperSettings) -> Highlights:
    """Write a copy of a PDF with highlights and notes; a child process does it. Those that were made come back.

    Raises:
        PaperParseError: As ``load_as_set``, or the file takes no annotations.
        OSError: The copy's folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".referee-", dir=copy.parent) as folder:
        marks, part = Path(folder) / "marks.json", Path(folder) / "copy.pdf"
        marks.write_text(highlights.model_dump_json(), encoding="utf-8")
        reading = _Reading(path, bounds, marks=str(marks.absolute()), copy=str(part.absolute()))
        made = await _awaited(reading, lambda: reading.made(Highlights))
        part.replace(copy)
    return made


async def _awaited(reading: _Reading, make: Callable[[], Made]) -> Made:
    """What a child was asked to make; when this is cancelled, the child ends at once."""
    try:
        return await asyncio.to_thread(make)
    except asyncio.CancelledError:
        reading.child.stop()
        raise


class _Reading:
    """One file on its way through a child, or read here where it needs none."""

    def __init__(self, path: Path, bounds: PaperSettings, **asked: str) -> None:
        self.path = path
        self.bounds = bounds
        request = {**bounds.model_dump(), "path": str(path.absolute()), **asked}
        self.child = Child(request, bounds.max_seconds)

    def run(self) -> Paper:
        size, head = checked_head(self.path, self.bounds.max_bytes)
        if not self.bounds.isolated or (size <= _MOST_PLAIN_BYTES and is_plain_text(self.path, head)):
            return load_paper(self.path, max_pages=self.bounds.max_pages, max_bytes=self.bounds.max_bytes)
        return self.made(Paper)

    def made(self, kind: type[Made]) -> Made:
        """What the child was asked for; its reply is checked like any data from outside."""
        return self._understood(self._attended(), kind)

    def _attended(self) -> bytes:
        """What the child gave back; raises where it did not end well, or refused."""
        if find_spec("resource") is None:
            raise self._not_started("this system knows no limits for processes")
        try:
            ending = self.child.run()
        except OSError as error:
            raise self._not_started(f"no process can be started for it: {error.strerror or error}") from error
        if ending.errors:
            _LOG.debug("the reader of %r ended with %d: %s", self.path.name, ending.code, ending.errors)
        if ending.code or ending.timed_out or ending.too_long:
            raise self._failure(ending)
        if ending.reply[:1] == REFUSED:
            raise self._refusal(ending.reply[1:])
        return ending.reply

    def _understood(self, reply: bytes, kind: type[Made]) -> Made:
        try:
            return kind.model_validate_json(reply[1:] if reply[:1] == PAPER else b"")
        except ValidationError as error:
            raise self._no_reply() from error

    def _refusal(self, body: bytes) -> PaperParseError:
        """The child's own refusal."""
        try:
            told = json.loads(body)
            if _says_out_of_memory(told["message"]):
                return self._out_of_memory()
            return PaperParseError(told["message"], hint=told["hint"], ids=told["ids"])
        except (ValueError, KeyError, TypeError):
            return self._no_reply()

    def _no_reply(self) -> PaperParseError:
        """What is said where the child gave something else back than it was asked for."""
        return self._refuse("reply", "was read, but what the converter gave back is no paper", f"{_OTHER_FORMAT}.")

    def _failure(self, ending: Ending) -> PaperParseError:
        seconds, memory = f"{self.bounds.max_seconds:g} s", f"{self.bounds.max_memory_mb:,} MiB"
        if ending.timed_out or -ending.code in _STOPPED_BY_TIME:
            hint = f"{_OTHER_FORMAT}; for a very long paper set paper.max_seconds (REFEREE_PAPER__MAX_SECONDS)."
            return self._refuse("time", f"could not be read: the converter was stopped after {seconds}", hint)
        if ending.too_long:
            most = f"{_REPLY_BYTES / 2**20:g} MiB"
            return self._refuse("reply", f"holds more than {most} of text", "Give the paper without its attachments.")
        if _says_out_of_memory(ending.errors):
            return self._out_of_memory()
        if ending.code < 0:
            also = f", as it also does when it needs more than {memory}" if -ending.code in _GAVE_UP else ""
            what = f"could not be read: the converter crashed (signal {-ending.code}){also}"
            return self._refuse("crashed", what, _MEMORY_HINT if also else f"{_OTHER_FORMAT}.")
        last = ending.errors.strip().rpartition("\n")[2][:_SHOWN] or f"exit code {ending.code}"
        hint = f"This is a fault of the reader: please report it. {_OTHER_FORMAT}."
        return self._refuse("fault", f"could not be read: the reader failed with {last!r}", hint)

    def _out_of_memory(self) -> PaperParseError:
        what = f"could not be read: the converter used more than {self.bounds.max_memory_mb:,} MiB"
        return self._refuse("memory", what, _MEMORY_HINT)

    def _not_started(self, cause: str) -> PaperParseError:
        hint = "Free some memory or disk space, or set paper.isolated = false for a file you trust."
        return self._refuse("fault", f"cannot be read in a process of its own: {cause}", hint)

    def _refuse(self, kind: str, what: str, hint: str) -> PaperParseError:
        return PaperParseError(f"{self.path.name!r} {what}.", hint=hint, ids={"converter": kind})


def _says_out_of_memory(text: str) -> bool:
    return any(sign in text for sign in _OUT_OF_MEMORY)
