"""Sentences that cite a work, by printed label and by author and year; and what abstracts say of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.agents.support_judge import BATCH, CitedAbstract, judge_support
from referee.api.lookups import Lookup
from referee.api.outside import _with_support
from referee.literature.checking import Record, Unresolved
from referee.literature.citing import citing_sentences
from referee.literature.index import WorkIndex
from referee.literature.references import abstract_of, check_reference
from referee.llm.door import Answer
from referee.papers import load_paper
from referee.schemas.literature import References
from referee.schemas.usage import Usage
from referee.settings import Settings

BY_LABEL = """# A paper

## Introduction

Lanterns shine [1]. Boats float [2, 3], as is known. Nets hold [1-3]. A year [2020] is no label, nor is [17].

## References

[1] Ada Lo. 2020. Lanterns and light in old harbours. In Harbour Days.

[2] Bo Li. 2019. Boats of the northern coast in winter. In Harbour Days.

[3] Cy Ma. 2018. Nets, knots and ropes for the fisher. In Harbour Days.
"""
BY_NAME = """# A paper

## Introduction

Lanterns shine (Lo et al., 2020). Müller and Li (2019a) say that boats float. In 2020 nothing happened. Lo was there.
Ma (2018) is two works here.

## References

Ada Lo and Di Po. 2020. Lanterns and light in old harbours. In Harbour Days.

Bo Müller and Ed Li. 2019. Boats of the northern coast in winter. In Harbour Days.

Cy Ma. 2018. Nets, knots and ropes for the fisher. In Harbour Days.

Cy Ma. 2018. Ropes and knots and other nets of mine. In Harbour Days.
"""


def cited(tmp_path: Path, text: str) -> list[list[str]]:
    (tmp_path / "paper.md").write_text(text, encoding="utf-8")
    paper = load_paper(tmp_path / "paper.md")
    found = citing_sentences(paper)
    return [[one.sentence for one in found.get(reference.id, ())] for reference in paper.references]


def test_labels_alone_in_lists_and_in_ranges(tmp_path: Path) -> None:
    boats, nets = "Boats float [2, 3], as is known.", "Nets hold [1-3]."
    assert cited(tmp_path, BY_LABEL) == [["Lanterns shine [1].", nets], [boats, nets], [boats, nets]]


def test_a_long_range_cites_where_both_its_ends_are_labels(tmp_path: Path) -> None:
    entries = "\n\n".join(f"[{n}] Ada Lo. 2020. Lanterns of harbour {n} and others. In Days." for n in range(1, 81))
    text = "# A paper\n\n## Introduction\n\nMany say so [3-70]. Values lie in [0-99].\n\n## References\n\n" + entries
    found = cited(tmp_path, text)
    assert [number for number, sentences in enumerate(found, start=1) if sentences] == list(range(3, 71))


def test_an_abstract_that_a_service_does_not_give_is_a_failure(tmp_path: Path) -> None:
    class Silent:
        def candidates(self, citation: object) -> list[Record]:
            raise Unresolved("crossref answered with status 500")

    (tmp_path / "paper.md").write_text(BY_LABEL, encoding="utf-8")
    (first, *_) = load_paper(tmp_path / "paper.md").references
    bare = Record("Lanterns and light in old harbours", 2020, ("Ada Lo",))
    with pytest.raises(Unresolved, match="status 500"):
        abstract_of(check_reference(first, WorkIndex([bare])), Silent())


async def test_abstracts_that_could_not_be_looked_up_are_counted_in_the_notes(tmp_path: Path) -> None:
    class Silent:
        def candidates(self, citation: object) -> list[Record]:
            raise Unresolved("crossref answered with status 500")

    (tmp_path / "paper.md").write_text(BY_LABEL, encoding="utf-8")
    paper = load_paper(tmp_path / "paper.md")
    bare = WorkIndex([Record("Lanterns and light in old harbours", 2020, ("Ada Lo",))])
    checked = [check_reference(reference, bare) for reference in paper.references]
    job: Any = SimpleNamespace(paper=paper, settings=Settings())
    door: Any = None
    run: Any = SimpleNamespace(path=tmp_path, write=lambda name, text: (tmp_path / name).write_text(text))
    found = await _with_support(References(asked="x", entries=()), checked, Lookup(Silent(), "x"), job, run, door)
    assert found.notes[-1] == "1 abstracts could not be looked up, the first as crossref answered with status 500"


def test_surname_and_year_and_nothing_where_two_share_both(tmp_path: Path) -> None:
    first, second, *same = cited(tmp_path, BY_NAME)
    assert first == ["Lanterns shine (Lo et al., 2020)."]
    assert second == ["Müller and Li (2019a) say that boats float."]
    assert same == [[], []]


def test_the_abstract_is_that_of_any_record_of_the_work(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text(BY_LABEL, encoding="utf-8")
    (first, *_) = load_paper(tmp_path / "paper.md").references
    bare = Record("Lanterns and light in old harbours", 2020, ("Ada Lo",))
    index = WorkIndex(
        [bare, bare._replace(year=2021, abstract="They shine."), bare._replace(year=1999, abstract="No.")]
    )
    assert abstract_of(check_reference(first, index), index) == "They shine."
    nobody = WorkIndex([bare._replace(title="Something else altogether")])
    assert abstract_of(check_reference(first, nobody), nobody) == ""


ABSTRACT = "Lanterns shine in every harbour. Nobody has counted them."
ITEM = CitedAbstract(7, "Lanterns shine [7].", "Introduction", 2, ABSTRACT)


class Saying:
    """A door whose model gives the same verdict on every citation, and counts how often it is asked."""

    def __init__(self, verdict: str, quotation: str) -> None:
        self.asked = 0
        self._said = {"verdict": verdict, "quotation": quotation}

    async def ask(self, prompt: Any, reply: Any, *, role: str, max_output_tokens: int, sample: int = 0) -> Answer[Any]:
        self.asked += 1
        ids = [line[1:-1] for line in prompt.user.splitlines() if line.startswith("[q")]
        return Answer(
            reply.model_validate({"citations": [{"id": name, **self._said} for name in ids]}), Usage(), "c", "m", ()
        )


async def test_twenty_a_call_and_each_once() -> None:
    door = Saying("supports", "Lanterns shine in every harbour.")
    judged = await judge_support([ITEM] * (BATCH + 1), door=door)
    assert (len(judged), door.asked) == (BATCH + 1, 2)
    assert {(one.verdict, one.quotation, one.number) for one in judged} == {
        ("supports", "Lanterns shine in every harbour.", 7)
    }


@given(
    st.sampled_from(["supports", "does not bear on it", "cannot tell"]),
    st.one_of(st.text(max_size=80), st.sampled_from(["lanterns SHINE in every harbour", "Lanterns are dark", ""])),
)
async def test_no_verdict_is_printed_without_the_abstracts_own_words(verdict: str, quotation: str) -> None:
    (one,) = await judge_support([ITEM], door=Saying(verdict, quotation))
    if one.verdict == "cannot tell":
        assert one.quotation == ""
    else:
        assert one.quotation.lower().rstrip(".") in ABSTRACT.lower()
        assert one.verdict == verdict
