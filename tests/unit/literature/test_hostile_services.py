"""What a service may send: more than it was asked for, text that no encoding holds, redirects, and no end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.literature import searching
from referee.literature.asking import MOST_BYTES, Services
from referee.literature.cache import AnswerCache
from referee.literature.checking import Record, Unresolved
from referee.literature.online import Addresses, OnlineResolver
from referee.literature.references import check_reference
from referee.literature.searching import KeptSearch, OnlineSearch, each_once
from referee.runs.stopping import Stop, in_thread, stoppable
from referee.schemas.paper import Reference
from tests.support.bibliography import Bibliography, Reply

ENTRY = Reference(id="r1", text="", title="Adam: a method for stochastic optimization", year=2014, authors=("Kingma",))


@pytest.fixture
def services() -> Iterator[Bibliography]:
    with Bibliography(crossref=[], openalex=[], dblp=[], arxiv=[], semantic_scholar=[]) as running:
        yield running


def asking(services: Bibliography, *names: str) -> Services:
    addresses = Addresses("a@b.org", **services.addresses)
    return Services(addresses.sources(names)[0], sleep=lambda seconds: None, timeout_s=2)


def works(*titles: str, **more: Any) -> str:
    items = [{"DOI": f"10.1/{n}", "title": [title], "abstract": "Text.", **more} for n, title in enumerate(titles)]
    return json.dumps({"message": {"items": items}})


def test_rows_beyond_those_asked_for_are_left_out_before_any_work(services: Bibliography, tmp_path: Path) -> None:
    services.instead = {"crossref": [Reply(body=works(*(f"A study of {n} things" for n in range(5_000))))]}
    with asking(services, "crossref") as asked:
        found = OnlineSearch(asked, AnswerCache(tmp_path)).find(["things"], None, 10)
    assert len(found.records) == 10


@pytest.mark.slow
def test_the_work_on_records_does_not_grow_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(first: str, second: str) -> float:
        nonlocal compared
        compared += 1
        return 0.0

    monkeypatch.setattr(searching, "title_similarity", counted)
    rows = 2_000
    for title in ("A study of {} things as they are", "{} studies of things", "The same title"):
        compared = 0
        each_once(Record(title.format(n), 2020, doi=f"10.1/{n}") for n in range(rows))
        assert compared <= 40 * rows


def test_half_characters_are_replaced_where_an_answer_is_read(services: Bibliography, tmp_path: Path) -> None:
    title = '"Adam: a method for stochastic optimization \\ud800"'
    body = works("T", author=[{"family": "Kingma"}], issued={"date-parts": [[2014]]}).replace('"T"', title)
    services.instead = {"crossref": [Reply(body=body)] * 2}
    with asking(services, "crossref") as asked, OnlineResolver(asked, AnswerCache(tmp_path)) as online:
        checked = check_reference(ENTRY, online)
    assert checked.record is not None
    assert checked.record.title.endswith("\ufffd")
    kept = KeptSearch(OnlineSearch(asking(services, "crossref"), AnswerCache(tmp_path)), lambda: tmp_path / "kept.json")
    (record,) = kept.find(["adam"], None, 5).records
    assert record.title.endswith("\ufffd")


def test_fields_are_cut_to_what_a_work_has(services: Bibliography) -> None:
    services.instead = {"crossref": [Reply(body=works("T" * 1_000_000, issued={"date-parts": [[10**200]]}))]}
    with asking(services, "crossref") as asked:
        (record,) = asked.first(asked.sources[0], asked.sources[0].addresses(_Cited())[:1], bool)
    assert len(record.title) == 1_000
    assert record.year is None


class _Cited:
    title, surname, names, year, doi, arxiv = "T", "", (), None, "", ""


ODD = {
    "deep": Reply(body="[" * 300_000),
    "digits": Reply(body='{"message": {"items": [], "total": ' + "1" * 5_000 + "}}"),
    "constant": Reply(body='{"message": {"items": NaN}}'),
    "page": Reply(body="<html>Sign in</html>", kind="text/html"),
    "too large": Reply(body=works("T" * (MOST_BYTES + 1))),
    "another host": Reply(302, "", {"Location": "http://127.0.0.1:9/works"}),
    "endless redirects": Reply(302, "", {"Location": "/crossref/works?rows=5"}),
    "brotli": Reply(body="x", headers={"Content-Encoding": "br"}),
}


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD)
def test_an_odd_answer_leaves_the_citation_unresolved(services: Bibliography, reply: Reply) -> None:
    services.instead = {"crossref": [reply] * 20}
    with asking(services, "crossref") as asked, pytest.raises(Unresolved, match=r"^crossref "):
        asked.first(asked.sources[0], asked.sources[0].addresses(_Cited())[:1], bool)
    assert len(services.asked) <= 4


def test_a_stop_ends_a_question_and_what_was_not_found_is_not_kept(services: Bibliography, tmp_path: Path) -> None:
    services.hanging = {"crossref"}
    stop = Stop()
    with stoppable(stop):
        kept = KeptSearch(OnlineSearch(asking(services, "crossref"), AnswerCache(tmp_path)), lambda: tmp_path / "kept")
        stop.request()
        began = time.monotonic()
        found = kept.find(["things"], None, 5)
    assert time.monotonic() - began < 1.5
    assert "the run was ended" in found.failures[0]
    assert not (tmp_path / "kept").exists()


async def test_what_a_stop_cuts_short_is_not_handed_on() -> None:
    """A run that is being ended waits for its end, and does not go on with works that were not looked up."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stop = Stop(lambda: ended.set_result(None))
    with stoppable(stop):
        assert await in_thread(len, "abc") == 3
        async with stop.call():
            stop.request()
            asking = asyncio.ensure_future(in_thread(len, "abc"))
            await asyncio.wait([asking], timeout=0.1)
            assert not asking.done()
    await ended
    asking.cancel()
