"""The parts a section reviewer reads whole: top-level sections with what stands under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from referee.agents.asking import CountTokens
from referee.agents.briefing import Sentence, block_text, heading_line, numbered_text
from referee.agents.part_types import guess_type
from referee.errors import ContextTooLong
from referee.evidence import split_sentences
from referee.prompts import delimit
from referee.schemas.paper import Block, Paper, Section
from referee.venues.prompts import SectionType

LEAST_WORDS = 150
MOST_PARTS = 30
UNHEADED_WORDS = 1500
_SHOWN_HEADINGS = 3
# Sentences and headings counted one by one can come out lower than the text as a whole; then less is tried.
_TRIED_SHARES = (1.0, 0.9, 0.75, 0.5)
_FRAME_TOKENS = 48
_LEAST_PIECE_TOKENS = 16
_SHARED_MOST = 3


@dataclass(frozen=True)
class Part:
    """A unit of the submission that one call reads.

    ``pieces`` are its sections in reading order, each with the blocks that belong to this part. ``type`` is guessed
    from the heading; ``types`` adds those of the sub-sections. The first ``shared`` blocks are repeated from the part
    before, where a part was split.
    """

    id: str
    heading: str
    type: SectionType
    types: tuple[SectionType, ...]
    pieces: tuple[Section, ...]
    shared: int = 0

    @property
    def section_ids(self) -> tuple[str, ...]:
        """The sections it holds, whole or in part."""
        return tuple(dict.fromkeys(piece.id for piece in self.pieces))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks in reading order."""
        return tuple(block for piece in self.pieces for block in piece.blocks)

    @cached_property
    def words(self) -> int:
        """How many words its blocks have."""
        return sum(len(block.text.split()) for block in self.blocks)


def content_parts(paper: Paper, *, appendices: bool = False) -> tuple[Part, ...]:
    """The parts of a paper that reviewers read, in order, ``P1``, ``P2``, ...

    A top-level section with its sub-sections is a part. One of fewer than ``LEAST_WORDS`` words joins the following
    one, the last joins the one before; a paper of very many sections is joined further, to at most ``MOST_PARTS``.
    Text without headings is cut at paragraph borders about every ``UNHEADED_WORDS`` words, and the headings say so.

    Args:
        paper: The submission; front matter, acknowledgements and references are never part of it.
        appendices: Read the appendices too, as parts of their own.

    Returns:
        The parts. Where there is no content the abstract is the only one; where there is no abstract either, none.
    """
    content = [section for section in paper.sections if section.role == "content"]
    if sum(map(_words, content)) == 0:
        content = [section for section in paper.sections if section.role == "abstract"]
    if any(finding.kind == "no_headings" for finding in paper.findings):
        groups = [[[piece]] for piece in _unheaded(content)]
    else:
        groups = _joined(_grouped(content))
    if appendices:
        groups += _joined(_grouped([section for section in paper.sections if section.role == "appendix"]))
    return tuple(_part(f"P{number}", group) for number, group in enumerate(groups, start=1))


def render_part(part: Part, *, numbered: bool) -> tuple[str, dict[str, Sentence]]:
    """The part as delimited prompt text, and its sentences by id.

    Args:
        part: The part.
        numbered: Put an id (``s1``, ``s2``, ...) before each sentence of prose, for replies that cite by number.

    Returns:
        The text, and the numbered sentences; none where they were not asked for.
    """
    sentences: dict[str, Sentence] = {}
    lines = [f"# {part.heading}"]
    seen = 0
    for piece in part.pieces:
        lines.append(heading_line(piece))
        for block in piece.blocks:
            text = block_text(block)
            if numbered and block.kind in ("paragraph", "list"):
                text, _ = numbered_text(piece, text, sentences)
            lines.append(f"{REPEATED} {text}" if seen < part.shared else text)
            seen += 1
    return delimit("section", "\n".join(lines), part=part.id), sentences


def split_part(part: Part, room_tokens: int, count: CountTokens) -> list[Part]:
    """The part cut into as many parts as fit into the room, each with the paragraph before it repeated.

    Cuts are at paragraph borders. Only a paragraph or table too long for the room by itself is cut inside: at sentence
    borders or rows, else between words. Of a paragraph longer than a third of the room its last sentence is repeated,
    or nothing where that is too long as well.

    Args:
        part: The part.
        room_tokens: Tokens there are for its rendered text, sentence numbers included.
        count: Counts tokens as the model does.

    Returns:
        The part itself where it fits, else parts with the ids ``P3.1``, ``P3.2``, ...

    Raises:
        ContextTooLong: There is not even room for a heading and a sentence.
    """
    if count(render_part(part, numbered=True)[0]) <= room_tokens:
        return [part]
    for share in _TRIED_SHARES:
        parts = _split(part, int(room_tokens * share), count)
        if parts and all(count(render_part(piece, numbered=True)[0]) <= room_tokens for piece in parts):
            return parts
    raise ContextTooLong(
        f"only {max(room_tokens, 0):,} tokens are left for section {part.heading!r}; not even a piece of it fits.",
        hint="Use a model with a longer context, or set models.context_tokens to what it really has.",
        ids={"part": part.id},
    )


