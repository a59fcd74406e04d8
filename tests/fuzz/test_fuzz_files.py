"""Damaged PDFs, Word files and archives, each read in a process of its own: a paper or a refusal, within limits."""

from __future__ import annotations

import gzip
import io
import re
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.isolated import load_as_set
from referee.settings import PaperSettings

from .fuzz_budget import FACTOR

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LIMITS = PaperSettings(max_seconds=60, max_memory_mb=1024)
TEX = (
    "\\documentclass{article}\n\\title{A Small Paper}\n\\begin{document}\n\\maketitle\n\\input{method}\n"
    "\\section{Results}\nWe find $x^2$ in Table~\\ref{t}.\\footnote{So.}\n\\begin{table}\\caption{All.}\\label{t}\n"
    "\\begin{tabular}{cc} a & 1 \\\\ b & 2 \\end{tabular}\\end{table}\n\\bibliography{a}\n\\end{document}\n"
)
FILES = {
    "main.tex": TEX.encode(),
    "method.tex": b"\\section{Method}\nWe count words in papers and find few.\n" * 20,
    "a.bib": b"@article{a, title={T}, author={A. B.}, year=2020}\n",
}
# What pdfium writes into each copy that it saves: an id of its own, and the time.
MADE_ANEW = re.compile(rb"(?<=/ID\[)<[0-9A-F]+><[0-9A-F]+>|(?<=/CreationDate\()D:[0-9]+")


@pytest.fixture(scope="module")
def mutations() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield import_module("fuzz_mutations")
    finally:
        sys.path.remove(str(BENCHMARKS))
        sys.modules.pop("fuzz_mutations", None)


def archives() -> dict[str, bytes]:
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in FILES.items():
            archive.writestr(undated(name, zipfile.ZIP_DEFLATED), data)
    return {"a.tar": tar.getvalue(), "a.tar.gz": gzip.compress(tar.getvalue(), mtime=0), "a.zip": packed.getvalue()}


def undated(name: str, packing: int) -> zipfile.ZipInfo:
    """A member without the time it was made, so that damage falls on the same bytes on every day."""
    member = zipfile.ZipInfo(name)
    member.compress_type = packing
    return member


def excerpt(path: Path, first: int, pages: int) -> bytes:
    """Some pages of a PDF, so that a test reads many damaged ones in little time."""
    import pypdfium2

    source, made, buffer = pypdfium2.PdfDocument(path), pypdfium2.PdfDocument.new(), io.BytesIO()
    try:
        made.import_pages(source, list(range(first, first + pages)))
        made.save(buffer)
    finally:
        made.close()
        source.close()
    return MADE_ANEW.sub(lambda found: re.sub(rb"[0-9A-F]", b"0", found[0]), buffer.getvalue())


def try_all(folder: Path, name: str, seed: bytes, mutations: ModuleType, number: int) -> None:
    ends = []
    for at in range(number * FACTOR):
        data, what = mutations.mutated(seed, Random(f"{name} {at}"))
        path = folder / f"{at}-{what}-{name}"
        path.write_bytes(data)
        ends.append((path, end_of(path)))
    # A crash of a converter is a refusal as well; a fault of our own reader is none.
    assert [(path, end) for path, end in ends if end.startswith(("fault", "reply"))] == []


def end_of(path: Path) -> str:
    try:
        return load_as_set(path, LIMITS).format
    except PaperParseError as error:
        return f"{error.ids.get('converter', 'refused')}: {error.message}"


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.zip"])
def test_damaged_archives(tmp_path: Path, mutations: ModuleType, name: str) -> None:
    try_all(tmp_path, name, archives()[name], mutations, 3)


def test_damaged_word_files(tmp_path: Path, mutations: ModuleType, examples: Path) -> None:
    try_all(tmp_path, "paper.docx", (examples / "paper.docx").read_bytes(), mutations, 3)


def test_damaged_pdf(tmp_path: Path, mutations: ModuleType, examples: Path) -> None:
    try_all(tmp_path, "paper.pdf", (examples / "paper.pdf").read_bytes(), mutations, 3)


@pytest.mark.shared_data
def test_damaged_shared_pdfs(tmp_path: Path, mutations: ModuleType, shared_data: Path) -> None:
    for path in sorted((shared_data / "pdfs").glob("*.pdf")):
        try_all(tmp_path, path.name, excerpt(path, 0, 2), mutations, 1)


def test_what_is_damaged_is_the_same_on_every_day(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    before = archives(), lzma_zip(), excerpt(examples / "paper.pdf", 0, 1)
    later = time.localtime(now + 86_400)
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    monkeypatch.setattr(time, "localtime", lambda seconds=None: later)
    assert (archives(), lzma_zip(), excerpt(examples / "paper.pdf", 0, 1)) == before


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.zip"])
def test_the_undamaged_archives_are_papers(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(archives()[name])
    paper = load_as_set(tmp_path / name, LIMITS)
    assert [section.heading for section in paper.content][-1] == "Results"


def lzma_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(undated("main.tex", zipfile.ZIP_LZMA), TEX * 20)
    data = bytearray(buffer.getvalue())
    data[60:90] = b"\xff" * 30
    return bytes(data)


def zip_without_its_middle() -> bytes:
    data = archives()["a.zip"]
    at = data.index(b"PK\x01\x02")
    return data[:40] + data[at:]


@pytest.mark.parametrize("name", ["a.zip", "a.docx"])
@pytest.mark.parametrize("make", [lzma_zip, zip_without_its_middle])
def test_archives_that_once_were_a_fault_are_refused(tmp_path: Path, name: str, make: Callable[[], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(make())
    with pytest.raises(PaperParseError):
        load_paper(path)


def test_mutations_are_the_same_on_every_run_and_change_something(mutations: ModuleType, examples: Path) -> None:
    data = (examples / "paper.docx").read_bytes()
    made = [mutations.mutated(data, Random(at)) for at in range(40)]
    assert made == [mutations.mutated(data, Random(at)) for at in range(40)]
    assert sum(changed != data for changed, _ in made) > 35
    assert {what for _, what in made} == set(mutations.MUTATIONS)


def test_every_mutation_takes_short_files(mutations: ModuleType) -> None:
    mutation: Callable[[bytes, Random], bytes]
    for mutation in mutations.MUTATIONS.values():
        for data in (b"", b"x", b"PK\x03\x04", b"\x1f\x8b\x08", b"%PDF-1.4 stream\nx\nendstream"):
            for at in range(20):
                mutation(data, Random(at))
