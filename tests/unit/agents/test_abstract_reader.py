"""Nothing that a model says of a work is printed but the work's own words, and no work but those it was given."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.agents.abstract_reader import read_abstracts
from referee.agents.literature_points import comparison_points, works_text
from referee.evidence.normalise import normalise
from referee.literature.checking import Record
from referee.literature.searching import each_once, has_title, surely_by
from referee.llm.door import Answer
from referee.reports.outside import bearing_line
from referee.schemas.literature import FoundWork, Literature, PaperClaim
from referee.schemas.usage import Usage

ABSTRACTS = ("Lanterns are counted by night. We use the harbour corpus.", "One seed is enough for every encoder.")
WORKS = tuple(
    FoundWork(id=f"L{n}", title=f"Work number {n} of a kind", year=2019 + n, doi=f"10.1/{n}", abstract=text)
    for n, text in enumerate(ABSTRACTS, start=1)
)
CLAIM = PaperClaim(id="k1", quote="We count lanterns on the harbour corpus.", section_id="s1", section="1", query="q")
BEARINGS = ("same task and data", "same task", "part of the claim")
words = st.one_of(
    st.text(max_size=60),
    st.sampled_from([*ABSTRACTS, "lanterns are COUNTED by night", "Smith et al. (2020) did it all before.", "seed is"]),
)
said = st.fixed_dictionaries(
    {
        "work": st.sampled_from(["L1", "L2"]),
        "claim": st.just("k1"),
        "bearing": st.sampled_from(BEARINGS),
        "sentence": words,
        "covers": words,
    }
)


class Saying:
    """A door whose model says this."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self._reply = reply

    async def ask(self, prompt: Any, reply: Any, *, role: str, max_output_tokens: int, sample: int = 0) -> Answer[Any]:
        return Answer(reply.model_validate(self._reply), Usage(), "c-1", "fake", ())


def printed(bearings: Any) -> str:
    literature = Literature(asked=("a",), claims=(CLAIM,), works=WORKS, bearings=bearings)
    points = [point.claim for point in comparison_points(literature)]
    return "\n".join([*points, works_text(literature), *(bearing_line(b, literature) for b in literature.bearings)])


@pytest.mark.slow
@given(st.lists(said, max_size=8))
async def test_only_words_of_the_abstracts_and_of_the_claim_are_printed(raised: list[dict[str, str]]) -> None:
    done = await read_abstracts([CLAIM], WORKS, door=Saying({"bearings": raised}))
    held = {work.id: normalise(work.abstract).text for work in WORKS}
    for bearing in done.found:
        assert normalise(bearing.sentence).text in held[bearing.work]
        assert normalise(bearing.covers).text in normalise(CLAIM.quote).text
    text = printed(done.found)
    assert "Smith" not in text
    assert len({(b.work, b.claim) for b in done.found}) == len(done.found)


def test_a_sentence_of_another_work_is_not_taken_for_its_own() -> None:
    import asyncio

    swapped = {"work": "L2", "claim": "k1", "bearing": BEARINGS[0], "sentence": ABSTRACTS[0], "covers": "lanterns"}
    done = asyncio.run(read_abstracts([CLAIM], WORKS, door=Saying({"bearings": [swapped]})))
    assert done.found == ()
    assert done.notes == ("1 remarks on works did not quote their abstracts and were left out",)


days = st.one_of(st.just(""), st.dates(date(2010, 1, 1), date(2030, 1, 1)).map(date.isoformat))


@given(days, st.one_of(st.none(), st.integers(2010, 2030)), st.dates(date(2010, 1, 1), date(2030, 1, 1)))
def test_nothing_that_may_be_later_counts_as_earlier(published: str, year: int | None, until: date) -> None:
    if surely_by(Record("A title", year, published=published), until):
        latest = date.fromisoformat(published) if published else date(year or 9999, 12, 31)
        assert latest <= until


def test_one_work_of_several_services_is_one_with_its_first_day() -> None:
    preprint = Record("A work: on things", 2019, ("A",), arxiv="1901.1", abstract="Text.", published="2019-01-02")
    printed_ = Record("A Work — on things", 2020, ("A",), doi="10.1/x", published="2020-05-01")
    (one,) = each_once([printed_, preprint])
    assert (one.doi, one.arxiv, one.published, one.year, one.abstract) == (
        "10.1/x",
        "1901.1",
        "2019-01-02",
        2019,
        "Text.",
    )
    assert has_title(one, "a work on things")


async def test_abstracts_of_which_only_the_beginning_is_read_are_counted() -> None:
    long = WORKS[0].model_copy(update={"abstract": "Lanterns are counted by night. " * 100})
    read = await read_abstracts([CLAIM], [long, WORKS[1]], door=Saying({"bearings": []}))
    assert read.notes == ("of 1 abstracts the first 2,500 characters were read",)
