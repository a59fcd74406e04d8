"""The services are played by a transport in this process; no test reaches a network."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.errors import EvaluationError
from referee.evals.behaviour import Citation
from referee.literature.asking import Services as Asking
from referee.literature.cache import AnswerCache
from referee.literature.checking import Record, check_citation
from referee.literature.online import Addresses, OnlineResolver, online_resolver
from referee.literature.services import Crossref, Dblp, OpenAlex

TITLE = "Attention is all you need"
CITED = Citation("apa", TITLE, "Vaswani, A.", "Vaswani", TITLE, 2017, 0)
WORK = {
    "title": ["Attention Is All You Need"],
    "issued": {"date-parts": [[2017, 6]]},
    "author": [{"family": "Vaswani", "given": "Ashish"}],
    "DOI": "10.1/ABC",
}
CROSSREF = {"message": {"items": [WORK]}}
ALEX = {
    "display_name": "Attention Is All You Need",
    "publication_year": 2017,
    "authorships": [{"author": {"display_name": "Ashish Vaswani"}}],
    "doi": "https://doi.org/10.1/abc",
}
DBLP = {
    "result": {
        "hits": {
            "hit": [
                {
                    "info": {
                        "title": "Attention is All you Need.",
                        "year": "2017",
                        "authors": {"author": {"text": "Ashish Vaswani 0001"}},
                    }
                }
            ]
        }
    }
}
CLASSIC = ("crossref", "openalex", "dblp")
Answer = Callable[[httpx.Request], httpx.Response]


class Services:
    """A transport that counts requests, and a clock that sleeping moves."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[httpx.URL] = []
        self.agents: set[str] = set()
        self.now = 100.0
        self.slept: list[float] = []
        self.transport = httpx.MockTransport(self._take)
        self._answer = answer

    def _take(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        self.agents.add(request.headers["User-Agent"])
        return self._answer(request)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def options(self) -> dict[str, Any]:
        return {"transport": self.transport, "clock": lambda: self.now, "sleep": self.sleep}


def sent(answer: object) -> bytes:
    return json.dumps(answer).encode()


def ok(body: object, **headers: str) -> httpx.Response:
    return httpx.Response(200, json=body, headers=headers)


def resolver(services: Services, folder: Path, **options: Any) -> OnlineResolver:
    return online_resolver(Addresses("a@b.org", **options), folder, CLASSIC, **services.options())[0]


def test_titles_of_which_a_service_may_list_more_are_counted(tmp_path: Path) -> None:
    def works(count: int) -> Services:
        items = [{**WORK, "title": [f"Attention of kind {n}"]} for n in range(count)]
        return Services(lambda request: ok({"message": {"items": items}}))

    for count, notes in ((4, 0), (5, 1)):
        sources, _ = Addresses("a@b.org").sources(("crossref",))
        services = works(count)
        asking = Asking(sources, **services.options())
        with OnlineResolver(asking, AnswerCache(tmp_path / str(count))) as online:
            check_citation(CITED, online)
            found = [note for note in online.notes if "may list more works like them than the first 5" in note]
            assert len(found) == notes


def test_the_first_source_that_knows_the_work_is_enough(tmp_path: Path) -> None:
    services = Services(lambda request: ok(CROSSREF))
    with resolver(services, tmp_path) as online:
        checked = check_citation(CITED, online)
        assert checked.status == "verified"
        assert checked.record == Record("Attention Is All You Need", 2017, ("Vaswani",), "10.1/abc", "crossref")
        assert check_citation(CITED, online).status == "verified"
    (url,) = services.asked
    assert url.host == "api.crossref.org"
    assert dict(url.params) == {"query.bibliographic": f"{TITLE} Vaswani", "rows": "5", "mailto": "a@b.org"}
    assert any("mailto:a@b.org" in agent for agent in services.agents)


def test_sources_are_asked_in_order_and_each_in_its_own_tongue(tmp_path: Path) -> None:
    answers = {"api.crossref.org": {"message": {"items": []}}, "api.openalex.org": {"results": []}, "dblp.org": DBLP}
    services = Services(lambda request: ok(answers[request.url.host]))
    with resolver(services, tmp_path, openalex_key="k") as online:
        checked = check_citation(CITED, online)
    assert [url.host for url in services.asked] == list(answers)
    assert services.asked[1].params["api_key"] == "k"
    assert checked.status == "verified"
    assert checked.record is not None
    assert (checked.record.source, checked.record.authors) == ("dblp", ("Ashish Vaswani",))


def test_without_a_key_openalex_is_left_out_on_the_record(tmp_path: Path) -> None:
    _, notes = online_resolver(Addresses("a@b.org"), tmp_path)
    assert notes == ("openalex: not asked, it needs an API key",)
    assert online_resolver(Addresses("a@b.org", openalex_key="k"), tmp_path)[1] == ()
    for bad in ("", "nobody", "a b@c", "@"):
        with pytest.raises(EvaluationError, match="e-mail"):
            online_resolver(Addresses(bad), tmp_path)


def test_ids_are_asked_for_before_titles() -> None:
    known = Citation("apa", TITLE, "Vaswani, A.", "Vaswani", TITLE, 2017, 0, doi="10.1/a b", arxiv="1706.03762")
    assert Crossref("a@b.org").addresses(known)[0].startswith("https://api.crossref.org/works/10.1%2Fa%20b?")
    no_doi = Citation("apa", TITLE, "Vaswani, A.", "Vaswani", TITLE, 2017, 0, arxiv="1706.03762")
    assert "/works/https://doi.org/10.48550/arxiv.1706.03762?" in OpenAlex("k").addresses(no_doi)[0]
    assert len(Crossref("a@b.org").addresses(CITED)) == len(OpenAlex("k").addresses(CITED)) == 1
    assert OpenAlex("k").records(sent(ALEX))[0] == Record(
        ALEX["display_name"], 2017, ("Ashish Vaswani",), "10.1/abc", "openalex"
    )  # type: ignore[arg-type]
    assert Crossref("a@b.org").records(sent({"message": WORK}))[0].doi == "10.1/abc"


@pytest.mark.parametrize(
    "answer",
    [None, [], {}, {"message": 3}, {"message": {"items": 1}}, {"results": {}}, {"result": {"hits": {"hit": 2}}}],
)
def test_an_answer_in_another_form_is_none(answer: object) -> None:
    for source in (Crossref("a@b.org"), OpenAlex("k"), Dblp()):
        assert source.records(sent(answer)) is None
    assert Dblp().records(sent({"result": {"status": {"@code": "500"}, "hits": {}}})) is None


def test_an_answer_without_works_holds_no_records() -> None:
    assert Crossref("a@b.org").records(sent({"message": {"items": [1, {}]}})) == []
    assert OpenAlex("k").records(sent({"results": [{"display_name": None}]})) == []
    assert Dblp().records(sent({"result": {"hits": {"@total": "0"}}})) == []
    assert Dblp().records(sent({"result": {"hits": {"hit": [2]}}})) == []


def test_an_unknown_date_is_no_year_and_others_are_looked_at() -> None:
    undated = {**WORK, "issued": {"date-parts": [[None]]}}
    for dates, year in (({}, None), ({"published-online": {"date-parts": [[2016, 1]]}}, 2016)):
        assert Crossref("a@b.org").records(sent({"message": {**undated, **dates}}))[0].year == year  # type: ignore[index]


def test_a_key_goes_to_the_address_of_openalex_alone(tmp_path: Path) -> None:
    services = Services(lambda request: ok({"results": []}))
    with resolver(services, tmp_path, openalex_key="k", openalex="https://mirror.example/oa") as online:
        assert check_citation(CITED, online).status == "unresolved"
    (asked,) = [url for url in services.asked if url.host == "mirror.example"]
    assert dict(asked.params) == {"search": TITLE.lower(), "per_page": "5", "mailto": "a@b.org"}


def test_requests_keep_their_distance_and_wait_when_told(tmp_path: Path) -> None:
    answers = iter(
        [
            httpx.Response(429, headers={"Retry-After": "7"}),
            httpx.Response(503),
            ok({"message": {"items": []}}),
            ok(DBLP),
        ]
    )
    services = Services(lambda request: next(answers))
    with resolver(services, tmp_path) as online:
        assert check_citation(CITED, online).status == "verified"
    assert services.slept == [pytest.approx(7), pytest.approx(4)]


def test_limits_in_headers_are_obeyed(tmp_path: Path) -> None:
    limits = {"X-Rate-Limit-Limit": "2", "X-Rate-Limit-Interval": "10s"}
    services = Services(lambda request: ok({"message": {"items": []}}, **limits))
    source = Crossref("a@b.org")
    with OnlineResolver(Asking([source], **services.options()), AnswerCache(tmp_path)) as online:
        for year in (2001, 2002, 2003):
            list(online.candidates(Citation("apa", TITLE, "V", "V", TITLE, year, 0)))
    assert services.slept == [pytest.approx(1 / 3), pytest.approx(5)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda request: httpx.Response(429, headers={"Retry-After": "600"}), "asks to wait 600"),
        (lambda request: httpx.Response(500), "status 500"),
        (lambda request: httpx.Response(403), "status 403"),
        (lambda request: httpx.Response(200, text="<html>"), "cannot be read"),
    ],
)
def test_what_cannot_be_asked_is_unresolved_and_not_stored(tmp_path: Path, answer: Answer, reason: str) -> None:
    services = Services(answer)
    with resolver(services, tmp_path) as online:
        checked = check_citation(CITED, online)
    assert checked.status == "unresolved"
    assert reason in checked.reason
    assert not list(tmp_path.rglob("*.json"))
    assert all(sum(url.host == host for url in services.asked) <= 3 for host in ("api.crossref.org", "dblp.org"))


