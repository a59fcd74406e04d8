"""The places of the paper that a point names, and the abstract: a judge sees them whatever the search finds.

Without them a point such as "Equation 4 contradicts Section 2" stays undecided whenever the search, which goes by
meaning, brings other passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from referee.evidence.rules.labels import equation_numbers, labels_in
from referee.evidence.stems import stems
from referee.llm.tokens import count_tokens
from referee.retrieval import Chunks
from referee.schemas.paper import Block, Paper, Section

Shown = tuple[str, str, str]

_SIGN = re.compile(r"§+\s*")
_BY_WORD = {"introduction": "introduc", "introductory": "introduc", "conclusion": "conclu", "conclusions": "conclu"}
_WORDS = re.compile(rf"\b(?:{'|'.join(_BY_WORD)}|appendix|appendices)\b", re.IGNORECASE)


def names_a_place(text: str) -> bool:
    """Whether a sentence names a section, equation, table, figure or appendix."""
    return bool(_labels(text) or _WORDS.search(text))


def named_chunks(text: str, paper: Paper, chunks: Chunks, room: int) -> list[Shown]:
    """The abstract and the places that a point names, as (id, heading, text), as far as they fit.

    The abstract comes first, then equations, tables and figures, then sections with what stands under them. Of a
    section that does not fit as a whole, the passages that share most words with the point are shown.

    Args:
        text: The point and the review's own words.
        paper: The paper.
        chunks: How it is cut.
        room: Most tokens of all of them together.
    """
    blocks = set(_named_blocks(text, paper))
    abstract = [section.id for section in paper.sections if section.role == "abstract"] or ["abstract"]
    choices = [
        *_of_sections(abstract, text, chunks),
        *((one.id, one.heading, one.text) for one in chunks.children if blocks & set(one.block_ids)),
        *_of_sections(list(_named_sections(text, paper)), text, chunks),
    ]
    shown: dict[str, Shown] = {}
    for choice in choices:
        size = count_tokens(choice[2])
        if size <= room and choice[0] not in shown and choice[0].rpartition(".")[0] not in shown:
            shown[choice[0]] = choice
            room -= size
    return list(shown.values())


def _labels(text: str) -> set[tuple[str, str]]:
    return labels_in(_SIGN.sub("Section ", text))


def _named_sections(text: str, paper: Paper) -> Iterator[str]:
    """The ids of named sections, each with those below it."""
    numbers = {number for kind, number in _labels(text) if kind in ("Section", "Appendix")}
    words = {_BY_WORD.get(found.group().casefold(), "appendix") for found in _WORDS.finditer(text)}
    level = 0
    for section in paper.sections:
        if section.role not in ("content", "appendix"):
            continue
        if _is_named(section, numbers, words, text):
            level = min(level, section.level) or section.level
        elif level and section.level <= level:
            level = 0
        if level:
            yield section.id


def _is_named(section: Section, numbers: set[str], words: set[str], text: str) -> bool:
    heading = section.heading.strip().casefold()
    lettered = re.match(r"appendix\s+([a-z])\b", heading)
    own = {(section.number or "").rstrip("."), lettered[1].upper() if lettered else ""} - {""}
    if own & numbers or any(heading.startswith(word) for word in words - {"appendix"}):
        return True
    if "appendix" in words and not numbers and section.role == "appendix":
        return True
    return bool(heading) and re.search(rf"\b{re.escape(heading)} section\b", text, re.IGNORECASE) is not None


def _named_blocks(text: str, paper: Paper) -> Iterator[str]:
    """The ids of the blocks that bear a named label; around an equation those that say what its signs mean."""
    wanted = _labels(text)
    for section in paper.sections if wanted else ():
        for place, block in enumerate(section.blocks):
            if wanted & set(_borne(block)):
                around = 1 if block.kind == "equation" else 0
                yield from (one.id for one in section.blocks[max(0, place - around) : place + around + 1])


def _borne(block: Block) -> Iterator[tuple[str, str]]:
    if block.kind == "equation":
        yield from (("Equation", number) for number in equation_numbers(block))
    yield from labels_in(block.label or "")


def _of_sections(ids: Sequence[str], text: str, chunks: Chunks) -> Iterator[Shown]:
    """Sections whole, then their passages by the words they share with the point."""
    about = set(stems(text))
    yield from ((one.id, one.heading, one.text) for one in chunks.parents if one.section_id in ids)
    children = [child for child in chunks.children if child.section_id in ids]
    children.sort(key=lambda child: -len(about & set(stems(child.text))))
    yield from ((child.id, child.heading, child.text) for child in children)
