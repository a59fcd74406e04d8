"""Factual correctness on the eLife articles: full texts, the reviewers' own texts, one index a paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.data import PaperStore, read_papers
from referee.evidence import NotFound, QuotationIndex
from referee.graphs.factuality.verdicts import OUTCOMES
from referee.schemas.metric import MetricResult

from .content_judge import every
from .whole_sets import Ran, documented, measure, read

pytestmark = pytest.mark.shared_data

FILE = "papers/elife_fulltext_reviews.jsonl"


@pytest.fixture(scope="module")
def shelf(shared_data: Path) -> PaperStore:
    return read_papers(shared_data / FILE)


@pytest.fixture(scope="module")
def ran(shared_data: Path, shelf: PaperStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("REFEREE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        cases = read(shared_data / FILE, tmp_path_factory.mktemp("read"))
        yield measure(cases, ["factual_correctness"], tmp_path_factory.mktemp("run"), shelf=shelf)


def examined(result: MetricResult) -> list[dict[str, Any]]:
    return [point["examined"] for point in result.details["points"] if point["examined"]]


def test_editors_letters_are_left_out_where_there_are_reviewers(ran: Ran) -> None:
    by_paper: dict[str, list[str]] = {}
    for case in ran.cases:
        by_paper.setdefault(case.paper_id, []).append(case.extra["reviewer"])
    assert len(by_paper) == 7
    assert all(not ("letter" in reviewers and len(reviewers) > 1) for reviewers in by_paper.values())
    assert any(len(reviewers) > 1 for reviewers in by_paper.values())


def test_what_is_scored_and_what_is_not_follows_from_the_points(ran: Ran) -> None:
    assert sum(ran.statuses("factual_correctness")) == 13
    assert ran.statuses("factual_correctness")[0] >= 8
    assert ran.statuses("factual_correctness")[2] == 0
    for result in ran.of("factual_correctness"):
        counts = {kind: result.parts[kind] or 0 for kind in OUTCOMES}
        assert sum(counts.values()) == len(result.details["points"])
        decided = counts["valid"] + counts["invalid"]
        if result.status == "scored":
            assert result.value == pytest.approx(counts["valid"] / decided)
        else:
            assert (result.value, decided) == (None, 0)
    totals = Counter({kind: sum(r.parts[kind] or 0 for r in ran.of("factual_correctness")) for kind in OUTCOMES})
    assert all(totals[kind] > 0 for kind in ("valid", "invalid", "undecided", "not_checkable")), totals


def test_every_passage_and_quotation_is_of_the_reviews_own_paper(ran: Ran, shelf: PaperStore) -> None:
    quoted = 0
    for case, result in zip(ran.cases, ran.of("factual_correctness"), strict=True):
        paper = shelf.get(case.paper_id)
        assert paper is not None
        assert {one["paper_id"] for one in result.details["passages"].values()} <= {paper.paper_id}
        index = QuotationIndex(paper)
        quotes = [q["quote"] for one in examined(result) for answer in one["answers"] for q in answer["quotations"]]
        assert not any(isinstance(index.find(quote), NotFound) for quote in quotes)
        quoted += len(quotes)
    assert quoted > 50


def test_no_prompt_holds_passages_of_two_papers(ran: Ran, shelf: PaperStore) -> None:
    texts = {name: _squeezed(" ".join(s.text for s in paper.content)) for name, paper in _papers(shelf)}
    asked = ran.prompts("eval/answers")
    assert asked
    seen = Counter[str]()
    for user in asked:
        (paper,) = {_owner(passage, texts) for passage in every("passage", user).values()}
        seen[paper] += 1
    assert len(seen) == 7


def _papers(shelf: PaperStore) -> Iterator[tuple[str, Any]]:
    for name in shelf.ids():
        yield name, shelf.get(name)


def _owner(passage: str, texts: dict[str, str]) -> str:
    """The one paper that holds the middle of a passage; our own line of headings stands above it."""
    words = _squeezed(passage.partition("\n")[2] or passage)
    middle = words[len(words) // 2 :][:60]
    (owner,) = [name for name, text in texts.items() if middle in text]
    return owner


def _squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text.replace("‹", "<")).lower()


def test_calls_stay_within_four_and_two_a_sub_question(ran: Ran) -> None:
    by_prompt = Counter(prompt for prompt, _ in ran.asked)
    looked_at = [one for result in ran.of("factual_correctness") for one in examined(result)]
    for one in looked_at:
        asked = 1 + len([a for a in one["answers"] if a["call_id"]]) + len(one["votes"])
        assert asked <= 4 + 2 * len(one["asked"]["sub_questions"])
    assert by_prompt["eval/questions"] <= len(looked_at)
    assert by_prompt["eval/answers"] <= sum(len(one["asked"]["sub_questions"]) for one in looked_at)
    assert by_prompt["eval/rebuttal"] <= len(looked_at)
    splits = sum(len(result.details["split"]["call_ids"]) for result in ran.of("factual_correctness"))
    assert by_prompt["eval/points"] <= splits
    assert sum(result.usage.calls + result.usage.reused_calls for result in ran.of("factual_correctness")) >= len(
        ran.asked
    )


def test_the_documented_costs_are_those_of_these_reviews(ran: Ran) -> None:
    prompts = [f"eval/{name}" for name in ("points", "questions", "answers", "rebuttal")]
    found = ran.cost(*prompts, reviews=len(ran.cases))
    assert found == pytest.approx(documented("factual_correctness"), rel=0.1)