def test_a_network_that_is_down_is_unresolved(tmp_path: Path) -> None:
    def down(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("secret address")

    with resolver(Services(down), tmp_path) as online:
        checked = check_citation(CITED, online)
    assert (checked.status, checked.reason) == (
        "unresolved",
        "crossref cannot be reached (ConnectError); dblp cannot be reached (ConnectError)",
    )


def test_an_unknown_id_is_no_error(tmp_path: Path) -> None:
    known = Citation("apa", TITLE, "Vaswani, A.", "Vaswani", TITLE, 2017, 0, doi="10.1/none")
    services = Services(lambda request: httpx.Response(404) if "/works/" in request.url.path else ok(CROSSREF))
    with resolver(services, tmp_path) as online:
        assert check_citation(known, online).status == "verified"
    assert len(services.asked) == 2


def test_answers_are_kept_and_useless_ones_for_a_month(tmp_path: Path) -> None:
    now = [0.0]
    cache = AnswerCache(tmp_path, now=lambda: now[0])
    record = Record("Some title", 2020, ("A",), "10.1/a", "dblp")
    assert cache.get("Some Title!", 2020, "dblp") is None
    cache.put("Some title", 2020, "dblp", [record], found=True)
    cache.put("Some title", 2020, "crossref", [], found=False)
    assert cache.get("Some Title!", 2020, "dblp") == [record]
    assert cache.get("Some title", 2020, "crossref") == []
    now[0] = 31 * 86_400
    assert cache.get("Some title", 2020, "dblp") == [record]
    assert cache.get("Some title", 2020, "crossref") is None
    (path,) = tmp_path.rglob("*.json")
    path.write_text(json.dumps([1]), encoding="utf-8")
    assert cache.get("Some title", 2020, "dblp") is None
