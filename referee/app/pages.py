"""The app's pages from the same templates as the files in run folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from referee.api.resuming import begun_review
from referee.app.comparing import compared
from referee.app.history import LIVE, Run
from referee.llm.providers import PROVIDERS
from referee.llm.spec import LOCAL
from referee.reports.html import render
from referee.reports.review_page import stored_review_page
from referee.schemas.page import PageImage
from referee.settings import ReviewSettings, Settings
from referee.venues import list_venues, load_venue

_MODELS = tuple(form if form == LOCAL else f"{form}:" for one in PROVIDERS.values() for form in one.forms)
_STRATEGIES = get_args(ReviewSettings.model_fields["strategy"].annotation)


def home(runs: Sequence[Run], settings: Settings, paths: bool, words: str) -> str:
    """The form of a new review, and the runs.

    Args:
        runs: Those to show.
        settings: Those in force, which the form begins with.
        paths: Whether a paper may be named by its path.
        words: What the runs were searched by.
    """
    return _page(
        "app_home.html",
        runs=runs,
        words=words,
        venues=[(form.id, form.name) for form in list_venues()],
        models=_MODELS,
        model=settings.models.default,
        strategies=_STRATEGIES,
        strategy=settings.review.strategy,
        limits=settings.budget,
        paths=paths,
        most_bytes=settings.paper.max_bytes,
    )


def run(shown: Run, root: Path) -> str:
    """How a run stands, and what can be done with it."""
    place = root / shown.name
    return _page("app_run.html", run=shown, place=place, address=f"/runs/{quote(shown.name)}", live=shown.state in LIVE)


def review(folder: Path, name: str, static: str) -> str:
    """A finished review beside its paper; pictures, style and script have addresses of their own.

    Raises:
        RunError: A file of the run is damaged, or it does not name its venue.
        VenueError: The venue is not known here.
    """

    def picture(page: PageImage) -> str:
        return f"/runs/{quote(name)}/pages/{quote(page.image)}"

    return stored_review_page(folder, load_venue(begun_review(folder).venue), picture, static)


def compare(two: Iterable[tuple[Run, Path]]) -> str:
    """Two reviews side by side."""
    return _page("app_compare.html", **compared(list(two)))


def message(text: str, hint: str = "") -> str:
    """What went wrong, and the next step."""
    return _page("app_message.html", text=text, hint=hint)


def _page(template: str, **names: object) -> str:
    return render(template, styles=("app.css",), script="app.js", linked="/static", **names)
