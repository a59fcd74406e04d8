"""The paper cut into pieces of even length, whatever its sections: what strategies read that do not go by sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.agents.asking import CountTokens
from referee.agents.parts import Part, content_parts, render_part, split_part
from referee.schemas.paper import Paper


@dataclass(frozen=True)
class ChunkSize:
    """``tokens`` of a chunk, more where a paper would be cut into more than ``most``, never more than ``room``."""

    tokens: int
    most: int
    room: int


def paper_chunks(paper: Paper, size: ChunkSize, count: CountTokens, *, appendices: bool = False) -> tuple[Part, ...]:
    """The text that reviewers read, in order, cut at paragraph borders into ``K1``, ``K2``, ...

    The same text as ``content_parts`` gives, and the same cuts as ``split_part`` makes: only a paragraph or table
    longer than a chunk is cut inside, and the paragraph before a cut is repeated where it is short.

    Args:
        paper: The submission.
        size: How long a chunk is, counted as rendered text with sentence numbers.
        count: Counts tokens as the model does.
        appendices: Read the appendices too.

    Returns:
        The chunks, each under the headings it spans; none where the paper has no text. There may be a few more than
        ``size.most``, because what is repeated takes room too.

    Raises:
        ContextTooLong: There is not even room for a heading and a sentence.
    """
    parts = content_parts(paper, appendices=appendices)
    if not parts:
        return ()
    types = tuple(dict.fromkeys(kind for part in parts for kind in part.types))
    whole = Part("K", "The paper", "other", types, tuple(piece for part in parts for piece in part.pieces))
    even = -(-count(render_part(whole, numbered=True)[0]) // size.most)
    cut = split_part(whole, min(size.room, max(size.tokens, even)), count)
    return tuple(replace(chunk, id=f"K{n}", heading=_span(chunk)) for n, chunk in enumerate(cut, start=1))


def chunk_sections(chunks: Sequence[Part]) -> dict[str, str]:
    """Section id to heading, of all sections that the chunks hold, in order."""
    return {piece.id: piece.heading for chunk in chunks for piece in chunk.pieces}


def chunk_of(section_id: str, chunks: Sequence[Part], quote: str = "") -> Part | None:
    """The chunk that holds a section; where several hold a piece of it, the first one with the quoted words."""
    holding = [chunk for chunk in chunks if section_id in chunk.section_ids]
    words = " ".join(quote.split())
    return next((chunk for chunk in holding if words in _text(chunk)), holding[0] if holding else None)


def chunk_outline(chunks: Sequence[Part]) -> str:
    """The chunks by id with the headings they hold, one a line."""
    return "\n".join(f"{chunk.id}: {', '.join(piece.heading for piece in chunk.pieces)}" for chunk in chunks)


def _span(chunk: Part) -> str:
    first, last = chunk.pieces[0].heading, chunk.pieces[-1].heading
    return first if first == last else f"{first} to {last}"


def _text(chunk: Part) -> str:
    return " ".join(" ".join(block.text.split()) for block in chunk.blocks)
