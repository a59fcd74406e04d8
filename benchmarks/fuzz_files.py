"""Read damaged papers for some minutes and count how each ends: a paper, a refusal, a crash, a stop, or our fault.

    python benchmarks/fuzz_files.py --minutes 8 [--seed 0] [--keep FOLDER] [--data ../shared/data/pdfs]

Seeds are the example paper as PDF and Word file, excerpts of the shared PDFs where they are, and archives of the
example paper's source. Each damaged file is read under the limits of production. The reading process is forked from one
that has imported the readers, which saves the half second that a fresh one takes; one file in twenty goes through a
fresh one.
What crashed, was stopped or found a fault is kept in the folder, by its digest.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import random
import select
import signal
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from fuzz_mutations import mutated

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.child import enter
from referee.papers.isolated import load_as_set
from referee.settings import PaperSettings

ROOT = Path(__file__).parents[1]
LIMITS = PaperSettings(max_seconds=60)
FRESH_EVERY = 20
ENDS = ("paper", "refused", "crashed", "time", "memory", "fault")
KEPT = ("crashed", "time", "memory", "fault")


def main() -> int:
    """Try files until the time is over; 1 where a reader of ours had a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "pdfs")
    given = parser.parse_args()
    seeds = dict(seed_files(given.data))
    warm(seeds)
    counts = run(seeds, given.minutes * 60, given.seed, given.keep)
    print(table(counts))
    return 1 if any(end == "fault" for _, end in counts) else 0


def run(seeds: dict[str, bytes], seconds: float, seed: int, keep: Path) -> Counter[tuple[str, str]]:
    """Counts by seed's suffix and end."""
    counts: Counter[tuple[str, str]] = Counter()
    deadline = time.monotonic() + seconds
    names = list(seeds)
    with tempfile.TemporaryDirectory(prefix="referee-fuzz-") as folder:
        at = 0
        while time.monotonic() < deadline:
            name = names[at % len(names)]
            data, what = mutated(seeds[name], random.Random(f"{seed} {at}"))
            path = Path(folder) / name
            path.write_bytes(data)
            end, said = read_fresh(path) if at % FRESH_EVERY == 0 else read_forked(path)
            counts["".join(path.suffixes[-2:]) if ".tar" in name else path.suffix, end] += 1
            if end in KEPT:
                keep_file(keep, name, data, f"{end} {at} {what}: {said}")
            at += 1
    return counts


def read_fresh(path: Path) -> tuple[str, str]:
    """As production reads it."""
    try:
        load_as_set(path, LIMITS)
    except PaperParseError as error:
        return error.ids.get("converter", "refused").replace("reply", "fault"), error.message
    return "paper", ""


def read_forked(path: Path) -> tuple[str, str]:
    """The same readers under the same limits in a fork of this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os._exit(child(path, writing))
    os.close(writing)
    told, late = listened(reading, time.monotonic() + LIMITS.max_seconds)
    os.close(reading)
    if late:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if late or -code in (signal.SIGXCPU, signal.SIGALRM):
        return "time", ""
    if code < 0:
        return "crashed", f"signal {-code}"
    end, _, said = told.partition(" ")
    return (end, said) if end in ENDS else ("fault", f"exit code {code}")


def child(path: Path, writing: int) -> int:
    """Read one file and say how it ended."""
    enter(LIMITS.max_seconds, LIMITS.max_memory_mb)
    try:
        load_paper(path).model_dump_json().encode()
        told = "paper"
    except PaperParseError as error:
        told = f"refused {error.message}"
    except MemoryError:
        told = "memory"
    except BaseException:  # what else a reader raises is what is looked for
        told = f"fault {traceback.format_exc()}"
    os.write(writing, told.encode("utf-8", "backslashreplace")[:60_000])
    return 0


def listened(reading: int, deadline: float) -> tuple[str, bool]:
    """What came through the pipe until its end, and whether the deadline came first."""
    heard = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            continue
        data = os.read(reading, 65536)
        if not data:
            return heard.decode(), False
        heard += data
    return heard.decode(errors="replace"), True


def keep_file(folder: Path, name: str, data: bytes, said: str) -> None:
    """Keep what ended badly, to be read again."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = hashlib.sha256(data).hexdigest()[:16]
    (folder / f"{stem}-{name}").write_bytes(data)
    (folder / f"{stem}.txt").write_text(said + "\n", encoding="utf-8", errors="backslashreplace")


def seed_files(data: Path) -> Iterator[tuple[str, bytes]]:
    """Undamaged files by name, smallest kinds first."""
    folder = ROOT / "examples" / "paper"
    source = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.tex"))}
    yield "source.tar.gz", gzip.compress(tarred(source), 1)
    yield "source.tar", tarred(source)
    yield "source.zip", zipped(source)
    yield "paper.docx", (ROOT / "examples" / "paper.docx").read_bytes()
    yield "paper.pdf", (ROOT / "examples" / "paper.pdf").read_bytes()
    for path in sorted(data.glob("*.pdf")):
        for first in (0, 3):
            yield f"{path.stem}-{first}.pdf", excerpt(path, first)


def tarred(files: dict[str, bytes]) -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def excerpt(path: Path, first: int) -> bytes:
    """Two pages of a PDF."""
    document, made, buffer = pypdfium2.PdfDocument(path), pypdfium2.PdfDocument.new(), io.BytesIO()
    made.import_pages(document, [first, first + 1])
    made.save(buffer)
    made.close()
    document.close()
    return buffer.getvalue()


def warm(seeds: dict[str, bytes]) -> None:
    """Import what the readers import, without any thread of theirs: only the Word and LaTeX readers are run here."""
    import rustypaper  # noqa: F401

    import referee.papers.pdf.load  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        for name in ("source.zip", "paper.docx"):
            path = Path(folder) / name
            path.write_bytes(seeds[name])
            load_paper(path)


def table(counts: Counter[tuple[str, str]]) -> str:
    """Rows by kind of file, columns by end."""
    kinds = sorted({kind for kind, _ in counts})
    rows = [["file", "tried", *ENDS]]
    for kind in [*kinds, "all"]:
        cells = [sum(n for (k, e), n in counts.items() if e == end and kind in (k, "all")) for end in ENDS]
        rows.append([kind, *(f"{n:,}" for n in (sum(cells), *cells))])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "| --- " * len(rows[0]) + "|", *lines[1:]])


if __name__ == "__main__":
    sys.exit(main())
