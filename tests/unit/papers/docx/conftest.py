"""Word documents made by test code: a paper with every kind of piece, and raw XML where python-docx has no call."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from referee.papers.docx import load_docx
from referee.schemas.paper import Paper

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
Read = Callable[[Any], Paper]


def xml(source: str) -> Any:
    """One element with the prefixes ``w`` and ``m``; ``source`` names them in its first tag by ``{ns}``."""
    return parse_xml(source.replace("{ns}", f"{nsdecls('w')} {MATH}", 1))


def to_bytes(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def with_part(data: bytes, name: str, content: str | bytes, *, kind: str = "") -> bytes:
    """The archive with a part added or replaced; ``kind`` relates it to the document ('footnotes')."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.namelist():
            part = old.read(item)
            if item == name:
                continue
            if kind and item == "word/_rels/document.xml.rels":
                space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
                relation = (
                    f'<Relationship Id="rIdX{kind}" Type="{space}/{kind}" Target="{name.removeprefix("word/")}"/>'
                )
                part = part.replace(b"</Relationships>", relation.encode() + b"</Relationships>")
            new.writestr(item, part)
        new.writestr(name, content)
    return target.getvalue()


@pytest.fixture
def read() -> Read:
    """Read a python-docx document, or the bytes of one."""

    def reader(document: Any) -> Paper:
        data = document if isinstance(document, bytes) else to_bytes(document)
        return load_docx(Path("paper.docx"), data)

    return reader


@pytest.fixture
def paper_docx() -> Any:
    """Title, authors, abstract, two numbered sections and an empty default template."""
    document = docx.Document()
    document.core_properties.comments = ""
    document.add_paragraph("A Paper About Counting", style="Title")
    document.add_paragraph("Ada Author, Institute of Tests")
    document.add_heading("Abstract", 1)
    document.add_paragraph("We count things.")
    document.add_heading("1 Introduction", 1)
    document.add_paragraph("Counting is old.")
    return document
