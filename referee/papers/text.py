"""Markdown and plain-text papers: small block parsers that keep every word of the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from referee.papers.bibliography import starts_entry
from referee.papers.headings import follows, is_known_name, number_headings, number_key, role_by_name, title_of_headings
from referee.papers.pieces import Piece, caption_label, cells_text, filled_up, is_caption

# Closing marks are stripped from the text afterwards: a pattern for them takes quadratic time on a line of blanks.
_ATX = re.compile(r"^ {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*))?$")
_SETEXT = re.compile(r"^ {0,3}(?P<mark>=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>.*)$")
_LIST_ITEM = re.compile(r"^\s{0,6}(?:[-*+•]|\d{1,3}[.)])\s+\S")
_IMAGE = re.compile(r"^\s*!\[(?P<alt>[^\]]*)\]\((?P<target>[^)]*)\)(?:\{[^}]*\})?\s*$")
_TABLE_RULE = re.compile(r"^\s*+\|?+\s*+:?-++:?\s*+(?:\|\s*+:?-*+:?\s*+)*+$")
_BOLD = re.compile(r"^(?P<mark>\*\*|__)(?P<text>[^*_]+)(?P=mark)$")
_EQUATION_LABEL = re.compile(r"\\tag\{(?P<tag>[^}]*)\}")
# As pandoc and Quarto write them: '{#sec-methods}' behind a heading, '::: {.callout-note}' around blocks.
_ATTRIBUTES = re.compile(r"\{[#.-][^{}]*\}(?=[#\s]*$)")
_DIV = re.compile(r"^ {0,3}:{3,}[ \t]*(?:\{[^{}]*\}|[\w-]*)[ \t]*:*[ \t]*$")
_ABSTRACT_KEY = re.compile(
    r"^abstract[ \t]*:[ \t]*(?:[|>][-+\d]*[ \t]*$)?(?P<text>.*(?:\n[ \t]+\S.*|\n[ \t]*(?=\n[ \t]))*)",
    re.MULTILINE | re.IGNORECASE,
)
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
    pieces = [Piece(kind="code", text=matter, label="front matter")] if matter else []
    given = _ABSTRACT_KEY.search(matter)
    if abstract := " ".join((given["text"] if given else "").split()).strip("\"'"):
        pieces += [Piece(kind="heading", text="Abstract", level=0), Piece(kind="paragraph", text=abstract)]
    blocks: list[Piece] = []
    while start < len(lines):
        start = _next_block(lines, start, blocks)
    if abstract and blocks and blocks[0].kind != "heading":
        pieces.append(Piece(kind="heading", text="Text", level=0))
    title, pieces = title_of_headings(title, [*pieces, *blocks])
    return title, split_entries(number_headings(pieces))


def _front_matter(lines: Sequence[str]) -> tuple[str, str, int]:
    """Title, the block's lines, and where the text starts; nothing is taken unless the block is closed."""
    if not lines or lines[0].strip() != "---":
        return "", "", 0
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.strip() in ("---", "...")), None)
    if end is None or not any(":" in line for line in lines[1:end]):
        return "", "", 0
    matches = filter(None, map(_TITLE_KEY.match, lines[1:end]))
    values = (match["title"].strip().strip("\"'").strip() for match in matches)
    title = next((value for value in values if value and value not in "|>"), "")
    return title, "\n".join(lines[1:end]).strip(), end + 1


def _next_block(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    """Read the block that starts at line ``at``; returns the line after it."""
    line = lines[at]
    if not line.strip() or _DIV.match(line):
        return at + 1
    if match := _ATX.match(line):
        if text := _ATTRIBUTES.sub("", match["text"] or "").strip(" #\t"):
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
    if _opens_table(lines, at):
        return _table(lines, at, pieces)
    return _paragraph(lines, at, pieces)


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


def _opens_table(lines: Sequence[str], at: int) -> bool:
    below = "".join(lines[at + 1 : at + 2])
    return "|" in lines[at] and "|" in below and _TABLE_RULE.match(below) is not None


def _table(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    end = at + 2
    while end < len(lines) and lines[end].strip() and "|" in lines[end]:
        end += 1
    rows = [_cells(line) for line in (lines[at], *lines[at + 2 : end])]
    width = max(len(row) for row in rows)
    # One row of very many cells must not widen very many rows.
    cells = filled_up(rows) if width * len(rows) <= _MOST_CELLS else tuple(rows)
    last = pieces[-1] if pieces else None
    captioned = last is not None and last.kind == "caption" and str(last.label).startswith("Table")
    _add(pieces, "table", cells_text(cells), cells=cells, label=last.label if last and captioned else None)
    return end


def _cells(line: str) -> tuple[str, ...]:
    parts = re.split(r"(?<!\\)\|", re.sub(r"(?<!\\)\|$", "", line.strip().removeprefix("|")))
    return tuple(_BOLD.sub(r"\g<text>", part.strip()).replace("\\|", "|") for part in parts) or ("",)


def _paragraph(lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
    """A paragraph, list, caption or setext heading: lines up to a blank line or the start of another block."""
    end = at + 1
    while end < len(lines) and lines[end].strip():
        if match := _SETEXT.match(lines[end]):
            text = " ".join(line.strip() for line in lines[at:end])
            pieces.append(Piece(kind="heading", text=text, level=1 if match["mark"][0] == "=" else 2))
            return end + 1
        if (
            _DIV.match(lines[end])
            or _ATX.match(lines[end])
            or _FENCE.match(lines[end])
            or lines[end].strip().startswith("$$")
            or _opens_table(lines, end)
        ):
            break
        end += 1
    chunk = lines[at:end]
    if _LIST_ITEM.match(chunk[0]):
        _add(pieces, "list", "\n".join(line.rstrip() for line in chunk))
    elif is_caption(chunk[0].strip()):
        _add(pieces, "caption", " ".join(line.strip() for line in chunk), label=caption_label(chunk[0].strip()))
    else:
        _add(pieces, "paragraph", "\n".join(line.strip() for line in chunk))
    return end


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


_UNDERLINE = re.compile(r"^\s*(?P<mark>={3,}|-{3,}|~{3,})\s*$")
_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z](?=[.:]))[.:]?\s+[A-Z][^.!?]*$"
)
_PLAIN_ITEM = re.compile(r"^\s{0,6}(?:[-*•]|\d{1,3}[.)])\s+\S")
_MAX_HEADING, _MAX_TITLE = 90, 250


