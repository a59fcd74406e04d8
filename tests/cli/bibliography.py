"""Crossref, OpenAlex and DBLP on this machine: their paths, their parameters and the form of their answers.

The forms follow the services' own documentation: Crossref's ``work-list`` envelope with titles in lists and partial
dates, and its plain text for an unknown DOI; OpenAlex's ``meta`` and ``results``, whose search wants every word in
title or abstract; DBLP's ``result.hits``, in which a search without hits has no list, a single author is no list,
titles end in a full stop and hold entities, and whose throttle is an empty 429 with ``Retry-After``.
"""

from __future__ import annotations

import html
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit

from referee.literature.titles import normalised_title


class Work(NamedTuple):
    title: str
    year: int
    authors: tuple[tuple[str, str], ...]
    doi: str = ""
    subtitle: str = ""


@dataclass(frozen=True)
class Asked:
    """A request: the service, its path, its parameters, its headers, and when it came."""

    service: str
    path: str
    given: Mapping[str, str]
    headers: Mapping[str, str]
    at: float


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"


class Bibliography:
    """The three services under ``/crossref``, ``/openalex`` and ``/dblp``.

    ``works`` says what each lists. ``instead`` holds replies that a service gives before its own, ``hanging`` are
    services that say nothing until the end.
    """

    def __init__(self, **works: list[Work]) -> None:
        self.works = works
        self.asked: list[Asked] = []
        self.instead: dict[str, list[Reply]] = {}
        self.hanging: set[str] = set()
        self._ended = threading.Event()
        self._at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._take(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def address(self, service: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{service}"

    @property
    def addresses(self) -> dict[str, str]:
        return {name: self.address(name) for name in ("crossref", "openalex", "dblp")}

    def times(self, service: str) -> list[float]:
        return [one.at for one in self.asked if one.service == service]

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        service, _, path = parts.path.removeprefix("/").partition("/")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with self._lock:
            self.asked.append(Asked(service, path, given, dict(request.headers.items()), time.monotonic()))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            waiting = self.instead.get(service)
            reply = waiting.pop(0) if waiting else None
        if service in self.hanging:
            self._ended.wait(10)
        reply = reply or self._own[service](self.works.get(service, []), path, given)
        with self._lock:
            self._at_once -= 1
        body = reply.body.encode()
        request.send_response(reply.status)
        for name, value in {"Content-Type": reply.kind, "Content-Length": str(len(body)), **reply.headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    @property
    def _own(self) -> dict[str, Callable[[list[Work], str, Mapping[str, str]], Reply]]:
        return {"crossref": crossref, "openalex": openalex, "dblp": dblp}


def crossref(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """The REST API's ``/works`` and ``/works/DOI``; what shares a word is listed, the nearest first."""
    limits = {"X-Rate-Limit-Limit": "3", "X-Rate-Limit-Interval": "1s", "X-Api-Pool": "polite"}
    if path.startswith("works/"):
        doi = unquote(path.removeprefix("works/"))
        work = next((work for work in works if work.doi.lower() == doi.lower()), None)
        if work is None:
            return Reply(404, "Resource not found.", limits, "text/plain")
        return Reply(body=_envelope("work", _crossref_row(work)), headers=limits)
    wanted = words(given["query.bibliographic"])
    near = sorted((work for work in works if wanted & words(work.title)), key=lambda w: -len(wanted & words(w.title)))
    rows = [_crossref_row(work) for work in near[: int(given["rows"])]]
    listed = {
        "facets": {},
        "total-results": len(near),
        "items": rows,
        "items-per-page": int(given["rows"]),
        "query": {"start-index": 0, "search-terms": None},
    }
    return Reply(body=_envelope("work-list", listed), headers=limits)


def _crossref_row(work: Work) -> dict[str, Any]:
    return {
        "publisher": "A publisher",
        "DOI": work.doi,
        "type": "journal-article",
        "title": [work.title],
        **({"subtitle": [work.subtitle]} if work.subtitle else {}),
        "author": [{"given": g, "family": f, "sequence": "first", "affiliation": []} for g, f in work.authors],
        "container-title": ["A journal"],
        "issued": {"date-parts": [[work.year, 6, 1]]},
        "score": 31.4,
        "URL": f"https://doi.org/{work.doi}",
    }


def _envelope(kind: str, message: object) -> str:
    return json.dumps({"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message})


def openalex(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """``/works`` and ``/works/https://doi.org/DOI``."""
    if path.startswith("works/"):
        doi = path.removeprefix("works/https://doi.org/")
        work = next((work for work in works if work.doi.lower() == doi.lower()), None)
        return Reply(body=json.dumps(_openalex_row(work))) if work else Reply(404, '{"error": "Not Found"}')
    wanted = words(given["search"])
    found = [work for work in works if wanted <= words(work.title)][: int(given["per_page"])]
    meta = {"count": len(found), "db_response_time_ms": 9, "page": 1, "per_page": 5, "groups_count": None}
    return Reply(body=json.dumps({"meta": meta, "results": [_openalex_row(work) for work in found], "group_by": []}))


def _openalex_row(work: Work) -> dict[str, Any]:
    people = [
        {
            "author_position": "first",
            "author": {"id": "https://openalex.org/A1", "display_name": f"{given} {family}", "orcid": None},
            "institutions": [],
        }
        for given, family in work.authors
    ]
    return {
        "id": "https://openalex.org/W1",
        "doi": f"https://doi.org/{work.doi}" if work.doi else None,
        "title": work.title,
        "display_name": work.title,
        "publication_year": work.year,
        "type": "article",
        "authorships": people,
    }


def dblp(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """``/search/publ/api``: every word must begin a word of the title; a colon would name a field."""
    assert path == "search/publ/api"
    assert given["format"] == "json"
    wanted = given["q"].lower().split()
    found = [w for w in works if all(any(have.startswith(one) for have in words(w.title)) for one in wanted)]
    sent = found[: int(given["h"])]
    hits: dict[str, Any] = {"@total": str(len(found)), "@computed": str(len(found)), "@sent": str(len(sent))}
    if sent:
        hits |= {"@first": "0", "hit": [_dblp_hit(work) for work in sent]}
    result = {
        "query": given["q"],
        "status": {"@code": "200", "text": "OK"},
        "time": {"@unit": "msecs", "text": "2.93"},
        "completions": {"@total": "0", "@computed": "0", "@sent": "0"},
        "hits": hits,
    }
    return Reply(body=json.dumps({"result": result}))


def _dblp_hit(work: Work) -> dict[str, Any]:
    people = [{"@pid": "28/2391", "text": f"{given} {family} 0001"} for given, family in work.authors]
    info = {
        "authors": {"author": people if len(people) > 1 else people[0]},
        "title": html.escape(f"{work.title}."),
        "venue": "NeurIPS",
        "year": str(work.year),
        "type": "Conference and Workshop Papers",
        "key": "conf/nips/X",
        "ee": f"https://doi.org/{work.doi}",
        "url": "https://dblp.org/rec/conf/nips/X",
        **({"doi": work.doi} if work.doi else {}),
    }
    return {"@score": "5", "@id": "6425006", "info": info, "url": "URL#6425006"}


def words(text: str) -> set[str]:
    return set(normalised_title(text).split())
