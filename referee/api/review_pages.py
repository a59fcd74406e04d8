"""``report.html`` of a review: paper and pages are kept in the run folder, so that it can be made again."""

from __future__ import annotations

from pathlib import Path

from referee.api.session import Session
from referee.errors import PaperParseError
from referee.papers.isolated import draw_pages
from referee.runs import Event
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm


async def write_page(run: Session, paper: Paper, file: Path | None, form: VenueForm) -> None:
    """Keep the paper, draw its pages where it is a PDF that is still there, and write the page.

    Pages that cannot be drawn are told, and the page shows the paper's text in their place.

    Raises:
        OSError: The run folder cannot be written.
    """
    from referee.reports.review_page import PAGES, PAGES_FILE, PAPER, write_review_page

    run.write(PAPER, paper.model_dump_json() + "\n")
    if file is not None and paper.format == "pdf":
        folder = run.path / PAGES
        folder.mkdir(exist_ok=True)
        run.progress(Event("stage", "drawing the paper's pages"))
        try:
            drawn = await draw_pages(file, folder, run.settings.paper)
        except PaperParseError as error:
            run.progress(Event("note", f"report.html shows the paper's text only: {error}"))
        else:
            run.write(f"{PAGES}/{PAGES_FILE}", drawn.model_dump_json() + "\n")
    write_review_page(run.path, form)
