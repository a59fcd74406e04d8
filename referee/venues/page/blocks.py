"""A page's text as blocks, and the types of papers that its headings name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from referee.errors import VenueError

_NAMES = (
    "long|full|short|regular|main|datasets? and benchmarks?|datasets?|benchmarks?|survey|position|theory|theoretical|"
    "resource|demo|demonstration|system demonstrations?|industry|applied|application|empirical|experimental|"
    "reproducibility|reproduction|replication|tutorial|workshop|journal|case study|perspective|poster|"
    "extended abstract|registered reports?|software|tools?|education(?:al)?|findings"
)
_TYPE = re.compile(
    rf"\b(?P<name>{_NAMES})(?:[ -](?:conference|research))?[ -](?:papers?|tracks?|submissions?|"
    rf"articles?|contributions?)\b",
    re.IGNORECASE,
)
_AMONG = re.compile(rf"\b(?:{_NAMES})\s*(?:,|/|&|and|or|vs\.?|versus)\s+(?=(?:{_NAMES})\b)", re.IGNORECASE)
_ONE_TRACK = re.compile(r"\bdatasets? (?:and|&) benchmarks?\b", re.IGNORECASE)
_CANONICAL = {
    "full": "long", "theoretical": "theory", "demonstration": "demo", "system demonstration": "demo",
    "system demonstrations": "demo", "dataset": "datasets", "benchmark": "datasets", "benchmarks": "datasets",
    "datasets and benchmarks": "datasets", "datasets and benchmark": "datasets", "dataset and benchmarks": "datasets",
    "dataset and benchmark": "datasets", "applied": "application", "experimental": "empirical", "tools": "tool",
    "reproduction": "reproducibility", "replication": "reproducibility", "registered reports": "registered report",
    "educational": "education", "regular": "main",
}  # fmt: skip
_LONGEST = 14


@lru_cache(maxsize=4096)
def named_type(heading: str) -> str:
    """The one paper type a heading names, or an empty string where it names none or several."""
    text = heading.replace("’", "'")
    if len(text.split()) > _LONGEST or text.rstrip().endswith("?") or _AMONG.search(_ONE_TRACK.sub("datasets", text)):
        return ""
    found = {_canonical(match["name"]) for match in _TYPE.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def without_type(heading: str) -> str:
    """A heading without the parenthesis that names its paper type."""
    return re.sub(r"\s*\([^()]{0,60}\)\s*$", lambda part: "" if named_type(part[0]) else part[0], heading).strip()


def types_among(names: Iterable[str]) -> tuple[str, ...]:
    """The types in order of appearance, without repeats."""
    return tuple(dict.fromkeys(name for name in names if name))


def chosen_type(types: tuple[str, ...], asked: str | None, source: str) -> str:
    """The type to keep: the one asked for, else the page's first, else none.

    Raises:
        VenueError: The page does not name the type that was asked for.
    """
    if asked is None or not asked.strip():
        return types[0] if types else ""
    wanted = named_type(f"{asked.strip()} paper") or named_type(asked) or asked.strip().lower()
    if wanted in types:
        return wanted
    known = f"It names: {', '.join(types)}." if types else "It names no types; leave the paper type out."
    raise VenueError(f"{source!r} has no guidelines of its own for the paper type {asked!r}.", hint=known)


def _canonical(name: str) -> str:
    plain = " ".join(name.lower().split())
    return _CANONICAL.get(plain, plain)


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
