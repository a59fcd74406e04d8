"""Reading one paper of a command, and the line that says what was read of it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from referee.papers.headings import role_by_name
from referee.papers.isolated import read_paper
from referee.runs import Event, Progress
from referee.schemas.paper import Paper
from referee.settings import PaperSettings

_SHOWN_TITLE = 150
_NUMBERED_SHARE = 0.8


async def read_and_tell(path: Path, bounds: PaperSettings, progress: Progress) -> Paper:
    """Read a paper in a process of its own and say what was read.

    Raises:
        PaperParseError: As ``read_paper``.
    """
    paper = await read_paper(path, bounds)
    progress(Event("note", what_was_read(paper)))
    return paper


def what_was_read(paper: Paper) -> str:
    """A paper's title and what was read of it, in numbers, and what was lost or taken out, in one line."""
    labels = {block.label for _, block in paper.blocks() if block.label}
    counts = [
        *([(paper.page_count, "page")] if paper.page_count else []),
        (sum(section.role in ("content", "appendix") for section in paper.sections), "section"),
        (sum(len(section.text.split()) for section in paper.content), "word"),
        (len(paper.references), "reference"),
        *((sum(label.startswith(kind) for label in labels), kind.lower()) for kind in ("Figure", "Table")),
    ]
    said = [", ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts)]
    said += _missing_references(paper)
    said += [f"taken out: {repair.before}" for repair in paper.repairs if repair.kind == "line_numbers"]
    said += [] if paper.abstract else ["no abstract was found"]
    abstracts = [section for section in paper.sections if role_by_name(section.heading) == "abstract"]
    said += [f"{len(abstracts)} abstracts: are these several papers?"] if len(abstracts) > 1 else []
    lost = [finding for finding in paper.findings if finding.kind in ("lost_text", "missing_page")]
    if much := [finding for finding in lost if finding.certainty != "low"]:
        pages = sorted({finding.page for finding in much if finding.page})
        where = f" on page{'' if len(pages) == 1 else 's'} {', '.join(map(str, pages))}" if pages else ""
        said.append(f"text was lost{where}")
    title = textwrap.shorten(paper.title, _SHOWN_TITLE, placeholder=" ...") or "a paper without a title"
    return f"Read {title!r}: {'; '.join(said)}."


def _missing_references(paper: Paper) -> list[str]:
    """What the numbers of the entries say of entries that were not found; nothing where no number is left out."""
    numbers = [int(one.label) for one in paper.references if one.label and one.label.isdecimal()]
    if len(numbers) < _NUMBERED_SHARE * len(paper.references):
        return []
    missing: list[tuple[int, int]] = []
    printed = last = 0
    for number in numbers:
        last = 0 if number <= last else last  # another list begins
        if number > last + 1:
            missing.append((last + 1, number - 1))
        printed, last = printed + number - last, number
    spans = [f"{first}" if first == end else f"{first} to {end}" for first, end in missing]
    verb = "is" if len(spans) == 1 and missing[0][0] == missing[0][1] else "are"
    found = f"{len(paper.references)} of about {printed + len(paper.references) - len(numbers)} references found"
    return [f"{found} ({', '.join(spans)} {verb} missing)"] if missing else []