REPEATED = "[repeated from the part before]"


def with_blocks(section: Section, blocks: Sequence[Block]) -> Section:
    """The section with these blocks in place of its own."""
    return Section(
        id=section.id,
        heading=section.heading,
        level=section.level,
        number=section.number,
        role=section.role,
        blocks=tuple(blocks),
    )


_Group = list[Section]


def _words(section: Section) -> int:
    return sum(len(block.text.split()) for block in section.blocks)


def _grouped(sections: Sequence[Section]) -> list[_Group]:
    """Top-level sections, each with what stands under it; the top is the first level at which there are two."""
    levels = sorted({section.level for section in sections})
    top = next((level for level in levels if sum(s.level <= level for s in sections) > 1), 1)
    groups: list[_Group] = []
    for section in sections:
        if section.level <= top or not groups:
            groups.append([section])
        else:
            groups[-1].append(section)
    return groups


def _joined(groups: Sequence[_Group]) -> list[list[_Group]]:
    """Neighbouring groups put together until each has enough words."""
    total = sum(_words(section) for group in groups for section in group)
    if total == 0:
        return []
    least = LEAST_WORDS if len(groups) <= MOST_PARTS else max(LEAST_WORDS, -(-total // MOST_PARTS))
    joined: list[list[_Group]] = []
    waiting: list[_Group] = []
    for group in groups:
        waiting.append(group)
        if sum(_words(section) for one in waiting for section in one) >= least:
            joined.append(waiting)
            waiting = []
    if waiting and joined:
        joined[-1] += waiting
    elif waiting:
        joined.append(waiting)
    return joined


def _unheaded(sections: Sequence[Section]) -> list[Section]:
    """Text without headings, cut at paragraph borders; each piece is named by the words it spans."""
    pieces: list[Section] = []
    at = 0
    for section in sections:
        for blocks in _runs(section.blocks):
            words = sum(len(block.text.split()) for block in blocks)
            name = f"Words {at + 1:,} to {at + words:,} (the paper has no headings; cut at paragraph borders)"
            pieces.append(with_blocks(section.model_copy(update={"heading": name, "number": None}), blocks))
            at += words
    return pieces


def _runs(blocks: Sequence[Block]) -> list[list[Block]]:
    """Consecutive blocks of about ``UNHEADED_WORDS`` words; a short rest stays with the last run."""
    runs: list[list[Block]] = []
    run: list[Block] = []
    words = 0
    for block in blocks:
        run.append(block)
        words += len(block.text.split())
        if words >= UNHEADED_WORDS:
            runs.append(run)
            run, words = [], 0
    if run and runs and words < LEAST_WORDS:
        runs[-1] += run
    elif run:
        runs.append(run)
    return runs


def _part(part_id: str, groups: Sequence[_Group]) -> Part:
    pieces = tuple(section for group in groups for section in group)
    largest = max(groups, key=lambda group: sum(map(_words, group)))
    own = _group_type(largest)
    guessed = [own, *(_group_type(group) for group in groups), *(kind for group in groups for kind in _inner(group))]
    types = tuple(dict.fromkeys(kind for kind in guessed if kind != "other")) or (own,)
    return Part(part_id, _heading(groups), own, types, pieces)


def _group_type(group: _Group) -> SectionType:
    """By its heading, else by the sub-section of the most words whose heading says something."""
    own = guess_type(group[0].heading)
    if own != "other":
        return own
    if group[0].number in ("1", "I") and len(group) == 1:
        return "introduction"
    telling = [section for section in group[1:] if guess_type(section.heading) != "other"]
    return guess_type(max(telling, key=_words).heading) if telling else "other"


def _inner(group: _Group) -> list[SectionType]:
    """Kinds of the sub-sections; those of related work are named after what others did."""
    kinds = [guess_type(section.heading) for section in group[1:]]
    return [kind for kind in kinds if kind == "theory"] if _group_type(group) == "related" else kinds


def _heading(groups: Sequence[_Group]) -> str:
    names = [f"{group[0].number or ''} {group[0].heading}".strip() for group in groups]
    shown = " / ".join(names[:_SHOWN_HEADINGS])
    more = len(names) - _SHOWN_HEADINGS
    return f"{shown} and {more} more" if more > 0 else shown


@dataclass(frozen=True)
class _Unit:
    """A block that is never cut further, in its section; ``block`` is null for a heading without text."""

    section: Section
    block: Block | None
    tokens: int
    head: int


def _split(part: Part, room: int, count: CountTokens) -> list[Part]:
    """Units packed into the room; empty where the headings leave too little of it."""
    heads = [count(heading_line(piece)) + 2 for piece in part.pieces]
    room -= count(part.heading) + _FRAME_TOKENS
    most = room - max(heads)
    if most < _LEAST_PIECE_TOKENS:
        return []
    units: list[_Unit] = []
    for piece, head in zip(part.pieces, heads, strict=True):
        blocks = [bit for block in piece.blocks for bit in _bits(block, most, count)]
        units += [_Unit(piece, block, _cost(block, count), head) for block in blocks]
        if not blocks:
            units.append(_Unit(piece, None, 0, head))
    runs = _packed(units, room, count)
    return [_run_part(part, number, len(runs), units, shared) for number, (units, shared) in enumerate(runs, start=1)]


def _packed(units: Sequence[_Unit], room: int, count: CountTokens) -> list[tuple[list[_Unit], int]]:
    """Runs of units that fit, each with how many of its first ones are repeated."""
    runs: list[tuple[list[_Unit], int]] = [([], 0)]
    for unit in units:
        run, shared = runs[-1]
        if len(run) > shared and _total([*run, unit]) > room:
            repeated = _repeated(run[shared:], room, count)
            run = repeated if _total([*repeated, unit]) <= room else []
            runs.append((run, len(run)))
        run.append(unit)
    return runs


def _total(units: Sequence[_Unit]) -> int:
    """Tokens of a run: its blocks, and a heading wherever the section changes."""
    befores = [None, *units[:-1]]
    heads = sum(
        u.head for u, before in zip(units, befores, strict=True) if not before or before.section is not u.section
    )
    return heads + sum(unit.tokens for unit in units)


def _repeated(run: Sequence[_Unit], room: int, count: CountTokens) -> list[_Unit]:
    """The run's last paragraph, or its last sentence, where that takes no more than its share of the room."""
    last = next((u for u in reversed(run) if u.block is not None and u.block.kind in ("paragraph", "list")), None)
    if last is None or last.block is None:
        return []
    sentences = split_sentences(last.block.text) or [last.block.text]
    sentence = last.block.model_copy(update={"text": sentences[-1]})
    for block in (last.block, sentence):
        tokens = _cost(block, count) + count(REPEATED)
        if tokens <= room // _SHARED_MOST:
            return [_Unit(last.section, block, tokens, last.head)]
    return []


def _run_part(part: Part, number: int, total: int, units: Sequence[_Unit], shared: int) -> Part:
    pieces: list[tuple[Section, list[Block]]] = []
    for unit in units:
        if not pieces or pieces[-1][0] is not unit.section:
            pieces.append((unit.section, []))
        if unit.block is not None:
            pieces[-1][1].append(unit.block)
    own = tuple(with_blocks(section, blocks) for section, blocks in pieces)
    heading = f"{part.heading} (piece {number} of {total})"
    return Part(f"{part.id}.{number}", heading, part.type, part.types, own, shared)


def _cost(block: Block, count: CountTokens) -> int:
    if block.kind in ("paragraph", "list"):
        return sum(count(f"[s999] {sentence} ") for sentence in split_sentences(block.text)) + 2
    return count(block_text(block)) + 2


def _bits(block: Block, most: int, count: CountTokens) -> list[Block]:
    """The block, or pieces of it that each fit: rows of a table, sentences, words, letters."""
    if _cost(block, count) <= most:
        return [block]
    if block.cells and len(block.cells) > 1:
        half = len(block.cells) // 2
        halves = [_rows(block, block.cells[:half]), _rows(block, block.cells[half:])]
        return [bit for one in halves for bit in _bits(one, most, count)]
    plain = block.model_copy(update={"cells": ()})
    texts = split_sentences(block.text)
    if len(texts) == 1:
        texts = block.text.split()
    if len(texts) == 1:
        middle = len(block.text) // 2
        return (
            [block]
            if middle == 0
            else [
                b
                for t in (block.text[:middle], block.text[middle:])
                for b in _bits(plain.model_copy(update={"text": t}), most, count)
            ]
        )
    half = len(texts) // 2
    halves = [plain.model_copy(update={"text": " ".join(some)}) for some in (texts[:half], texts[half:])]
    return [bit for one in halves for bit in _bits(one, most, count)]


def _rows(block: Block, cells: tuple[tuple[str, ...], ...]) -> Block:
    text = "\n".join(" | ".join(row) for row in cells)
    return block.model_copy(update={"cells": cells, "text": text or " "})
