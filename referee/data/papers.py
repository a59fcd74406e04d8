"""The papers of a review set, by the ids the reviews name, each read when it is first asked for."""

from __future__ import annotations

import atexit
import hashlib
import json
import re
import tempfile
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path

from referee.data import keys
from referee.data.entries import PARQUET_SUFFIX, Entry, line_entry, opened
from referee.data.found import LINE_SUFFIXES, entries, holds_rows, kind_of_json, reading, refuse_no_data, rows_suffix
from referee.errors import DataError
from referee.papers.assembly import assemble
from referee.papers.load import SUPPORTED, load_paper
from referee.papers.pieces import Piece
from referee.papers.text import read_markdown
from referee.runs.lines import MOST_LINE_BYTES, JsonLines, lines_of, read_lines
from referee.schemas.paper import Converter, Paper

_CONVERTER = Converter(name="referee-rows", version="1")
_MARKDOWN = ("markdown", "full_text", "paper_text")


def row_ids(row: Mapping[str, object]) -> tuple[str, ...]:
    """All ids that a row gives its paper."""
    found = (keys.text_of(row.get(name)).strip() for name in (*keys.PAPER, "id"))
    return tuple(dict.fromkeys(name for name in found if name))


def has_full_text(row: Mapping[str, object]) -> bool:
    """Whether a row holds more of its paper than title and abstract."""
    return bool(_markdown(row)) or any(text for _, _, text in _sections(row))


def paper_of_row(row: Mapping[str, object], source: bytes) -> Paper:
    """The paper of a row: its Markdown where it has it, else its abstract, sections and references.

    Args:
        row: The row.
        source: The row's bytes; their digest is the ``paper_id``.

    Raises:
        DataError: The row holds no full text.
    """
    if not has_full_text(row):
        raise DataError(f"paper {row_ids(row)[:1]} has no full text.", hint="Its row needs sections or markdown.")
    markdown = _markdown(row)
    title, pieces = read_markdown(markdown) if markdown else ("", list(_pieces(row)))
    assembled = assemble(pieces, front_first=False)
    return Paper(
        paper_id=hashlib.sha256(source).hexdigest(),
        title=keys.text_of(keys.take(row, keys.TITLE)) or title,
        abstract=assembled.abstract or keys.text_of(row.get("abstract")).strip(),
        format="markdown" if markdown else "text",
        sections=assembled.sections,
        references=assembled.references,
        findings=assembled.findings,
        repairs=assembled.repairs,
        converter=_CONVERTER,
    )


def _markdown(row: Mapping[str, object]) -> str:
    found = keys.take(row, _MARKDOWN)
    return found if isinstance(found, str) and found.strip() else ""


def _pieces(row: Mapping[str, object]) -> Iterator[Piece]:
    abstract = keys.text_of(row.get("abstract")).strip()
    if abstract:
        yield Piece(kind="heading", text="Abstract")
        yield from _paragraphs(abstract)
    for heading, level, text in _sections(row):
        yield Piece(kind="heading", text=heading, level=level)
        yield from _paragraphs(text)
    entries = list(_references(row))
    if entries:
        yield Piece(kind="heading", text="References")
        yield from entries


def _paragraphs(text: str) -> Iterator[Piece]:
    return (Piece(kind="paragraph", text=part.strip()) for part in text.splitlines() if part.strip())


def _sections(row: Mapping[str, object]) -> Iterator[tuple[str, int, str]]:
    """Heading, level from 1 and text of each section that has at least one of the two."""
    sections = row.get("sections")
    for section in sections if isinstance(sections, list) else []:
        if not isinstance(section, dict):
            continue
        heading, text = keys.text_of(section.get("heading")).strip(), keys.text_of(section.get("text"))
        level = section.get("level")
        if heading or text.strip():
            yield heading or "Text", level if isinstance(level, int) and level >= 1 else 1, text


def _unread(row: Mapping[str, object]) -> Iterator[str]:
    """What of a row's sections and references is of a kind that holds no text, and so no part of the paper."""
    for name, kinds in (("sections", dict), ("references", str | dict)):
        held = row.get(name)
        if held is not None and not isinstance(held, list):
            yield f"{name} is {kind_of_json(held)}, no list, and is left out"
        elif count := sum(not isinstance(one, kinds) for one in held or ()):
            yield f"{count:,} of the {name} cannot be read and are left out of the paper"


