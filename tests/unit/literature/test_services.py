"""Each service's questions and answers, against servers that speak their documented formats."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from referee.literature.asking import Services
from referee.literature.cache import AnswerCache
from referee.literature.checking import Record, Unresolved
from referee.literature.online import ALL, Addresses, OnlineResolver
from referee.literature.references import check_reference, cited_of
from referee.literature.services import Arxiv, Crossref, OpenAlex, Searched, SemanticScholar
from referee.schemas.paper import Reference
from tests.support.bibliography import Bibliography, Reply, Work

ADAM = Work(
    "Adam: A Method for Stochastic Optimization",
    2014,
    (("Diederik P.", "Kingma"), ("Jimmy", "Ba")),
    "10.48550/arxiv.1412.6980",
    arxiv="1412.6980",
    abstract="We introduce Adam, an algorithm for first-order <gradient> based optimization & more.",
    published="2014-12-22",
    retracted=True,
)
LATER = ADAM._replace(
    title="Adam reconsidered", doi="10.1/later", arxiv="2001.00001", published="2020-01-03", year=2020
)


@pytest.fixture
def services() -> Iterator[Bibliography]:
    held = [ADAM, LATER]
    with Bibliography(crossref=held, openalex=held, dblp=held, arxiv=held, semantic_scholar=held) as running:
        yield running


def unhurried(services: Bibliography, *names: str) -> Services:
    addresses = Addresses("a@b.org", **services.addresses)
    return Services(addresses.sources(names or ALL)[0], sleep=lambda seconds: None)


@pytest.mark.parametrize("name", ["crossref", "openalex", "arxiv", "semantic-scholar"])
def test_an_abstract_and_a_day_are_read_and_later_works_left_out(services: Bibliography, name: str) -> None:
    with unhurried(services, name) as asking:
        (source,) = asking.sources
        assert isinstance(source, Crossref | OpenAlex | Arxiv | SemanticScholar)
        searched: Searched = source
        found = asking.first(source, [searched.search("Adam optimization", date(2019, 12, 31), 5)], lambda _: False)
        every = asking.first(source, [searched.search("Adam optimization", None, 5)], lambda _: False)
    (record,) = found
    assert {one.title for one in every} == {ADAM.title, LATER.title}
    assert (record.title, record.year, record.published, record.source) == (ADAM.title, 2014, "2014-12-22", name)
    assert "first-order" in record.abstract
    assert "optimization & more." in record.abstract
    assert record.authors[0].endswith("Kingma")
    assert record.retracted == (name in ("crossref", "openalex"))


def test_an_arxiv_id_is_asked_for_by_id_without_its_version(services: Bibliography) -> None:
    cited = cited_of(Reference(id="r1", text="D. Kingma. 2014. Adam. arXiv:1412.6980", title="Adam", year=2014))
    with unhurried(services, "arxiv", "semantic-scholar") as asking:
        for source in asking.sources:
            (record,) = asking.first(source, source.addresses(cited)[:1], lambda _: True)
            assert (record.arxiv, record.title) == ("1412.6980", ADAM.title)
    assert [one.path for one in services.asked] == ["api/query", "graph/v1/paper/ARXIV:1412.6980"]


ERROR = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id</id>'
    "<title>Error</title><summary>incorrect id format for x</summary></entry></feed>"
)
BOMB = '<!DOCTYPE a [<!ENTITY b "cccc">]><feed xmlns="http://www.w3.org/2005/Atom"><entry><title>&b;</title></entry></feed>'


@pytest.mark.parametrize("body", ["Rate exceeded.", "<html/>", ERROR, "<feed/>"])
def test_what_is_no_answer_of_arxiv_says_nothing_of_a_work(services: Bibliography, body: str) -> None:
    services.instead = {"arxiv": [Reply(200, body, kind="text/xml")]}
    with unhurried(services, "arxiv") as asking, pytest.raises(Unresolved, match="arxiv answered in a form"):
        asking.first(asking.sources[0], [asking.sources[0].addresses(cited_of(Reference(id="r", text="")))[0]], bool)


def test_entities_of_a_feed_are_not_put_in() -> None:
    assert Arxiv().records(BOMB.encode()) == []


def test_a_search_of_semantic_scholar_without_hits_has_no_list() -> None:
    assert SemanticScholar().records(b'{"total": 0, "offset": 0}') == []
    assert SemanticScholar().records(b'{"message": "Too Many Requests"}') is None


def test_keys_go_in_a_header_to_their_own_service_alone(services: Bibliography) -> None:
    own, _ = Addresses("a@b.org", "alex", "scholar").sources()
    by_name = {source.id: source for source in own}
    assert by_name["semantic-scholar"].headers == {"x-api-key": "scholar"}
    assert all(not source.headers for name, source in by_name.items() if name != "semantic-scholar")
    mirrors, _ = Addresses("a@b.org", "alex", "scholar", **services.addresses).sources()
    assert not any(source.headers for source in mirrors)
    (asked,) = by_name["openalex"].addresses(cited_of(Reference(id="r", text="", title="A title of words")))
    assert parse_qs(urlsplit(asked).query)["api_key"] == ["alex"]


def test_a_retracted_work_is_told_and_the_last_services_are_asked_last(services: Bibliography, tmp_path: Path) -> None:
    entry = Reference(id="r1", text="", title=ADAM.title, year=2014, authors=("Kingma, D.",))
    services.works |= {"crossref": [], "openalex": [], "dblp": []}
    with OnlineResolver(unhurried(services), AnswerCache(tmp_path)) as online:
        checked = check_reference(entry, online)
    assert (checked.verdict, checked.record.source if checked.record else "") == ("verified", "arxiv")
    assert not checked.is_retracted, "arXiv does not say"
    services.works["crossref"] = [ADAM]
    with OnlineResolver(unhurried(services), AnswerCache(tmp_path / "other")) as online:
        assert check_reference(entry, online).is_retracted
    assert [one.service for one in services.asked] == ["crossref", "openalex", "dblp", "arxiv", "crossref"]


def test_a_kept_answer_keeps_abstract_day_and_retraction(tmp_path: Path) -> None:
    record = Record("Some title", 2020, ("A",), abstract="Words.", published="2020-02-03", retracted=True)
    AnswerCache(tmp_path).put("Some title", 2020, "crossref", [record], found=True)
    assert AnswerCache(tmp_path).get("Some title", 2020, "crossref") == [record]
