"""``referee profile --citations online`` against servers that speak as Crossref, OpenAlex and DBLP do."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from referee.evals.behaviour import Citation
from referee.literature.checking import Checked, check_citation
from referee.literature.online import Addresses, OnlineResolver, online_resolver
from tests.support.bibliography import Bibliography, Reply, Work

from .command import Referee
from .refusals import assert_refused

ATTENTION = Work("Attention Is All You Need", 2017, (("Ashish", "Vaswani"), ("Noam", "Shazeer")), "10.48550/arxiv.1706")
DEEP = Work("Deep Residual Learning for Image Recognition", 2016, (("Kaiming", "He"),), "10.1109/cvpr.2016.90")
BERT = Work("BERT: Pre-training of Deep Bidirectional Transformers", 2019, (("Jacob", "Devlin"),), "10.1/bert")
SYNTAX = Work("Syntax & Semantics AND Other “Things” in <i>Networks</i>", 2020, (("Zoë", "Müller"),))
CITING = (
    'It misses Vaswani, A., & Shazeer, N. (2017). Attention is all you need. NeurIPS, 30. and [3] K. He et al., "Deep '
    'residual learning for image recognition," in CVPR, 2016, pp. 1-9. Nobody, N. (2011). A title that nobody ever '
    "wrote in any language. Journal of None."
)


@pytest.fixture
def services() -> Iterator[Bibliography]:
    with Bibliography(crossref=[ATTENTION], openalex=[DEEP], dblp=[DEEP, BERT]) as running:
        yield running


CLASSIC = ("crossref", "openalex", "dblp")


class Clock:
    """Time that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def asking(services: Bibliography, folder: Path, clock: Clock | None = None, **options: Any) -> OnlineResolver:
    clock = clock or Clock()
    key = options.pop("openalex_key", "")
    options = {"clock": lambda: clock.now, "sleep": clock.sleep, **options}
    addresses = Addresses("a@b.org", openalex_key=key, **services.addresses)
    return online_resolver(addresses, folder, CLASSIC, **options)[0]


def cited(work: Work, **changed: Any) -> Citation:
    title, year = changed.pop("title", work.title), changed.pop("year", work.year)
    return Citation("apa", title, work.authors[0][1], work.authors[0][1], title, year, 0, **changed)


def looked_up(services: Bibliography, folder: Path, citation: Citation, **options: Any) -> Checked:
    with asking(services, folder, **options) as resolver:
        return check_citation(citation, resolver)


def review(number: int, text: str) -> dict[str, Any]:
    about = {"review_id": f"r{number}", "paper_id": "p1", "venue": "iclr-2024", "year": 2024, "source": "human"}
    return {**about, "kind": "human", "rating": 6, "review": text}


