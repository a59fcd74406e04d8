"""Crossref, OpenAlex, DBLP, arXiv and Semantic Scholar on this machine: paths, parameters and forms of answers.

The forms follow the services' own documentation: Crossref's ``work-list`` envelope with titles in lists and partial
dates, and its plain text for an unknown DOI; OpenAlex's ``meta`` and ``results``, whose search wants every word in
title or abstract, and whose abstracts are indexes of words; DBLP's ``result.hits``, in which a search without hits has
no list, a single author is no list, titles end in a full stop and hold entities, and whose throttle is an empty 429
with ``Retry-After``; arXiv's Atom feed, which answers a question that it cannot read by an entry named "Error";
Semantic Scholar's ``data``, which is missing where ``total`` is 0.
"""

from __future__ import annotations

import html
import json
import re
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
    """A work that a service lists; authors are given and family names, ``published`` a day as in 2017-06-12."""

    title: str
    year: int
    authors: tuple[tuple[str, str], ...]
    doi: str = ""
    subtitle: str = ""
    arxiv: str = ""
    abstract: str = ""
    published: str = ""
    retracted: bool = False

    @property
    def day(self) -> str:
        """The day it was published; of a year alone the first of June."""
        return self.published or f"{self.year}-06-01"


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
    """What a service answers instead of its own."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"


class Bibliography:
    """The services under ``/crossref``, ``/openalex``, ``/dblp``, ``/arxiv`` and ``/semantic_scholar``.

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
        """Where one answers."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{service}"

    @property
    def addresses(self) -> dict[str, str]:
        """Where each answers, by the names of the settings ``citations.NAME``."""
        return {name: self.address(name) for name in self._own}

    def times(self, service: str) -> list[float]:
        """When one was asked."""
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
            self._ended.wait(60)
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
        return {
            "crossref": crossref,
            "openalex": openalex,
            "dblp": dblp,
            "arxiv": arxiv,
            "semantic_scholar": semantic_scholar,
        }


def crossref(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """The REST API's ``/works`` and ``/works/DOI``; what shares a word is listed, the nearest first."""
    limits = {"X-Rate-Limit-Limit": "3", "X-Rate-Limit-Interval": "1s", "X-Api-Pool": "polite"}
    if path.startswith("works/"):
        doi = unquote(path.removeprefix("works/"))
        work = next((work for work in works if work.doi.lower() == doi.lower()), None)
        if work is None:
            return Reply(404, "Resource not found.", limits, "text/plain")
        return Reply(body=_envelope("work", _crossref_row(work)), headers=limits)
    kept = dict(one.split(":", 1) for one in given.get("filter", "").split(",") if one)
    near = _nearest(works, given["query.bibliographic"])
    near = [work for work in near if work.day <= kept.get("until-pub-date", work.day)]
    near = [work for work in near if work.abstract or "has-abstract" not in kept]
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
        "issued": {"date-parts": [[int(part) for part in work.day.split("-")]]},
        **({"abstract": f"<jats:p>{html.escape(work.abstract)}</jats:p>"} if work.abstract else {}),
        **({"updated-by": [{"DOI": "10.1/notice", "type": "retraction", "label": "R"}]} if work.retracted else {}),
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
    any_of = given["search"].split(" OR ")
    wanted = words(given["search"])
    kept = dict(one.split(":", 1) for one in given.get("filter", "").split(",") if one)
    if len(any_of) > 1:
        found = _nearest(works, " ".join(any_of))
    else:
        found = [work for work in works if wanted <= words(f"{work.title} {work.abstract}")]
    found = [work for work in found if work.day <= kept.get("to_publication_date", work.day)]
    found = [work for work in found if work.abstract or "has_abstract" not in kept][: int(given["per_page"])]
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
        "publication_date": work.day,
        "is_retracted": work.retracted,
        "abstract_inverted_index": _inverted(work.abstract),
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


def _inverted(abstract: str) -> dict[str, list[int]] | None:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(abstract.split()):
        places.setdefault(word, []).append(place)
    return places or None


def arxiv(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """``/api/query`` with ``id_list`` or ``search_query``; works without an arXiv id are not there."""
    assert path == "api/query"
    held = [work for work in works if work.arxiv]
    if "id_list" in given:
        found = [work for work in held if work.arxiv in given["id_list"].split(",")]
    elif phrase := _PHRASE.fullmatch(given["search_query"]):
        found = [work for work in held if words(phrase[1]) <= words(work.title)]
    else:
        wanted, _, days = given["search_query"].partition(" AND submittedDate:")
        last = _LAST_DAY.search(days)
        found = _nearest(held, wanted.replace("all:", " ").replace(" OR ", " "))
        found = [work for work in found if last is None or work.day.replace("-", "") <= last[1]]
    entries = "".join(_arxiv_entry(work) for work in found[: int(given.get("max_results", "10"))])
    head = f'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://arxiv.org/api/query"/><title>{path}</title>'
    return Reply(body=f'<?xml version="1.0" encoding="UTF-8"?>{head}{entries}</feed>', kind="application/atom+xml")


_PHRASE = re.compile(r'ti:"(.*)"')
_LAST_DAY = re.compile(r"TO (\d{8})")


def _arxiv_entry(work: Work) -> str:
    people = "".join(f"<author><name>{html.escape(f'{g} {f}')}</name></author>" for g, f in work.authors)
    doi = f'<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">{work.doi}</arxiv:doi>' if work.doi else ""
    broken = html.escape(work.title).replace(": ", ":\n  ")
    return (
        f"<entry><id>http://arxiv.org/abs/{work.arxiv}v2</id><published>{work.day}T17:57:34Z</published>"
        f"<title>{broken}</title><summary> {html.escape(work.abstract)}\n</summary>{people}{doi}</entry>"
    )


def semantic_scholar(works: list[Work], path: str, given: Mapping[str, str]) -> Reply:
    """``/graph/v1/paper/search`` and ``/graph/v1/paper/ID``."""
    name = unquote(path).removeprefix("graph/v1/paper/")
    if name != "search":
        ids = {f"DOI:{work.doi.lower()}": work for work in works} | {f"ARXIV:{work.arxiv}": work for work in works}
        work = ids.get(name)
        return Reply(body=json.dumps(_scholar_row(work))) if work else Reply(404, '{"error": "Paper not found"}')
    last = given.get("publicationDateOrYear", "").removeprefix(":")
    found = [work for work in _nearest(works, given["query"]) if not last or work.day <= last]
    if not found:
        return Reply(body='{"total": 0, "offset": 0}')
    rows = [_scholar_row(work) for work in found[: int(given["limit"])]]
    return Reply(body=json.dumps({"total": len(found), "offset": 0, "data": rows}))


def _scholar_row(work: Work) -> dict[str, Any]:
    ids = {name: value for name, value in (("DOI", work.doi), ("ArXiv", work.arxiv)) if value}
    return {
        "paperId": "0" * 40,
        "externalIds": ids,
        "title": work.title,
        "abstract": work.abstract or None,
        "year": work.year,
        "publicationDate": work.published or None,
        "authors": [{"authorId": "1", "name": f"{given} {family}"} for given, family in work.authors],
    }


def _nearest(works: list[Work], question: str) -> list[Work]:
    """Works that share a word with the question in title or abstract, most words first."""
    wanted = words(question)
    shared = [(len(wanted & words(f"{work.title} {work.abstract}")), work) for work in works]
    return [work for count, work in sorted(shared, key=lambda pair: -pair[0]) if count]


def words(text: str) -> set[str]:
    """The words of a text, as the services compare them."""
    return set(normalised_title(text).split())
