"""The search of the literature inside a review: what is sent, what counts as earlier, and what is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from referee.api import review
from referee.errors import BudgetExceeded, RunError, SettingsError
from referee.literature.checking import Record
from referee.reports import render_review
from referee.schemas.review import Review
from referee.venues import load_venue
from tests.options import with_options
from tests.support import ChatRequest, FakeServer, Script
from tests.support.bibliography import Bibliography, Reply, Work

from .sections_paper import SEEDED, TIED, paper_text
from .sections_run import quick_settings
from .sections_script import VENUE

DAY = date(2021, 6, 30)
SHOWS = "We count lanterns on the harbour corpus with one encoder."
SAME = Work("Counting lanterns in harbours", 2020, (("Ada", "Lo"),), "10.1/same", abstract=f"{SHOWS} It works well.")
PART = Work(
    "Encoders with one seed",
    2019,
    (("Bo", "Li"),),
    arxiv="1901.00001",
    abstract="Every encoder is trained with one fixed seed. Results vary.",
    published="2019-01-02",
)
LATER = Work("Lanterns of the future", 2022, (("Cy", "Ma"),), "10.1/later", abstract="We count lanterns tomorrow.")
EARLIER_YEAR = SAME._replace(title="Lanterns of that year", doi="10.1/year", year=2021, published="2021-12-01")


def ids_in(request: ChatRequest) -> dict[str, str]:
    """Works of a prompt, title to id."""
    lines = [line for line in request.user.splitlines() if line.startswith("[L")]
    return {line.partition("] ")[2]: line[1:].partition("]")[0] for line in lines}


def reading(request: ChatRequest) -> Any:
    ids = ids_in(request)
    said = [
        (SAME.title, "k1", "same task and data", SHOWS, "harbour corpus"),
        (PART.title, "k1", "part of the claim", "Every encoder is trained with one fixed seed.", "one fixed seed"),
        (PART.title, "k2", "same task", "This sentence is in no abstract at all.", ""),
    ]
    return {
        "bearings": [
            {"work": ids[title], "claim": claim, "bearing": bearing, "sentence": sentence, "covers": covers}
            for title, claim, bearing, sentence, covers in said
            if title in ids
        ]
    }


def claims(request: ChatRequest) -> Any:
    return {
        "claims": [
            {"sentence": SEEDED, "words": "lanterns harbour encoder seed"},
            {"sentence": TIED, "words": "counting lanterns"},
            {"sentence": "We solve everything that was ever asked of anyone.", "words": "everything"},
        ]
    }


SCRIPT = Script({"literature/queries": claims, "literature/read": reading})


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Bibliography]:
    held = [SAME, PART, LATER, EARLIER_YEAR]
    with Bibliography(crossref=held, openalex=held, arxiv=held, semantic_scholar=held) as running:
        monkeypatch.setenv("REFEREE_CACHE_DIR", str(folder / "cache"))
        monkeypatch.setattr("referee.literature.asking.Services._rest", lambda self, seconds: None)
        yield running


def asking(services: Bibliography, **more: Any) -> Any:
    addresses = {f"citations.{name}": address for name, address in services.addresses.items()}
    own = {"review.strategy": "audited", "models.context_tokens": None, "citations.contact": "a@b.org"}
    return quick_settings(**{**own, **addresses, **more})


async def reviewed(server: FakeServer, folder: Path, *, text: str = "", **more: Any) -> Review:
    (folder / "paper.md").write_text(text or paper_text(3), encoding="utf-8")
    options: dict[str, Any] = {"venue": VENUE, "model": "m", "base_url": server.base_url, **more}
    options |= {} if "resume" in more else {"out": folder / "run"}
    return await review(folder / "paper.md", **with_options(**options))


async def searched(
    folder: Path, services: Bibliography | None, *, text: str = "", **more: Any
) -> tuple[Review, FakeServer]:
    if services is not None:
        more = {"settings": asking(services), "literature": "online", "as_of": DAY, **more}
    with FakeServer(SCRIPT, context_tokens=64_000) as server:
        return await reviewed(server, folder, text=text, **more), server


def found(review: Review) -> Any:
    assert review.literature is not None
    return review.literature


@pytest.mark.parametrize("strategy", ["audited", "single", "sections"])
async def test_comparisons_that_are_missing_are_points(folder: Path, services: Bibliography, strategy: str) -> None:
    review, server = await searched(folder, services, strategy=strategy)
    literature = found(review)
    assert {work.title for work in literature.works} == {SAME.title, PART.title}
    (missing,) = literature.missing_comparisons
    assert (missing.sentence, missing.covers) == (SHOWS, "harbour corpus")
    (point,) = [point for point in review.points if point.source == "literature"]
    assert (point.kind, point.outcome) == ("comparison", "printed")
    assert SAME.title in point.claim
    assert "10.1/same" in point.claim
    assert point.field is not None
    assert point.claim[:60] in str(review.fields[point.field])
    page = render_review(review, load_venue(VENUE))
    for words in (
        "Comparisons that may be missing",
        SHOWS,
        "The paper does not cite it.",
        "up to 2021-06-30 (as asked)",
    ):
        assert words in page, words
    assert "were not in the paper's own words" in page
    asked = [call.request for call in server.log.calls(endpoint="chat") if call.request is not None]
    shown = {request.prompt_id.partition("@")[0] for request in asked if SHOWS in request.user}
    whole = {"audited": ("single", "audit", "final"), "single": ("single",), "sections": ()}
    assert shown == {"literature/read", *(f"review/{name}" for name in whole[strategy])}


async def test_nothing_later_than_the_day_and_nobody_but_the_services(folder: Path, services: Bibliography) -> None:
    review, _ = await searched(folder, services)
    shown = review.model_dump_json() + render_review(review, load_venue(VENUE))
    assert LATER.title not in shown
    assert EARLIER_YEAR.title not in shown
    sent = " ".join(str(dict(one.given)) for one in services.asked)
    assert "a@b.org" in sent
    assert SEEDED not in sent, "claims are not sent, only the words to search by"


@pytest.mark.slow
async def test_scores_say_what_they_were_given_in_view_of(folder: Path, services: Bibliography) -> None:
    review, _ = await searched(folder, services)
    confidence = next(record for record in review.scores if record.field == "confidence")
    assert "a search of the literature found 2 work(s)" in confidence.reason
    limits = {record.limit for record in review.scores}
    assert not any("without a search" in limit for limit in limits)
    (folder / "other").mkdir()
    plain, _ = await searched(folder / "other", None)
    assert plain.literature is None
    assert "no literature was searched" in next(r for r in plain.scores if r.field == "confidence").reason


async def test_a_service_that_fails_is_named_and_the_others_are_searched(folder: Path, services: Bibliography) -> None:
    services.instead = {"crossref": [Reply(500)] * 50, "openalex": [Reply(401)] * 50}
    services.instead["semantic_scholar"] = [Reply(200, "<html>busy</html>")] * 50
    more = {"calls.max_tries": 1}
    review, _ = await searched(folder, services, settings=asking(services, **more))
    literature = found(review)
    assert [failure.split()[0] for failure in literature.failures] == ["crossref", "openalex", "semantic-scholar"]
    assert {work.source for work in literature.works} == {"arxiv"}


async def test_without_a_network_the_review_says_what_was_not_looked_up(folder: Path, services: Bibliography) -> None:
    services.__exit__(None, None, None)
    review, _ = await searched(folder, services)
    literature = found(review)
    assert literature.works == ()
    assert len(literature.failures) == 4
    assert all("cannot be reached" in failure for failure in literature.failures)
    assert "Not searched: arxiv cannot be reached" in render_review(review, load_venue(VENUE))


async def test_an_index_sends_nothing_and_without_a_day_every_hit_says_so(folder: Path, services: Bibliography) -> None:
    index = folder / "works.jsonl"
    rows = [Record(w.title, w.year, ("A B",), w.doi, "", w.arxiv, w.abstract, w.published) for w in (SAME, LATER)]
    index.write_text("".join(json.dumps(row._asdict()) + "\n" for row in rows), encoding="utf-8")
    review, _ = await searched(folder, None, literature=index, settings=asking(services))
    literature = found(review)
    assert literature.asked == ("works.jsonl",)
    assert {work.title for work in literature.works} == {SAME.title, LATER.title}
    assert "it may be later than the submission" in render_review(review, load_venue(VENUE))
    assert services.asked == []


async def test_references_are_looked_up_without_a_model(folder: Path, services: Bibliography) -> None:
    index = folder / "works.jsonl"
    index.write_text(
        json.dumps(Record("Deep counting of things", 2020, ("Ada Lo",))._asdict()) + "\n", encoding="utf-8"
    )

    text = paper_text(3) + "\n## References\n\n[1] Ada Lo. 2020. Deep counting of things. In Harbour Days.\n\n"
    text += "[2] Bo Li. 2019. A work that nobody lists anywhere at all. In Nowhere.\n"
    review, _ = await searched(folder, None, references=index, text=text, settings=asking(services))
    assert review.references is not None
    assert [entry.verdict for entry in review.references.entries] == ["verified", "not found"]
    page = render_review(review, load_venue(VENUE))
    assert "2 references: 1 verified, 1 not found. Asked: works.jsonl." in page
    assert "may exist all the same" in page


async def test_what_cited_works_say_is_printed_with_both_quotations(folder: Path, services: Bibliography) -> None:
    index = folder / "works.jsonl"
    listed = Record("Deep counting of things", 2020, ("Ada Lo",), abstract="Things are counted deeply in this work.")
    index.write_text(json.dumps(listed._asdict()) + "\n", encoding="utf-8")
    text = paper_text(3).replace(SEEDED, f"{SEEDED} Things are counted well [1].")
    text += "\n## References\n\n[1] Ada Lo. 2020. Deep counting of things. In Harbour Days.\n"
    said = {"id": "q1", "verdict": "supports", "quotation": "Things are counted deeply in this work."}
    script = Script({"literature/support": lambda request: {"citations": [said]}})
    with FakeServer(script, context_tokens=64_000) as server:
        settings = asking(services)
        review = await reviewed(server, folder, text=text, references=index, support=True, settings=settings)
    assert review.references is not None
    (one,) = review.references.support
    assert (one.sentence, one.verdict) == ("Things are counted well [1].", "supports")
    page = render_review(review, load_venue(VENUE))
    assert "Things are counted deeply in this work." in page
    assert "1 abstracts support the sentence that cites them" in page


async def test_a_model_that_cannot_name_claims_leaves_the_review(folder: Path, services: Bibliography) -> None:
    script = Script({"literature/queries": lambda request: {"claims": "none"}})
    with FakeServer(script, context_tokens=64_000) as server:
        review = await reviewed(server, folder, settings=asking(services), literature="online", as_of=DAY)
    assert "the search ended early" in found(review).failures[0]
    assert found(review).works == ()


async def test_what_cannot_go_together(folder: Path, services: Bibliography) -> None:
    with pytest.raises(SettingsError, match="goes with a search"):
        await searched(folder, None, as_of=DAY, settings=asking(services))
    with pytest.raises(SettingsError, match="contact address"):
        await searched(folder, services, settings=asking(services, **{"citations.contact": None}))
    with pytest.raises(SettingsError, match="looked-up references"):
        await searched(folder, None, support=True, settings=asking(services))


async def test_a_run_that_goes_on_searches_by_the_same_day(folder: Path, services: Bibliography) -> None:
    await searched(folder, services)
    with pytest.raises(RunError, match="last day of works"):
        await searched(folder, services, resume=folder / "run", as_of=date(2020, 1, 1))


async def test_a_resumed_run_is_given_the_answers_it_began_with(folder: Path, services: Bibliography) -> None:
    """A service that was down answers the second time: what the first start was told is in the run folder."""
    options: dict[str, Any] = {"settings": asking(services), "literature": "online", "as_of": DAY}
    with FakeServer(SCRIPT, context_tokens=64_000) as server:
        services.instead["openalex"] = [Reply(403)] * 99
        with pytest.raises(BudgetExceeded):
            await reviewed(server, folder, max_tokens=9_000, **options)
        before = len(server.log.calls(endpoint="chat"))
        assert before >= 2
        services.instead.clear()
        services.works["openalex"] = [Work("A new work on lanterns", 2018, (("Di", "Mo"),), "10.1/new", abstract=SHOWS)]
        review = await reviewed(server, folder, resume=folder / "run", max_tokens=10**7, **options)
        chats = [call.digest for call in server.log.calls(endpoint="chat")]
    assert len(set(chats)) == len(chats) > before
    assert {work.title for work in found(review).works} == {SAME.title, PART.title}
