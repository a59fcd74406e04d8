"""Markdown papers: a small block parser that keeps every word of the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.bibliography import starts_entry
from referee.papers.headings import name_headings, role_by_name
from referee.papers.pieces import Piece, cells_text

# Closing marks are stripped from the text afterwards: a pattern for them takes quadratic time on a line of blanks.
_ATX = re.compile(r"^ {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*))?$")
_SETEXT = re.compile(r"^ {0,3}(?P<mark>=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>.*)$")
_LIST_ITEM = re.compile(r"^\s{0,6}(?:[-*+•]|\d{1,3}[.)])\s+\S")
_IMAGE = re.compile(r"^\s*!\[(?P<alt>[^\]]*)\]\((?P<target>[^)]*)\)(?:\{[^}]*\})?\s*$")
_TABLE_RULE = re.compile(r"^\s*+\|?+\s*+:?-++:?\s*+(?:\|\s*+:?-*+:?\s*+)*+$")
_BOLD = re.compile(r"^(?P<mark>\*\*|__)(?P<text>[^*_]+)(?P=mark)$")
_CAPTION = re.compile(r"^[*_]{0,2}(?P<label>(?:Table|Figure|Fig\.)\s*\d+[a-z]?)[*_]{0,2}\s*[:.|—–]", re.IGNORECASE)
_EQUATION_LABEL = re.compile(r"\\tag\{(?P<tag>[^}]*)\}")
_MOST_CELLS = 100_000
_TITLE_KEY = re.compile(r"^title\s*:\s*(?P<title>.*)$", re.IGNORECASE)


def read_markdown(source: str) -> tuple[str, list[Piece]]:
    """Read Markdown into a title and pieces.

    ATX and setext headings, fenced code, pipe tables, ``$$`` equations, images, lists and paragraphs; the title is the
    front matter's ``title`` or the first heading when it alone is at level 1, and then the levels below move up.
    Inline markup stays as it is written.
    """
    lines = source.splitlines()
    title, matter, start = _front_matter(lines)
    pieces = ([Piece(kind="code", text=matter, label="front matter")] if matter else []) + _blocks(lines[start:])
    title, pieces = _take_title(title, pieces)
    return title, split_entries(_number(pieces))


def _front_matter(lines: Sequence[str]) -> tuple[str, str, int]:
    """Title, the block's lines, and where the text starts; nothing is taken unless the block is closed."""
    if not lines or lines[0].strip() != "---":
        return "", "", 0
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.strip() in ("---", "...")), None)
    if end is None or not any(":" in line for line in lines[1:end]):
        return "", "", 0
    title = ""
    for line in lines[1:end]:
        match = _TITLE_KEY.match(line)
        value = match["title"].strip().strip("\"'").strip() if match else ""
        if value and not title and value not in "|>":
            title = value
    return title, "\n".join(lines[1:end]).strip(), end + 1