def profile_of(
    referee: Referee, services: Bibliography, folder: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> Any:
    for name, address in services.addresses.items():
        monkeypatch.setenv(f"REFEREE_CITATIONS__{name.upper()}", address)
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("OPENALEX_API_KEY", "key-for-openalex-alone")
    given = folder / "reviews.jsonl"
    given.write_text("".join(json.dumps(review(n, CITING)) + "\n" for n in (1, 2)), encoding="utf-8")
    return referee("profile", given, "--citations", "online", "--contact", "a@b.org", "--no-atomic", "--out", out)


def test_the_whole_command_asks_politely_and_each_question_once(
    referee: Referee, services: Bibliography, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = profile_of(referee, services, workplace, monkeypatch, "out")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (workplace / "out" / "profile.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        by_year = {one["year"]: one for one in line["citations"]}
        assert {year: one["status"] for year, one in by_year.items()} == {
            2017: "verified",
            2016: "verified",
            2011: "not_found",
        }
        assert [by_year[year]["record"]["source"] for year in (2017, 2016)] == ["crossref", "openalex"]
        assert line["values"]["citations_verified"] == pytest.approx(2 / 3)
    with (workplace / "out" / "citations.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["verified"], row["not_found"], row["unresolved"]) == ("4", "2", "0")
    assert float(row["rate"]) == pytest.approx(2 / 3)
    assert "Formal citations" in (workplace / "out" / "report.html").read_text("utf-8")

    asked = services.asked
    assert [one.service for one in asked] == ["crossref"] * 2 + ["openalex", "crossref", "openalex", "dblp"]
    assert len({(one.service, *sorted(one.given.items())) for one in asked}) == len(asked)
    assert all(one.headers["User-Agent"] == "referee (mailto:a@b.org)" for one in asked)
    assert all(one.given["mailto"] == "a@b.org" for one in asked if one.service != "dblp")
    assert services.most_at_once == 1
    crossref = services.times("crossref")
    assert min(later - before for before, later in pairwise(crossref)) >= 0.3
    everything = "".join(str(one) for one in asked)
    assert "key-for-openalex-alone" not in everything
    assert "misses" not in everything

    again = profile_of(referee, services, workplace, monkeypatch, "again")
    assert again.code == 0, again.err
    assert len(services.asked) == len(asked), "a second run asks nothing that the first one asked"


def test_services_that_fail_leave_citations_unresolved_with_the_reason(
    referee: Referee, services: Bibliography, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.instead = {name: [Reply(403, "no")] * 9 for name in CLASSIC}
    done = profile_of(referee, services, workplace, monkeypatch, "out")
    assert done.code == 0, done.err
    found = [json.loads(line) for line in (workplace / "out" / "profile.jsonl").read_text("utf-8").splitlines()]
    for line in found:
        assert {one["status"] for one in line["citations"]} == {"unresolved"}
        assert all(
            "crossref refuses the question or the key (status 403)" in one["reason"] for one in line["citations"]
        )
        assert line["values"]["citations_verified"] is None
        assert "could be looked up" in line["reasons"]["citations_verified"]
    assert "citations could not be looked up: crossref refuses the question or the key (status 403)" in done.err
    assert "crossref: not asked any more" in done.err
    assert len(services.times("crossref")) == 3, "a service that fails three times in a row is left alone"
    assert not list((workplace / "cache" / "works").rglob("*.json"))


def test_a_contact_is_a_setting_too_and_addresses_must_be_some(
    referee: Referee, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = workplace / "reviews.jsonl"
    given.write_text(json.dumps(review(1, "Fine.")) + "\n", encoding="utf-8")
    assert_refused(referee("profile", given, "--citations", "online"), "--contact")
    assert_refused(referee("profile", given, "--citations", "online", "--contact", "me"), "no e-mail address")
    (workplace / "referee.toml").write_text('[citations]\ncontact = "a@b.org"\n', encoding="utf-8")
    assert referee("profile", given, "--citations", "online", "--no-atomic", "--out", "out").code == 0
    monkeypatch.setenv("REFEREE_CITATIONS__DBLP", "dblp.org")
    assert_refused(referee("profile", given, "--citations", "online"), "citations.dblp", "http://")


@pytest.mark.parametrize(
    ("citation", "status", "source"),
    [
        (cited(ATTENTION), "verified", "crossref"),
        (cited(DEEP), "verified", "openalex"),
        (cited(BERT), "verified", "dblp"),
        (cited(BERT, title="BERT: Pre-training of deep bidirectional transformers"), "verified", "dblp"),
        (cited(ATTENTION, title="Attention is what you need"), "ambiguous", "crossref"),
        (cited(ATTENTION, year=2012), "year_mismatch", "crossref"),
        (cited(DEEP, title="Deep residual learning for image segmentation"), "not_found", ""),
        (cited(Work("Attention Is All You Need", 2017, (("J.", "Smith"),))), "author_mismatch", "crossref"),
        (cited(DEEP, title="Wrongly typed", doi="10.1109/CVPR.2016.90"), "not_found", ""),
    ],
)
def test_what_the_services_list_decides(
    services: Bibliography, tmp_path: Path, citation: Citation, status: str, source: str
) -> None:
    checked = looked_up(services, tmp_path, citation)
    assert (checked.status, checked.record.source if checked.record else "") == (status, source)


def test_titles_with_marks_entities_and_words_that_mean_something_are_found(tmp_path: Path) -> None:
    for name in ("crossref", "openalex", "dblp"):
        with Bibliography(**{name: [SYNTAX]}) as services:
            wanted = cited(SYNTAX, title='Syntax & semantics AND other "things" in networks')
            assert looked_up(services, tmp_path / name, wanted).status == "verified", name


def test_a_subtitle_that_is_listed_apart_belongs_to_the_title(tmp_path: Path) -> None:
    apart = Work("Adam", 2015, (("Diederik", "Kingma"),), "10.1/adam", subtitle="A Method for Stochastic Optimization")
    with Bibliography(crossref=[apart]) as services:
        whole = cited(apart, title="Adam: A method for stochastic optimization")
        assert looked_up(services, tmp_path, whole).status == "verified"


def test_an_id_is_asked_for_first_and_may_be_unknown(services: Bibliography, tmp_path: Path) -> None:
    assert looked_up(services, tmp_path, cited(ATTENTION, doi=ATTENTION.doi)).status == "verified"
    assert [one.path for one in services.asked] == ["works/10.48550%2Farxiv.1706"]
    assert looked_up(services, tmp_path, cited(ATTENTION, year=2018, doi="10.1/none")).status == "verified"
    assert [one.path for one in services.asked[1:]] == ["works/10.1%2Fnone", "works"]


FAILING = {
    "too many": [Reply(429, "", {"Retry-After": "7"})] * 3,
    "too many for today": [Reply(429, '{"error": "Rate limit exceeded"}', {"Retry-After": "3600"})],
    "down": [Reply(503, "<html>Service Unavailable</html>", kind="text/html")] * 3,
    "no JSON": [Reply(200, "<!DOCTYPE html><title>dblp: too many requests</title>", kind="text/html")],
    "cut off": [Reply(200, '{"result": {"hits": ')],
    "another form": [Reply(200, '{"status": "failed", "message": [{"type": "x"}], "error": "Invalid"}')],
    "nested": [Reply(200, "[" * 200_000)],
    "elsewhere": [Reply(301, "", {"Location": "http://127.0.0.2:1/"})],
    "nowhere": [Reply(301, "", {"Location": "http://[::"})],
    "compressed": [Reply(200, "x", {"Content-Encoding": "br"})],
    "forbidden": [Reply(403, '{"error": "Forbidden"}')],
}


@pytest.mark.parametrize("service", ["crossref", "openalex", "dblp"])
@pytest.mark.parametrize("failure", FAILING)
def test_a_failure_never_says_that_a_work_does_not_exist(
    services: Bibliography, tmp_path: Path, service: str, failure: str
) -> None:
    services.instead = {service: list(FAILING[failure])}
    clock = Clock()
    nobody = cited(ATTENTION, title="A title that nobody ever wrote")
    checked = looked_up(services, tmp_path, nobody, clock=clock)
    assert checked.status == "unresolved"
    assert checked.reason.startswith(service)
    assert {one.service for one in services.asked} == {"crossref", "openalex", "dblp"}, "the others are asked"
    assert sum(clock.slept) < 20
    services.instead = {}
    assert looked_up(services, tmp_path, nobody).status == "not_found", "a failure is not kept"


def test_a_work_that_another_service_lists_is_verified_all_the_same(services: Bibliography, tmp_path: Path) -> None:
    services.instead = {"crossref": [Reply(500)] * 3, "openalex": [Reply(200, "{}")]}
    assert looked_up(services, tmp_path, cited(DEEP)).status == "verified"


def test_a_service_that_says_nothing_is_left_after_its_time(services: Bibliography, tmp_path: Path) -> None:
    services.hanging = {"crossref"}
    checked = looked_up(services, tmp_path, cited(BERT, title="Nothing like it anywhere"), timeout_s=2)
    assert (checked.status, checked.reason) == ("unresolved", "crossref did not answer within 2 seconds")
    assert looked_up(services, tmp_path, cited(BERT), timeout_s=2).status == "verified"


def test_waits_grow_and_those_asked_for_are_kept(services: Bibliography, tmp_path: Path) -> None:
    services.instead = {
        "crossref": [Reply(429, "", {"Retry-After": "7"}), Reply(503)],
        "dblp": [Reply(500), Reply(502)],
    }
    clock = Clock()
    assert looked_up(services, tmp_path, cited(BERT), clock=clock).status == "verified"
    assert clock.slept == [pytest.approx(7), pytest.approx(4), pytest.approx(2), pytest.approx(4)]
    assert [one.service for one in services.asked] == ["crossref"] * 3 + ["openalex"] + ["dblp"] * 3


def test_a_merged_record_is_followed_on_the_same_host(services: Bibliography, tmp_path: Path) -> None:
    there = f"{services.address('openalex')}/works?search=deep&per_page=5"
    services.instead = {"openalex": [Reply(301, "", {"Location": there})]}
    checked = looked_up(services, tmp_path, cited(DEEP, doi=DEEP.doi))
    assert checked.status == "verified"
    assert [one.path for one in services.asked if one.service == "openalex"] == [
        "works/https://doi.org/10.1109/cvpr.2016.90",
        "works",
    ]


def test_a_question_that_failed_is_not_asked_again_in_the_same_run(services: Bibliography, tmp_path: Path) -> None:
    services.instead = {"crossref": [Reply(403)]}
    with asking(services, tmp_path) as resolver:
        first = check_citation(cited(BERT, title="Nothing like it"), resolver)
        assert check_citation(cited(BERT, title="Nothing like it!"), resolver) == Checked(
            cited(BERT, title="Nothing like it!"), "unresolved", reason=first.reason
        )
        assert check_citation(cited(ATTENTION), resolver).status == "verified", "other questions are"
        assert resolver.notes == ()
    assert len(services.times("crossref")) == 2


def test_a_wait_ends_where_the_resolver_is_closed(services: Bibliography, tmp_path: Path) -> None:
    services.instead = {name: [Reply(429, "", {"Retry-After": "50"})] * 3 for name in services.addresses}
    resolver = online_resolver(Addresses("a@b.org", **services.addresses), tmp_path, CLASSIC)[0]
    resolver.close()
    checked = check_citation(cited(BERT), resolver)
    assert checked.status == "unresolved"
    assert "the run was ended" in checked.reason
    assert services.asked == []