def read_plaintext(source: str) -> tuple[str, list[Piece]]:
    """Read plain text into a title and pieces.

    The title is the first block when it is one short line that is no customary heading. A line alone between blank
    lines is a heading when it is numbered and the number fits the sequence, is a customary section name, or is in
    capitals; an underlined line is one anywhere.
    """
    groups = groupby(source.splitlines(), key=lambda line: bool(line.strip()))
    chunks = [[line.rstrip() for line in lines] for is_text, lines in groups if is_text]
    first = chunks[0][0].strip() if chunks and len(chunks[0]) == 1 else ""
    is_name = is_known_name(first) or _NUMBERED.match(first) is not None
    title = "" if len(first) > _MAX_TITLE or first.endswith(".") or is_name else first
    chunks = chunks[1:] if title else chunks
    pieces = [piece for chunk in chunks for piece in _underlined(chunk)]
    return title, split_entries(_settled(pieces))


def _underlined(chunk: Sequence[str]) -> list[Piece]:
    """The pieces of one block: underlined headings inside it, and what stands between them."""
    pieces: list[Piece] = []
    start, at = 0, 1
    while at < len(chunk):
        if match := _UNDERLINE.match(chunk[at]):
            pieces += _between(chunk[start : at - 1])
            level = 1 if match["mark"][0] == "=" else 2
            pieces.append(Piece(kind="heading", text=chunk[at - 1].strip(), level=level))
            start = at = at + 1
        at += 1
    return pieces + _between(chunk[start:])


def _between(chunk: Sequence[str]) -> list[Piece]:
    """Lines without an underline: customary names at either end are headings, as is a lone line that looks like one."""
    if not chunk:
        return []
    start, end = 0, len(chunk)
    while end - start > 1 and _is_name(chunk[start]):
        start += 1
    while end - start > 1 and _is_name(chunk[end - 1]):
        end -= 1
    first, last = ([Piece(kind="heading", text=line.strip()) for line in part] for part in (chunk[:start], chunk[end:]))
    return [*first, _plain_block(chunk[start:end]), *last]


def _is_name(line: str) -> bool:
    return is_known_name(line) and line.strip()[0].isupper()


def _plain_block(chunk: Sequence[str]) -> Piece:
    text = "\n".join(line.strip() for line in chunk)
    if len(chunk) == 1 and _looks_like_heading(text):
        return Piece(kind="heading", text=text)
    if is_caption(text):
        return Piece(kind="caption", text=text, label=caption_label(text))
    return Piece(kind="list" if _PLAIN_ITEM.match(chunk[0]) else "paragraph", text=text)


def _looks_like_heading(text: str) -> bool:
    if len(text) > _MAX_HEADING or not any(char.isalpha() for char in text):
        return False
    letters = [char for char in text if char.isalpha()]
    capitals = len(letters) >= 4 and all(char.isupper() for char in letters) and len(text.split()) <= 10
    return is_known_name(text) or capitals or bool(_NUMBERED.match(text))


def _settled(pieces: list[Piece]) -> list[Piece]:
    """Numbers and levels; a numbered line whose number does not fit the sequence is text, not a heading."""
    last: tuple[int, ...] = ()
    for index, piece in enumerate(pieces):
        match = _NUMBERED.match(piece.text) if piece.kind == "heading" else None
        if match is None:
            continue
        key = number_key(match["number"])
        if follows(last, key) or (last and key > last and key[0] - last[0] <= 1):
            last = key
        elif not piece.text.isupper():
            pieces[index] = replace(piece, kind="paragraph")
    return number_headings(pieces)
