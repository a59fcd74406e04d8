"""A row with a paper's sections or its Markdown as a ``Paper``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from referee.data import keys
from referee.errors import DataError
from referee.papers.assembly import assemble
from referee.papers.pieces import Piece
from referee.papers.text import read_markdown
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
