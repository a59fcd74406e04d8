"""A paper's text as parents (a section, or about 4,000 tokens of it) and children (what is embedded).

Children do not overlap: a passage is found once, counted once and quoted from one place. What an overlap would add, the
text around a cut, is in the parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from referee.errors import SettingsError
from referee.llm.tokens import count_tokens
from referee.retrieval.splitting import Count, pack, split_spans
from referee.schemas.paper import Block, Paper, Section

_UNREAD = ("front", "references")
_SMALLEST = 16
_JOINT = "\n\n"
_ARROW = " > "


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """How a paper is cut.

    Attributes:
        child_pieces: Most pieces of a child's text, in the embedder's own pieces.
        heading_pieces: Most pieces of the headings that are embedded in front of it.
        parent_tokens: Most tokens of a parent.
    """

    child_pieces: int = 400
    heading_pieces: int = 80
    parent_tokens: int = 4000

    def __post_init__(self) -> None:
        for name in ("child_pieces", "heading_pieces", "parent_tokens"):
            if getattr(self, name) < _SMALLEST:
                raise SettingsError(f"chunk size {name!r} is {getattr(self, name)}.", hint=f"Give {_SMALLEST} or more.")


@dataclass(frozen=True, slots=True)
class Parent:
    """A section, or a run of its blocks: what a reader is shown around a found passage.

    ``heading`` is the path from the top ('3 Method > 3.1 Data'); it is no part of ``text``.
    """

    id: str
    section_id: str
    heading: str
    text: str
    block_ids: tuple[str, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Child:
    """What is embedded and found: whole blocks, or a part of one, of a single parent.

    ``text`` is the paper's own words and may be quoted; ``embedded`` has the headings in front.
    """

    id: str
    parent_id: str
    section_id: str
    heading: str
    text: str
    embedded: str
    block_ids: tuple[str, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chunks:
    """All parents and children of a paper in reading order."""

    parents: tuple[Parent, ...]
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A range of one block's text."""

    block: Block
    start: int
    end: int
    text: str = field(compare=False)


def cut_paper(paper: Paper, count_pieces: Count, sizes: ChunkSizes | None = None) -> Chunks:
    """Cut a paper into parents and children.

    Read are the abstract, all content, acknowledgements, checklist and appendix, with captions, tables (row by row),
    equations and footnotes; not the front matter and the bibliography. No chunk reaches over a section's border.

    Args:
        paper: The paper; one without any text to read gives no chunks.
        count_pieces: Pieces of a text, as the embedder counts them.
        sizes: Limits; children of 400 pieces in parents of 4,000 tokens without it.
    """
    sizes = sizes or ChunkSizes()
    parents: list[Parent] = []
    children: list[Child] = []
    for section, path in _read_sections(paper):
        fragments = [f for block in section.blocks for f in _cut_block(block, sizes.parent_tokens, count_tokens)]
        heading = _ARROW.join(path)
        lead = _shortened(path, sizes.heading_pieces, count_pieces)
        for number, run in enumerate(_parent_runs(fragments, sizes.parent_tokens), start=1):
            parent = Parent(f"{section.id}.p{number}", section.id, heading, _joined(run), _block_ids(run), _pages(run))
            parents.append(parent)
            children += _children(parent, run, lead, sizes.child_pieces, count_pieces)
    return Chunks(tuple(parents), tuple(children))


def _read_sections(paper: Paper) -> Iterator[tuple[Section, tuple[str, ...]]]:
    """The sections that are read, each with its headings from the top down."""
    roles = {section.role for section in paper.sections if section.blocks}
    if paper.abstract.strip() and "abstract" not in roles:
        block = Block(id="abstract", kind="paragraph", text=paper.abstract)
        yield Section(id="abstract", heading="Abstract", level=1, role="abstract", blocks=(block,)), ("Abstract",)
    above: list[Section] = []
    for section in paper.sections:
        above = [*(one for one in above if one.level < section.level), section]
        if section.role not in _UNREAD:
            yield section, tuple(_title(one) for one in above)


def _title(section: Section) -> str:
    numbered = section.number is not None and not section.heading.startswith(section.number)
    return f"{section.number} {section.heading}".strip() if numbered else section.heading.strip()


def _shortened(path: Sequence[str], limit: int, count: Count) -> str:
    """The headings in front of a child: the outer ones are left out first, a long last one is cut."""
    for start in range(len(path)):
        heading = _ARROW.join(path[start:])
        if count(heading) <= limit:
            return heading
    spans = split_spans(path[-1], limit, count)
    return path[-1][slice(*spans[0])] if spans else ""


def _cut_block(block: Block, limit: int, count: Count) -> list[_Fragment]:
    return [_Fragment(block, start, end, block.text[start:end]) for start, end in split_spans(block.text, limit, count)]


def _parent_runs(fragments: Sequence[_Fragment], limit: int) -> Iterator[Sequence[_Fragment]]:
    sizes = [count_tokens(fragment.text) for fragment in fragments]
    parts = max(1, -(-sum(sizes) // limit))
    target = limit if parts == 1 else -(-sum(sizes) // parts)
    for start, end in pack(sizes, limit, target, lambda i, j: count_tokens(_joined(fragments[i:j])) <= limit):
        yield fragments[start:end]


def _children(parent: Parent, run: Sequence[_Fragment], lead: str, limit: int, count: Count) -> Iterator[Child]:
    fragments = [
        _Fragment(whole.block, whole.start + start, whole.start + end, whole.text[start:end])
        for whole in run
        for start, end in split_spans(whole.text, limit, count)
    ]
    sizes = [count(fragment.text) for fragment in fragments]
    ranges = pack(sizes, limit, limit, lambda i, j: count(_joined(fragments[i:j])) <= limit)
    for number, (start, end) in enumerate(ranges, start=1):
        part = fragments[start:end]
        text = _joined(part)
        yield Child(
            id=f"{parent.id}.c{number}",
            parent_id=parent.id,
            section_id=parent.section_id,
            heading=parent.heading,
            text=text,
            embedded=f"{lead}\n{text}" if lead else text,
            block_ids=_block_ids(part),
            pages=_pages(part),
        )


def _joined(fragments: Sequence[_Fragment]) -> str:
    """Blocks with a blank line between them; neighbouring parts of one block as they stand in it."""
    text = ""
    last: _Fragment | None = None
    for fragment in fragments:
        if last is not None and last.block is fragment.block:
            text += fragment.block.text[last.end : fragment.end]
        else:
            text += (_JOINT if text else "") + fragment.text
        last = fragment
    return text


def _block_ids(fragments: Sequence[_Fragment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fragment.block.id for fragment in fragments))


def _pages(fragments: Sequence[_Fragment]) -> tuple[int, ...]:
    return tuple(sorted({fragment.block.page for fragment in fragments if fragment.block.page is not None}))