def _blocks(lines: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    while at < len(lines):
        at = _next_block(lines, at, pieces)
    return pieces


def _next_block(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    """Read the block that starts at line ``at``; returns the line after it."""
    line = lines[at]
    if not line.strip():
        return at + 1
    if match := _ATX.match(line):
        if text := (match["text"] or "").strip(" #\t"):
            pieces.append(Piece(kind="heading", text=text, level=len(match["marks"])))
        return at + 1
    if match := _FENCE.match(line):
        return _fenced(lines, at, match, pieces)
    if line.strip().startswith("$$"):
        return _equation(lines, at, pieces)
    if match := _IMAGE.match(line):
        text = " ".join(
            part for part in (match["alt"].strip(), f"({match['target']})" if match["target"] else "") if part
        )
        _add(pieces, "figure", text)
        return at + 1
    if at + 1 < len(lines) and "|" in line and "|" in lines[at + 1] and _TABLE_RULE.match(lines[at + 1]):
        return _table(lines, at, pieces)
    return _text(lines, at, pieces)


def _add(pieces: list[Piece], kind: str, text: str, **values: object) -> None:
    if text.strip():
        pieces.append(Piece(kind=kind, text=text.strip(), **values))  # type: ignore[arg-type]


def _fenced(lines: Sequence[str], at: int, match: re.Match[str], pieces: list[Piece]) -> int:
    closing = re.compile(rf"^ {{0,3}}{re.escape(match['fence'][0])}{{{len(match['fence'])},}}[ \t]*$")
    end = next((i for i in range(at + 1, len(lines)) if closing.match(lines[i])), len(lines))
    info = match["info"].strip()
    body = "\n".join(lines[at + 1 : end]).strip("\n")
    _add(pieces, "code", body if body.strip() else info, label=info or None)
    return end + 1


def _equation(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    """From ``$$`` to the next line that ends with ``$$``; without one, the line is plain text."""
    first = lines[at].strip()
    end: int | None = at
    if first.count("$$") < 2:
        end = next((i for i in range(at + 1, len(lines)) if "$$" in lines[i]), None)
    if end is None:
        _add(pieces, "paragraph", first)
        return at + 1
    source = "\n".join(lines[at : end + 1]).strip()
    inner, _, rest = source[2:].partition("$$")
    tag = _EQUATION_LABEL.search(inner)
    _add(pieces, "equation", inner, label=f"({tag['tag']})" if tag else None)
    _add(pieces, "paragraph", rest)
    return end + 1


def _table(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    end = at + 2
    while end < len(lines) and lines[end].strip() and "|" in lines[end]:
        end += 1
    rows = [_cells(line) for line in (lines[at], *lines[at + 2 : end])]
    width = max(len(row) for row in rows)
    if width * len(rows) > _MOST_CELLS:
        width = 0  # one row of very many cells must not widen very many rows
    cells = tuple((*row, *("" for _ in range(width - len(row)))) for row in rows)
    _add(pieces, "table", cells_text(cells), cells=cells, label=_caption_near(pieces))
    return end


def _cells(line: str) -> tuple[str, ...]:
    text = line.strip().removeprefix("|")
    parts = re.split(r"(?<!\\)\|", text)
    if parts and not parts[-1].strip():
        parts = parts[:-1]
    return tuple(_BOLD.sub(r"\g<text>", part.strip()).replace("\\|", "|") for part in parts) or ("",)


def _caption_near(pieces: Sequence[Piece]) -> str | None:
    last = pieces[-1] if pieces else None
    return last.label if last and last.kind == "caption" and str(last.label).startswith("Table") else None


def _text(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    """A paragraph, list, caption or setext heading: lines up to a blank line or the start of another block."""
    end = at + 1
    while end < len(lines) and lines[end].strip():
        if match := _SETEXT.match(lines[end]):
            text = " ".join(line.strip() for line in lines[at:end])
            pieces.append(Piece(kind="heading", text=text, level=1 if match["mark"][0] == "=" else 2))
            return end + 1
        if _ATX.match(lines[end]) or _FENCE.match(lines[end]) or lines[end].strip().startswith("$$"):
            break
        if "|" in lines[end] and end + 1 < len(lines) and "|" in lines[end + 1] and _TABLE_RULE.match(lines[end + 1]):
            break
        end += 1
    chunk = lines[at:end]
    if _LIST_ITEM.match(chunk[0]):
        _add(pieces, "list", "\n".join(line.rstrip() for line in chunk))
    elif match := _CAPTION.match(chunk[0].strip()):
        _add(pieces, "caption", " ".join(line.strip() for line in chunk), label=_label(match["label"]))
    else:
        _add(pieces, "paragraph", "\n".join(line.strip() for line in chunk))
    return end


def _label(printed: str) -> str:
    kind, number = re.split(r"\s*(?=\d)", printed, maxsplit=1)
    return f"{'Table' if kind.casefold().startswith('t') else 'Figure'} {number}"


def _take_title(title: str, pieces: list[Piece]) -> tuple[str, list[Piece]]:
    """The first heading is the title when no other heading is as high; the headings below then move up to level 1."""
    headings = [piece for piece in pieces if piece.kind == "heading"]
    if headings:
        first = headings[0]
        alone = all(piece.level > first.level for piece in headings[1:]) and role_by_name(first.text) is None
        if alone and (not title or first.text == title) and pieces.index(first) <= 1:
            title = first.text
            pieces = [piece for piece in pieces if piece is not first]
    lowest = min((piece.level for piece in pieces if piece.kind == "heading"), default=1)
    shifted = [replace(p, level=p.level - lowest + 1) if p.kind == "heading" else p for p in pieces]
    return title, shifted


def _number(pieces: list[Piece]) -> list[Piece]:
    """Numbers, and the levels they prove: converted web pages often have the wrong count of ``#``."""
    places = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    for index, name in zip(places, name_headings([pieces[i].text for i in places]), strict=True):
        level = name.level or pieces[index].level
        pieces[index] = replace(pieces[index], text=name.title, number=name.number, level=level)
    return pieces


def split_entries(pieces: Sequence[Piece]) -> list[Piece]:
    """Part the blocks under a references heading into entries: at labels and bullets, else one entry a block."""
    parted: list[Piece] = []
    inside = False
    for piece in pieces:
        if piece.kind == "heading":
            inside = role_by_name(piece.text) == "references"
        if not inside or piece.kind not in ("paragraph", "list"):
            parted.append(piece)
            continue
        entry = ""
        for line in piece.text.split("\n"):
            if entry and starts_entry(line):
                parted.append(Piece(kind="reference", text=entry))
                entry = ""
            entry = f"{entry} {line.strip()}".strip()
        if entry:
            parted.append(Piece(kind="reference", text=entry))
    return parted
