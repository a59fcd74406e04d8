"""Front matter that a reader knows by its markup becomes a section of its own, before all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from referee.papers.assembly import Assembled
from referee.papers.headings import plain_name
from referee.papers.pieces import Piece
from referee.schemas.paper import Block, Section

_LONG_WORDS = 40


def with_front(assembled: Assembled, front: Sequence[Piece]) -> Assembled:
    """Put authors and affiliations into a first section of role ``front``, which no reviewer is shown.

    Args:
        assembled: The paper without them; a front section that it already has is joined to them.
        front: In reading order; nothing changes where there are none.
    """
    if not front:
        return assembled
    had = [section for section in assembled.sections if section.role == "front"]
    others = [section for section in assembled.sections if section.role != "front"]
    blocks = [Block(id="b", kind=piece.kind, text=piece.text) for piece in front]
    blocks += [block for section in had for block in section.blocks]
    first = Section(id="s", heading="Front matter", level=1, role="front", blocks=tuple(blocks))
    return replace(assembled, sections=_renumber([first, *others]))


def _renumber(sections: Sequence[Section]) -> tuple[Section, ...]:
    count, renumbered = 0, []
    for index, section in enumerate(sections, start=1):
        blocks = []
        for block in section.blocks:
            count += 1
            blocks.append(block.model_copy(update={"id": f"b{count}"}))
        renumbered.append(section.model_copy(update={"id": f"s{index}", "blocks": tuple(blocks)}))
    return tuple(renumbered)


def lead_front(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Part the short paragraphs between a known title and the first heading (authors, addresses) from the rest.

    They end at the first paragraph of 40 words or with 'Abstract' at its head; without a heading nothing is parted.
    """
    first = next((index for index, piece in enumerate(pieces) if piece.kind == "heading"), 0)
    cut = 0
    while cut < first and not _is_running(pieces[cut]):
        cut += 1
    return list(pieces[:cut]), list(pieces[cut:])


def _is_running(piece: Piece) -> bool:
    if piece.kind not in ("paragraph", "list", "footnote"):
        return True
    words = piece.text.split()
    return len(words) >= _LONG_WORDS or plain_name(words[0]) in ("abstract", "summary")
