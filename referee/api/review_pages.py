"""A review beside its paper: ``report.html``, made from what the run folder keeps, and a copy of the PDF with notes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypeAlias

from referee.api.session import Session
from referee.errors import PaperParseError
from referee.papers.isolated import annotate_copy, draw_pages
from referee.runs import Event
from referee.schemas.page import PageImages
from referee.schemas.paper import Paper
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm

ANNOTATED = "review.annotated.pdf"
Drawing: TypeAlias = "asyncio.Task[PageImages | None]"


def begin_drawing(run: Session, file: Path | None, paper: Paper) -> Drawing | None:
    """Draw the pages of a PDF while models are asked; None where there is no PDF."""
    return run.beside(_draw(run, file)) if file is not None and paper.format == "pdf" else None


async def write_page(
    run: Session, review: Review, paper: Paper, file: Path | None, form: VenueForm, drawing: Drawing | None
) -> None:
    """Keep the paper, mark a copy of its PDF once its pages are drawn, and write the page.

    Pages that cannot be drawn are told, and the page shows the paper's text in their place; so is a copy that cannot be
    marked. Each output is made by itself, as in ``Session.output``.
    """
    from referee.reports.html import PAGE
    from referee.reports.review_page import PAGES, PAPER, write_review_page

    with run.output(PAPER):
        run.write(PAPER, paper.model_dump_json() + "\n")
    if file is not None and drawing is not None:
        drawn = None
        with run.output(PAGES):
            drawn = await drawing
        if drawn is not None:
            with run.output(ANNOTATED):
                await _write_copy(run, review, file, drawn)
    with run.output(PAGE):
        write_review_page(run.path, form)


async def _draw(run: Session, file: Path) -> PageImages | None:
    """The paper's pages, drawn and kept; None, which is told, where they cannot be drawn."""
    from referee.reports.review_page import PAGES, PAGES_FILE

    folder = run.path / PAGES
    folder.mkdir(exist_ok=True)
    try:
        drawn = await draw_pages(file, folder, run.settings.paper)
    except PaperParseError as error:
        run.progress(Event("note", f"report.html shows the paper's text only: {error}"))
        return None
    run.write(f"{PAGES}/{PAGES_FILE}", drawn.model_dump_json() + "\n")
    return drawn


async def _write_copy(run: Session, review: Review, file: Path, pages: PageImages) -> None:
    from referee.reports.highlights import highlights_of

    highlights = highlights_of(review, pages)
    if not highlights.items:
        return
    try:
        await annotate_copy(file, run.path / ANNOTATED, highlights, run.settings.paper)
    except PaperParseError as error:
        run.progress(Event("note", f"{ANNOTATED} was not made: {error}"))
