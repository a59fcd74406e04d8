"""Word files that cannot become a paper: each gets its own cause and next step."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from referee.errors import PaperParseError
from referee.papers.docx import load_docx

from .conftest import Read, to_bytes, with_part

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600


def refusal(data: bytes) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        load_docx(Path("paper.docx"), data)
    assert caught.value.hint
    return caught.value


def archive(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (OLE, "an old Microsoft Office file"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted with a password"),
        (b"PK\x03\x04" + b"junk" * 50, "cannot be read: File is not a zip file"),
        (archive(a=b"x"), "no Word document"),
    ],
)
def test_other_files(data: bytes, cause: str) -> None:
    error = refusal(data)
    assert "'paper.docx'" in error.message
    assert cause in error.message


def test_a_bomb_is_refused_before_it_is_unpacked(paper_docx: Any) -> None:
    data = with_part(to_bytes(paper_docx), "word/media/zeros.bin", b"\x00" * (40 * 2**20))
    assert "times its packed size" in refusal(data).message


def test_one_huge_part(paper_docx: Any) -> None:
    data = with_part(to_bytes(paper_docx), "word/extra.xml", b"<a>" + b" " * (65 * 2**20) + b"</a>")
    assert "'word/extra.xml'" in refusal(data).message


def test_too_many_files(paper_docx: Any) -> None:
    stream = io.BytesIO(to_bytes(paper_docx))
    with zipfile.ZipFile(stream, "a") as target:
        for index in range(4100):
            target.writestr(f"word/media/{index}", b"")
    assert "beyond the limit of 4000 files" in refusal(stream.getvalue()).message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_and_never_expanded(paper_docx: Any, encoding: str) -> None:
    lines = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    source = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY a0 "lol">{lines}]><a>&a9;</a>'
    data = with_part(to_bytes(paper_docx), "word/document.xml", source.encode(encoding))
    assert "declares a document type" in refusal(data).message


@pytest.mark.parametrize("name", ["word/document.xml", "word/styles.xml", "[Content_Types].xml", "_rels/.rels"])
@pytest.mark.parametrize("content", [b"", b"<a", b"<a/>", b"\x00\x01"])
def test_broken_parts(paper_docx: Any, name: str, content: bytes) -> None:
    data = with_part(to_bytes(paper_docx), name, content)
    assert "paper.docx" in refusal(data).message


def test_damaged_bytes_end_in_a_paper_or_a_refusal(paper_docx: Any) -> None:
    data, chance, hints = to_bytes(paper_docx), random.Random(7), []
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 12)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            load_docx(Path("paper.docx"), bytes(broken[: chance.randrange(len(data) // 2, len(data) + 1)]))
        except PaperParseError as error:
            hints.append(error.hint)
    assert all(hints)


def test_a_cut_file(paper_docx: Any) -> None:
    assert "cannot be read: File is not a zip file" in refusal(to_bytes(paper_docx)[:-900]).message


def test_the_strict_variant_is_named(paper_docx: Any) -> None:
    data = to_bytes(paper_docx)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        relations = source.read("_rels/.rels")
    strict = relations.replace(
        b"http://schemas.openxmlformats.org/officeDocument/2006", b"http://purl.oclc.org/ooxml/officeDocument"
    )
    assert "Strict" in refusal(with_part(data, "_rels/.rels", strict)).message


def test_a_workbook_is_no_word_document(paper_docx: Any) -> None:
    data = to_bytes(paper_docx)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        types = source.read("[Content_Types].xml")
    other = types.replace(b"wordprocessingml.document.main", b"spreadsheetml.sheet.main")
    assert "cannot be read as a Word document" in refusal(with_part(data, "[Content_Types].xml", other)).message


def test_an_empty_document_and_one_with_hidden_text_only() -> None:
    assert "holds no text" in refusal(to_bytes(docx.Document())).message
    document = docx.Document()
    document.add_paragraph().add_run("nothing to see").font.hidden = True
    assert "hidden from its reader" in refusal(to_bytes(document)).message


def test_deep_nesting_ends_in_a_refusal(paper_docx: Any, read: Read) -> None:
    data = to_bytes(paper_docx)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        document = source.read("word/document.xml")
    deep = document.replace(
        b"</w:body>", b"<w:sdt><w:sdtContent>" * 600 + b"</w:sdtContent></w:sdt>" * 600 + b"</w:body>"
    )
    assert refusal(with_part(data, "word/document.xml", deep)).message
