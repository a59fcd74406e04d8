"""A Word file's archive: checked for what it would unpack to, then opened with python-docx."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
from docx.document import Document
from docx.exceptions import PythonDocxError
from docx.opc.exceptions import PackageNotFoundError
from lxml.etree import XMLSyntaxError

from referee.errors import PaperParseError
from referee.papers.archive import ArchiveLimits, unpack
from referee.papers.docx.styles import local
from referee.schemas.foreign import Unreadable, xml_root

_LIMITS = ArchiveLimits(total_bytes=400 * 2**20, count=4000, ratio=500.0)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARTS = ("[Content_Types].xml", "_rels/.rels")
_DOCTYPE = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_STRICT = b"http://purl.oclc.org/ooxml/officeDocument"
_AGAIN = "Open it in Word or LibreOffice and save it again as .docx."


def open_docx(name: str, data: bytes) -> Document:
    """Check the archive and open the document.

    At most 4,000 files are unpacked, 400 MiB in all, 64 MiB for one file, and not more than 500 times its packed size.

    Raises:
        PaperParseError: It is encrypted, an old .doc, no archive, over a limit, broken, in the Strict variant, of
            another kind (a workbook), or one of its parts declares a document type.
    """
    _refuse_other_kinds(name, data)
    try:
        files = unpack(Path(name), data, _LIMITS)
    except PaperParseError as error:
        raise PaperParseError(error.message, hint=_AGAIN) from error
    _check_parts(name, files)
    return _open(name, data)


def _refuse_other_kinds(name: str, data: bytes) -> None:
    if data.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise PaperParseError(f"{name!r} is encrypted with a password.", hint="Save it without a password.")
        raise PaperParseError(
            f"{name!r} is an old Microsoft Office file (.doc), not a .docx.", hint="Save it as .docx or PDF."
        )


def _check_parts(name: str, files: Mapping[str, bytes]) -> None:
    if not all(part in files for part in _PARTS):
        raise PaperParseError(f"{name!r} is an archive, but no Word document.", hint="Save the paper as .docx or PDF.")
    for part, content in sorted(files.items()):
        if not part.lower().endswith((".xml", ".rels")):
            continue
        if _DOCTYPE.search(content) or _DOCTYPE.search(content.replace(b"\x00", b"")):
            raise PaperParseError(
                f"{name!r} declares a document type in its part {part!r}; no word processor writes that.", hint=_AGAIN
            )
        if part == _PARTS[1] and _STRICT in content:
            raise PaperParseError(
                f"{name!r} is saved in the Strict variant of Open XML.",
                hint="Save it as 'Word Document (.docx)', not as 'Strict Open XML Document'.",
            )


def _open(name: str, data: bytes) -> Document:
    package = io.BytesIO(data)
    broken = (PythonDocxError, PackageNotFoundError, XMLSyntaxError, zipfile.BadZipFile, zlib.error)
    try:
        document = docx.Document(package)
        if document.element.body is None:
            raise PaperParseError(f"{name!r} has no body.", hint=_AGAIN)
    except (*broken, KeyError, ValueError, AttributeError, TypeError) as error:
        cause = str(error).replace(f"file '{package}' ", "it ")  # python-docx names the buffer
        raise PaperParseError(f"{name!r} cannot be read as a Word document: {cause}", hint=_AGAIN) from error
    return document


def part_root(document: Document, name: str, kind: str) -> Any | None:
    """The root element of a part beside the document ('styles', 'numbering', 'footnotes', 'endnotes'), or null.

    Raises:
        PaperParseError: The part is broken or holds something else.
    """
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{kind}"):
            continue
        part = relation.target_part
        found = getattr(part, "element", None)
        if found is None:
            try:
                found = xml_root(part.blob, f"The {kind} of {name!r}")
            except Unreadable as error:
                raise PaperParseError(error.message, hint=_AGAIN) from error
        if local(found.tag) != kind:
            raise PaperParseError(f"The {kind} of {name!r} hold something else ({found.tag!r}).", hint=_AGAIN)
        return found
    return None
