"""One file or LaTeX folder to one ``Paper``: what a file is, its bytes decide first and its name second."""

from __future__ import annotations

import hashlib
import re
import stat
from pathlib import Path
from typing import Literal

from referee.errors import PaperParseError
from referee.papers.assembly import assemble
from referee.papers.hidden import checked, scan_text
from referee.papers.sniff import Kind, describe_bytes, is_broken_docx, kind_of
from referee.papers.text import read_markdown, read_plaintext
from referee.schemas.paper import Converter, Paper

TextFormat = Literal["markdown", "text"]
_TEXT_SUFFIXES: dict[str, TextFormat] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".txt": "text",
}
_MARKUP_SUFFIXES: dict[str, Kind] = {".tex": "latex", ".html": "html", ".htm": "html"}
_PACKED_SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip", ".gz", ".docx")
SUPPORTED = (".pdf", *_TEXT_SUFFIXES, *_MARKUP_SUFFIXES, *_PACKED_SUFFIXES)
_READER_VERSION = "1"
_ATX_LINE = re.compile(r"^#{1,6} \S", re.MULTILINE)
_AUTHOR_KEY = re.compile(r"^authors?[ \t]*:", re.MULTILINE | re.IGNORECASE)
_MARKDOWN_HEADINGS = 3
_HEAD_BYTES = 2**16


def load_paper(path: str | Path, *, max_pages: int = 400, max_bytes: int = 100 * 2**20) -> Paper:
    """Read a paper from a PDF, LaTeX, Word, HTML, Markdown or text file, or a LaTeX submission, packed or a folder.

    The bytes decide: a file that begins like a PDF is read as one, whatever its suffix, a ZIP archive with
    ``word/document.xml`` as a Word document, and a text file with three or more ``#`` headings as Markdown. Only
    where they say no more than "text" does the suffix count. A folder is a LaTeX project with one main file.
    ``format`` and ``converter`` say which reader it was; when a reader fails, there is no second one behind it.

    Args:
        path: The file, or a folder with LaTeX sources.
        max_pages: Pages a PDF may have; counted before it is converted.
        max_bytes: Size the file, or the LaTeX files of a folder, may have.

    Returns:
        The paper; what is missing or was mended stands in ``findings`` and ``repairs``.

    Raises:
        PaperParseError: The file is missing, empty, too large, of another kind than its name says, or
            cannot be read; the hint names the next step.
    """
    path = Path(path)
    if path.is_dir():
        from referee.papers.latex import load_latex

        return checked(load_latex(path, b"", max_bytes=max_bytes))
    return checked(_loaded(path, _read(path, max_bytes)[1], max_pages))


def _loaded(path: Path, data: bytes, max_pages: int) -> Paper:
    match _reader_for(path, data):
        case "pdf":
            from referee.papers.pdf import load_pdf

            return load_pdf(path, data, max_pages=max_pages)
        case "latex" | "archive":
            from referee.papers.latex import load_latex

            return load_latex(path, data)
        case "docx":
            from referee.papers.docx import load_docx

            return load_docx(path, data)
        case "html":
            from referee.papers.html import load_html

            return load_html(path, data)
        case "text":
            return _load_text(path, data, _TEXT_SUFFIXES[path.suffix.lower()])


def _reader_for(path: Path, data: bytes) -> Kind:
    """The bytes' own kind; for text that says no more, the name's.

    A file named .pdf is never read as anything else: it is nearly always a download that brought a login or error page.

    Raises:
        PaperParseError: No reader is for this file, or its name and its bytes contradict each other.
    """
    kind, suffix = kind_of(data), path.suffix.lower()
    if kind == "text":
        if suffix in _TEXT_SUFFIXES:
            return "text"
        if suffix in _MARKUP_SUFFIXES:
            return _MARKUP_SUFFIXES[suffix]
    elif kind == "pdf" or (kind is not None and suffix != ".pdf"):
        return kind
    if suffix == ".docx" and is_broken_docx(data):
        return "docx"
    looks, supported = describe_bytes(data), f"Supported are {', '.join(SUPPORTED)}."
    text = suffix in (*_TEXT_SUFFIXES, *_MARKUP_SUFFIXES)
    named = "a PDF" if suffix == ".pdf" else "text" if text else f"a {suffix} file"
    cause = f"is named like {named}, but its bytes look like {looks}"
    if suffix not in SUPPORTED:
        cause = f"is of no supported kind: its suffix is {suffix!r} and its bytes look like {looks}"
    advice = f"Give the paper itself. {supported}" if suffix in SUPPORTED else supported
    hint = "Export the paper as PDF, or rename it to what it is." if suffix == ".pdf" else advice
    raise PaperParseError(f"{path.name!r} {cause}.", hint=hint)


