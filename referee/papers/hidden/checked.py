"""The last look at a paper, whatever file it came from: signs that print nothing go, sentences to a model are named."""

from __future__ import annotations

from collections.abc import Iterator

from referee.papers.hidden.addresses import find_addresses
from referee.papers.hidden.characters import find_invisible, without_invisible
from referee.schemas.paper import Block, Finding, Paper, Section


def checked(paper: Paper) -> Paper:
    """The paper without signs that print nothing, with findings for them and for sentences that address a model."""
    found: list[Finding] = []
    title, abstract = _shown(paper.title, "the title", found), _shown(paper.abstract, "", found)
    sections = tuple(_section(section, found) for section in paper.sections)
    references = tuple(
        reference.model_copy(update={"text": _shown(reference.text, "the bibliography", found, reference.page)})
        for reference in paper.references
    )
    update = {"title": title, "abstract": abstract, "sections": sections, "references": references}
    cleaned = paper.model_copy(update=update)
    return cleaned.model_copy(update={"findings": (*paper.findings, *found, *find_addresses(cleaned))})


def _section(section: Section, found: list[Finding]) -> Section:
    if all(map(str.isascii, _texts(section))):
        return section
    where = f"section {section.heading!r}" if section.heading.isascii() else "a section"
    blocks = tuple(block for block in (_block(block, where, found) for block in section.blocks) if block is not None)
    heading = _shown(section.heading, "a heading", found)
    return section.model_copy(update={"heading": heading, "blocks": blocks})


def _texts(section: Section) -> Iterator[str]:
    yield section.heading
    for block in section.blocks:
        yield block.text
        for row in block.cells:
            yield from row


def _block(block: Block, where: str, found: list[Finding]) -> Block | None:
    """The block as it is seen; none where nothing of it is."""
    text = _shown(block.text, where, found, block.page)
    cells = tuple(tuple(without_invisible(cell) for cell in row) for row in block.cells)
    return block.model_copy(update={"text": text, "cells": cells}) if text.strip() else None


def _shown(text: str, where: str, found: list[Finding], page: int | None = None) -> str:
    """The text as it is seen; what is not, is added to the findings under the name of the place, if it has one."""
    if text.isascii():
        return text
    for one in find_invisible(text) if where else ():
        spelled = f": {one.text!r}" if one.text else ""
        found.append(
            Finding(
                kind="hidden_text",
                message=f"Signs that a reader cannot see stand in {where} ({one.what}){spelled}; they were left out.",
                certainty=one.certainty,
                page=page,
                text=one.text,
            )
        )
    return without_invisible(text)