def _references(row: Mapping[str, object]) -> Iterator[Piece]:
    references = row.get("references")
    for entry in references if isinstance(references, list) else []:
        if isinstance(entry, str):
            text = entry.strip()
        elif isinstance(entry, dict):
            parts = (keys.text_of(entry.get(name)).strip() for name in ("title", "source", "year"))
            text = ". ".join(part for part in parts if part)
        else:
            continue
        if text:
            yield Piece(kind="reference", text=text)


ROWS_FILE = "papers.jsonl"
_KEPT = 8
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
_BOM = b"\xef\xbb\xbf"


class PaperStore:
    """Papers by id. The last eight that were read are kept; threads may share a store.

    Attributes:
        problems: Rows of a list that cannot be used, or not as a whole, with file, line and reason.
        readers: For each id, what reads the paper.
    """

    def __init__(
        self,
        readers: Mapping[str, Callable[[], Paper]],
        *,
        problems: tuple[str, ...] = (),
        only: bool = False,
        files: Mapping[str, Path] | None = None,
    ) -> None:
        """Make a store.

        Args:
            readers: For each id, what reads the paper.
            problems: What could not be taken in.
            only: Whether the single paper is the paper of every review.
            files: Those that are also found by the digest of their bytes, by their ids.
        """
        self.problems = problems
        self.readers = readers
        self._only = only
        self._files = files or {}
        self._kept: OrderedDict[str, Paper] = OrderedDict()
        self._lock = threading.Lock()

    def ids(self) -> tuple[str, ...]:
        """The ids of all papers, in order; for a single file, the name it has."""
        return tuple(sorted(self.readers))

    def has(self, paper_id: str) -> bool:
        """Whether there is a paper of that id; it may still turn out that it cannot be read."""
        return self._only or self._key(paper_id) is not None

    def get(self, paper_id: str) -> Paper | None:
        """The paper of that id, or None where there is none.

        An id finds a file whose name is the id with each character but letters, digits, ``.``, ``_`` and ``-``
        replaced by ``_``.

        Raises:
            DataError: The paper is there and cannot be read.
        """
        key = next(iter(self.readers)) if self._only else self._key(paper_id)
        if key is None:
            return None
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self.readers[key]()
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _key(self, paper_id: str) -> str | None:
        found = next((name for name in (paper_id, file_name(paper_id)) if name in self.readers), None)
        return self._by_digest.get(paper_id) if found is None and _DIGEST.fullmatch(paper_id) else found

    @cached_property
    def _by_digest(self) -> dict[str, str]:
        return {_file_digest(file): stem for stem, file in self._files.items()}


def read_papers(path: Path) -> PaperStore:
    """The papers of a folder, of a list of rows with full texts, or one file that is the paper of every review.

    In a folder the files count that ``load_paper`` reads, named by paper id, and the rows of ``papers.jsonl``. A list
    is JSONL, also packed with gzip, or Parquet. The reviews of ``referee review`` name papers by the digest of the
    file: where ids are such digests, files are found by them too. Rows with nothing but title and abstract are left
    out and counted in ``problems``.

    Raises:
        DataError: The path is missing or holds no paper, or two files or rows are there for one id.
        MissingExtra: It is Parquet, and the package for it is not installed.
    """
    refuse_no_data(path)
    if not path.exists():
        raise DataError(
            f"there is no {str(path)!r}.",
            hint="Give a folder of papers, a list of rows (JSONL, Parquet), or one paper.",
        )
    if not path.is_dir() and not holds_rows(path):
        return PaperStore({paper_name(path): partial(load_paper, path)}, only=True)
    store = _folder(path) if path.is_dir() else rows_store(path)
    if not store.ids():
        raise DataError(
            f"{str(path)!r} holds no paper.",
            hint=f"Papers are files named by their id ({', '.join(SUPPORTED)}) or rows with sections or markdown.",
        )
    return store


def file_name(paper_id: str) -> str:
    """The name, without suffix, under which a folder holds the paper of that id."""
    return _NOT_IN_NAMES.sub("_", paper_id)


def paper_name(file: Path) -> str:
    """The file's name without a supported suffix; empty where it has none."""
    suffix = max((s for s in SUPPORTED if file.name.lower().endswith(s)), key=len, default="")
    return file.name[: -len(suffix)] if suffix else ""


