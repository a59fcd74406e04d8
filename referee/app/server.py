"""The app's addresses: what each shows or changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from referee.app import pages
from referee.app.asking import parse_asked, safe_file_name
from referee.app.guard import FILES
from referee.app.history import DOWNLOADS, Run, run_of, runs_of
from referee.app.jobs import Jobs
from referee.app.live import events_of
from referee.app.uploads import bounded, keep
from referee.errors import DataError, RefereeError
from referee.papers.remote import parse_arxiv
from referee.reports.html import PAGE, STATIC
from referee.settings import Settings

STATIC_ADDRESS = "/static"


@dataclass(frozen=True)
class Place:
    """What the app works on.

    Attributes:
        jobs: The work and its folder.
        settings: Those in force.
        papers: Folders under which papers may be named by their path; none where others than this machine can ask.
    """

    jobs: Jobs
    settings: Settings
    papers: tuple[Path, ...] = ()


def build_app(place: Place) -> Starlette:
    """The app without its guard."""

    @asynccontextmanager
    async def working(app: Starlette) -> AsyncIterator[None]:
        place.jobs.plan_unread()
        try:
            yield
        finally:
            await place.jobs.aclose()

    views = _Views(place)
    return Starlette(
        routes=[
            Route("/", views.home),
            Route("/runs", views.new, methods=["POST"]),
            Route("/compare", views.compare),
            Route("/runs/{name}", views.run),
            Route("/runs/{name}/events", views.events),
            Route("/runs/{name}/report", views.report),
            Route("/runs/{name}/pages/{file}", views.picture),
            Route("/runs/{name}/files/{file}", views.file),
            Route("/runs/{name}/{change}", views.change, methods=["POST"]),
            Mount(STATIC_ADDRESS, StaticFiles(directory=STATIC)),
        ],
        exception_handlers={HTTPException: _said, RefereeError: _refused, ClientDisconnect: _gone},  # type: ignore[dict-item]
        lifespan=working,
    )


class _Views:
    """The app's pages. Those that read folders are plain functions, which are run in threads and hold nobody up."""

    def __init__(self, place: Place) -> None:
        self._place, self._jobs = place, place.jobs

    def home(self, request: Request) -> Response:
        words = request.query_params.get("q", "")
        return HTMLResponse(
            pages.home(runs_of(self._jobs, words), self._place.settings, bool(self._place.papers), words)
        )

    async def new(self, request: Request) -> Response:
        """Take in a paper; nothing is sent to a model before the estimate was seen."""
        most = self._place.settings.paper.max_bytes
        async with bounded(request, most).form(max_files=1, max_fields=20, max_part_size=64 * 1024) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            upload = form.get("upload")
            file = upload if isinstance(upload, UploadFile) and upload.filename else None
            paper = safe_file_name(file.filename or "") if file else self._named(fields)
            asked = parse_asked(fields, paper)
            name = self._jobs.new(paper, asked.venue)
            if file is not None:
                kept = self._jobs.folder(name) / "paper" / paper  # its name may be that of a file of the job
                kept.parent.mkdir()
                await keep(file, kept)
                asked = asked.model_copy(update={"paper": str(kept.absolute())})
        self._jobs.plan(name, asked)
        return _to(name)

    def run(self, request: Request) -> Response:
        return HTMLResponse(pages.run(self._run(request), self._jobs.root))

    async def events(self, request: Request) -> Response:
        run = self._run(request)
        return StreamingResponse(events_of(self._jobs, run.name), media_type="text/event-stream")

    def report(self, request: Request) -> Response:
        run = self._run(request)
        folder = self._jobs.root / run.name
        if not run.page:
            return _to(run.name)
        if run.command == "review":
            return HTMLResponse(pages.review(folder, run.name, STATIC_ADDRESS))
        return FileResponse(folder / PAGE, headers={"content-security-policy": FILES})

    def picture(self, request: Request) -> Response:
        file = request.path_params["file"]
        path = self._jobs.root / self._run(request).name / "pages" / file
        if not file.endswith(".webp") or not path.is_file():
            raise HTTPException(404, "There is no such picture.")
        return FileResponse(path, headers={"cache-control": "private, max-age=3600"})

    def file(self, request: Request) -> Response:
        run, file = self._run(request), request.path_params["file"]
        if file not in DOWNLOADS or file not in run.files:
            raise HTTPException(404, f"Run {run.name!r} has no such file to take away.")
        return FileResponse(
            self._jobs.root / run.name / file, filename=file, headers={"content-security-policy": FILES}
        )

    def compare(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        if len(names) != 2:
            raise HTTPException(400, "Choose two finished reviews to compare.")
        two = [self._known(name) for name in names]
        for run in two:
            if not (run.page and run.command == "review"):
                raise HTTPException(400, f"Run {run.name!r} is no finished review.")
        return HTMLResponse(pages.compare([(run, self._jobs.root / run.name) for run in two]))

    async def change(self, request: Request) -> Response:
        run, change = self._run(request), request.path_params["change"]
        async with bounded(request, 0).form(max_files=0, max_fields=4, max_part_size=1024) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
        if change in ("stop", "stop-now"):
            self._jobs.stop(run.name, now=change == "stop-now")
        elif change == "start" and run.state == "planned":
            self._jobs.start(run.name)
        elif change == "start" and run.resumable and run.record is not None:
            self._jobs.start(run.name, **_limits(fields))
        elif change == "read" and run.record is None and run.asked is not None:
            self._jobs.plan_again(run.name, run.asked)
        elif change == "discard":
            self._jobs.discard(run.name)
            return RedirectResponse("/", 303)
        else:
            raise HTTPException(409, f"That cannot be done now: run {run.name!r} {run.words}.")
        return _to(run.name)

    def _named(self, fields: dict[str, str]) -> str:
        """The paper that a form names without sending it: an arXiv id, or a path under the folders for that."""
        arxiv, path = fields.get("arxiv", "").strip(), fields.get("path", "").strip()
        if arxiv:
            if parse_arxiv(arxiv) is None:
                raise DataError(f"{arxiv[:80]!r} is no arXiv id.", hint="An id looks like 2301.00001 or 2301.00001v2.")
            return arxiv
        if not path:
            raise DataError("no paper is named.", hint="Choose a file, or give an arXiv id.")
        for folder in self._place.papers:
            found = (folder / path).resolve()
            if found.is_relative_to(folder.resolve()) and found.exists():
                return str(found)
        allowed = ", ".join(map(repr, map(str, self._place.papers))) or "none: start the app with --papers FOLDER"
        raise DataError(f"no paper lies at {path[:200]!r} under the folders of this app ({allowed}).")

    def _run(self, request: Request) -> Run:
        return self._known(request.path_params["name"])

    def _known(self, name: str) -> Run:
        run = run_of(self._jobs, name)
        if run is None:
            raise HTTPException(404, f"There is no run {name[:200]!r} in {str(self._jobs.root)!r}.")
        return run


def _limits(fields: dict[str, str]) -> dict[str, Any]:
    """Limits to go on with; what is left empty stays as it was."""
    kinds: dict[str, Callable[[str], float]] = {"max_cost": float, "max_tokens": int}
    try:
        return {name: kind(value) for name, kind in kinds.items() if (value := fields.get(name, "").strip())}
    except ValueError as error:
        raise DataError("a limit is no number.", hint="Give US dollars as 0.50, and tokens as 200000.") from error


def _to(name: str) -> Response:
    from urllib.parse import quote

    return RedirectResponse(f"/runs/{quote(name)}", HTTPStatus.SEE_OTHER)


async def _said(request: Request, error: HTTPException) -> Response:
    return HTMLResponse(pages.message(error.detail), error.status_code, headers=error.headers)


async def _refused(request: Request, error: RefereeError) -> Response:
    return HTMLResponse(pages.message(error.message, error.hint or ""), HTTPStatus.BAD_REQUEST)


async def _gone(request: Request, error: ClientDisconnect) -> Response:
    """An upload that ended in the middle, with nobody left to tell; nothing of it was kept."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)
