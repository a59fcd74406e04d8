"""A page's text as blocks, each with its headings and its paper type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from referee.venues.page.paper_types import named_type

BlockKind = Literal["heading", "bullet", "row", "paragraph", "code"]
_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_ITEM = re.compile(r"^( *)(?:([-*+•])|(\d{1,3})[.)]) +(\S.*)$")
FENCE = "```"


@dataclass(frozen=True, slots=True)
class Block:
    """One line of the page's text, or one fenced block.

    ``level`` is a heading's (1 to 6) or an item's depth (from 0); ``number`` is an item's own number; ``path`` are the
    headings above, without the block's own.
    """

    kind: BlockKind
    text: str
    level: int = 0
    number: int | None = None
    path: tuple[str, ...] = ()
    paper_type: str = ""


def read_blocks(text: str) -> list[Block]:
    """The blocks of a page's text, in order; a heading that names a paper type marks all below it."""
    blocks: list[Block] = []
    trail: list[tuple[int, str]] = []
    for block in _lines(text):
        if block.kind == "heading":
            trail = [entry for entry in trail if entry[0] < block.level]
        path = tuple(title for _, title in trail)
        named = [title for title in (*path, block.text) if block.kind == "heading" or title in path]
        kind = next((found for title in reversed(named) if (found := named_type(title))), "")
        blocks.append(Block(block.kind, block.text, block.level, block.number, path, kind))
        if block.kind == "heading":
            trail.append((block.level, block.text))
    return blocks


def _lines(text: str) -> Iterator[Block]:
    fenced: list[str] | None = None
    for line in text.splitlines():
        if line.strip() == FENCE:
            if fenced is not None:
                yield Block("code", "\n".join(fenced))
            fenced = [] if fenced is None else None
        elif fenced is not None:
            fenced.append(line)
        elif line.strip():
            yield _block(line)
    if fenced:
        yield Block("code", "\n".join(fenced))


def _block(line: str) -> Block:
    if match := _HEADING.match(line):
        return Block("heading", match[2].strip(), len(match[1]))
    if match := _ITEM.match(line):
        return Block("bullet", match[4].strip(), len(match[1]) // 2, int(match[3]) if match[3] else None)
    return Block("row" if " | " in line else "paragraph", line.strip())