def paper_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The papers among a folder's files with their names, in order; hidden files and README are none."""
    for file in sorted(folder.iterdir()):
        name = paper_name(file)
        if file.is_file() and name and not file.name.startswith(".") and name.lower() != "readme":
            yield name, file


def rows_store(file: Path) -> PaperStore:
    """The papers of a list of rows, which may be none. For each id its row's place is kept, and the row read again.

    Raises:
        DataError: Two rows are there for one id.
    """
    lines = file if file.suffix.lower() in LINE_SUFFIXES else _temporary()
    readers: dict[str, Callable[[], Paper]] = {}
    problems: list[str] = []
    empty: dict[str, list[int]] = defaultdict(list)
    for entry, offset in _placed(file, lines):
        number = entry.number
        if entry.error or not isinstance(entry.value, dict):
            problems.append(f"{file.name}, line {number}: {entry.error or 'the record is no object'}")
            continue
        ids = row_ids(entry.value)
        if not ids or not has_full_text(entry.value):
            empty["no id" if not ids else "no full text (sections or markdown)"].append(number)
            continue
        if not _markdown(entry.value):
            problems += (f"{file.name}, line {number}: {what}" for what in _unread(entry.value))
        taken = next((name for name in ids if name in readers), None)
        if taken is not None:
            raise DataError(
                f"{str(file)!r} has two rows for paper {taken!r}, the second in line {number}.", hint="Keep one."
            )
        readers |= dict.fromkeys(ids, partial(_row_paper, lines, offset))
    problems += (
        f"{file.name}: {len(lines):,} row(s) hold no paper, as they have {what}, the first in line {lines[0]}"
        for what, lines in empty.items()
    )
    return PaperStore(readers, problems=tuple(problems))


def _folder(folder: Path) -> PaperStore:
    files: dict[str, Path] = {}
    for stem, file in paper_files(folder):
        if stem in files:
            raise DataError(
                f"two files are there for paper {stem!r}: {files[stem].name!r} and {file.name!r}.", hint="Keep one."
            )
        files[stem] = file
    rows = rows_store(folder / ROWS_FILE) if (folder / ROWS_FILE).is_file() else PaperStore({})
    both = sorted(files.keys() & {name for key in rows.ids() for name in (key, file_name(key))})
    if both:
        raise DataError(f"paper {both[0]!r} is a file and a row of {ROWS_FILE!r} as well.", hint="Keep one.")
    readers = {stem: partial(load_paper, file) for stem, file in files.items()}
    return PaperStore({**readers, **rows.readers}, files=files, problems=rows.problems)


def _file_digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _temporary() -> Path:
    """A file for the rows of a packed list or of Parquet, which goes when the process ends.

    Papers are asked for in any order, and only in plain lines a row can be read without those before it.
    """
    with tempfile.NamedTemporaryFile("wb", suffix=".jsonl", delete=False) as stream:
        atexit.register(Path(stream.name).unlink, missing_ok=True)
    return Path(stream.name)


def _placed(file: Path, lines: Path) -> Iterator[tuple[Entry, int]]:
    """The rows of a list, each with its place among ``lines``, into which they are written where it is packed."""
    if file == lines:
        for line in lines_of(file, most=MOST_LINE_BYTES):
            yield line_entry(line), line.place
    elif rows_suffix(file) == PARQUET_SUFFIX:
        with JsonLines(lines) as unpacked:
            for entry in entries(file):
                row = json.dumps(entry.value, ensure_ascii=False).encode()
                yield entry, unpacked.append(row, flush=False)
    else:
        with reading(file), opened(file) as packed, JsonLines(lines) as unpacked:
            for line in read_lines(packed, MOST_LINE_BYTES):
                entry = line_entry(line)
                yield entry, 0 if entry.error else unpacked.append(line.text, flush=False)


def _row_paper(file: Path, offset: int) -> Paper:
    line = next(lines_of(file, most=MOST_LINE_BYTES, at=offset), None)
    entry = line_entry(line) if line is not None else Entry(0)
    if line is None or not isinstance(entry.value, dict):
        raise DataError(f"{str(file)!r} changed while it was read.", hint="Start again.")
    return paper_of_row(entry.value, line.text.removeprefix(_BOM).strip())