def checked_head(path: Path, max_bytes: int) -> tuple[int, bytes]:
    """The size and the first 64 KiB of a file that may be read; nothing of a folder, which is read as a whole.

    Raises:
        PaperParseError: It is missing, empty, too large, or cannot be opened.
    """
    if path.is_dir():
        return 0, b""
    return _read(path, max_bytes, _HEAD_BYTES)


def is_plain_text(path: Path, head: bytes) -> bool:
    """Whether ``load_paper`` reads a file that begins so as Markdown or plain text, which no converter touches."""
    return (
        path.suffix.lower() in _TEXT_SUFFIXES and head != b"" and not head.startswith(b"PK") and kind_of(head) == "text"
    )


def _read(path: Path, max_bytes: int, most: int = -1) -> tuple[int, bytes]:
    """The size of a file that may be read, and its first ``most`` bytes; -1 for all of them."""
    try:
        size = _checked_size(path, max_bytes)
        with path.open("rb") as stream:
            data = stream.read(most)
    except OSError as error:
        raise PaperParseError(
            f"{str(path)!r} cannot be read: {error.strerror}.", hint="Check the path and its rights."
        ) from error
    if not data:
        raise PaperParseError(f"{path.name!r} is empty (0 bytes).", hint="Download or export it again.")
    return size, data


def _checked_size(path: Path, max_bytes: int) -> int:
    if not path.exists():
        raise PaperParseError(f"There is no file {str(path)!r}.", hint="Check the path.")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise PaperParseError(
            f"{path.name!r} is a named pipe, a socket or a device, and not a file.",
            hint="Write the paper to a file first; reading from a pipe or a device may never end.",
        )
    if status.st_size > max_bytes:
        raise PaperParseError(
            f"{path.name!r} has {status.st_size / 2**20:.0f} MiB; at most {max_bytes / 2**20:.0f} MiB are read.",
            hint="Give the paper without its attachments, or set paper.max_bytes (REFEREE_PAPER__MAX_BYTES).",
        )
    return status.st_size


def _load_text(path: Path, data: bytes, text_format: TextFormat) -> Paper:
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PaperParseError(
            f"{path.name!r} is not UTF-8: byte {data[error.start]:#04x} at offset {error.start} does not fit.",
            hint="Save it as UTF-8; another encoding is not guessed, because a wrong guess changes letters silently.",
        ) from error
    if not source.strip():
        raise PaperParseError(f"{path.name!r} holds nothing but blanks.", hint="Give the paper's text.")
    if text_format == "text" and len(_ATX_LINE.findall(source)) >= _MARKDOWN_HEADINGS:
        text_format = "markdown"
    shown, unseen = scan_text(source, markdown=text_format == "markdown")
    title, pieces = read_markdown(shown) if text_format == "markdown" else read_plaintext(shown)
    named = [piece for piece in pieces if piece.label == "front matter" and _AUTHOR_KEY.search(piece.text)]
    assembled = assemble([piece for piece in pieces if piece not in named], front_first=False, front=named)
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=title,
        abstract=assembled.abstract,
        format=text_format,
        sections=assembled.sections,
        references=assembled.references,
        findings=(*assembled.findings, *unseen),
        repairs=assembled.repairs,
        converter=Converter(name=f"referee-{text_format}", version=_READER_VERSION),
    )
