"""Human reviews of ICLR 2017 and ICLR 2026 measured in part, three or more a paper, each against the others."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from referee.agents.topics import MATCH_PROMPT as MATCH
from referee.agents.topics import render_match
from referee.evals.grouping import EXPERT, Rows
from referee.evals.table import build_table
from referee.schemas.case import ReviewCase

from .content_judge import SAYS, insights, sentences, shown
from .whole_sets import Ran, documented, measure, read

pytestmark = pytest.mark.shared_data

COMPARED = ("topic_coverage", "semantic_similarity")
JUDGED = ("constructiveness", "depth", "adherence")
SETS = {
    "iclr-2017": ("papers/iclr2017_abstract_reviews_decisions.jsonl", 186, 60),
    "iclr-2026": ("papers/iclr2026_abstract_reviews_rebuttals.jsonl", 416, 110),
}
# The paper of so many that is measured by what asks a judge.
EVERY = 4
GENERIC = (
    "This is an interesting paper on an important topic. The writing is clear and easy to follow. "
    "The authors should improve the presentation and discuss more of the literature. I look forward to the next one."
)


@pytest.fixture(scope="module", params=SETS)
def humans(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    name, reviews, papers = SETS[request.param]
    cases = read(shared_data / name, tmp_path_factory.mktemp("read"))
    assert (len(cases), len({case.paper_id for case in cases})) == (reviews, papers)
    assert {case.kind for case in cases} == {"human"}
    return cases


@pytest.fixture(scope="module")
def some(humans: list[ReviewCase]) -> list[ReviewCase]:
    measured = sorted({case.paper_id for case in humans})[::EVERY]
    return [case for case in humans if case.paper_id in measured]


@pytest.fixture(scope="module")
def covered(some: list[ReviewCase], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The human reviews with four texts a paper whose rank is known."""
    return measure([*some, *_known(some)], ["topic_coverage"], tmp_path_factory.mktemp("covered"))


@pytest.fixture(scope="module")
def compared(humans: list[ReviewCase], covered: Ran, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """By metric; similarity costs little, so that it has the whole set."""
    whole = measure([*humans, *_known(humans)], ["semantic_similarity"], tmp_path_factory.mktemp("similar"))
    return {"topic_coverage": covered, "semantic_similarity": whole}


@pytest.fixture(scope="module")
def judged(some: list[ReviewCase], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same reviews through the judged metrics; the judge is deaf to one paper's reviews in depth."""
    first = [case for case in some if case.paper_id == some[0].paper_id]

    def deaf(user: str) -> Any:
        return "I would rather not say." if any(case.text[:200] in user for case in first) else SAYS["eval/depth"](user)

    return measure(some, JUDGED, tmp_path_factory.mktemp("judged"), says={**SAYS, "eval/depth": deaf})


def _known(humans: list[ReviewCase]) -> list[ReviewCase]:
    """For each paper: a human review as it is, with its sentences shuffled, another paper's, and a generic one."""
    firsts = list({case.paper_id: case for case in reversed(humans)}.values())
    rng, known = random.Random(0), list[ReviewCase]()
    for place, case in enumerate(firsts):
        mixed = sentences(case.text)
        rng.shuffle(mixed)
        texts = {
            "copy": case.text,
            "shuffled": " ".join(mixed),
            "stranger": firsts[place - 1].text,
            "generic": GENERIC,
        }
        known += [
            ReviewCase(case_id=f"{case.paper_id}/{name}", paper_id=case.paper_id, source=name, kind="ai", text=text)
            for name, text in texts.items()
        ]
    return known


@pytest.mark.parametrize("metric", COMPARED)
def test_each_human_review_meets_all_others_of_its_paper_and_none_else(compared: dict[str, Ran], metric: str) -> None:
    ran = compared[metric]
    for case, result in zip(ran.cases, ran.of(metric), strict=True):
        met = [reference["case_id"] for reference in result.details["references"]]
        assert len(met) == len(set(met))
        assert set(met) == ran.humans(case)
        assert len(met) >= (2 if case.kind == "human" else 3)
    assert ran.statuses(metric) == (len(ran.cases), 0, 0)


def test_no_prompt_holds_topics_of_two_papers(covered: Ran) -> None:
    papers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for case, result in zip(covered.cases, covered.of("topic_coverage"), strict=True):
        topics = result.details["topics"]
        papers[_listed(render_match(topics, topics).user, "first")].add(case.paper_id)
    asked = covered.prompts(MATCH)
    assert asked
    for user in asked:
        first, second = (papers[_listed(user, tag)] for tag in ("first", "second"))
        assert first & second, "both lists are of reviews of one paper"


def _listed(user: str, tag: str) -> tuple[str, ...]:
    """The topics of a list as a prompt shows them."""
    return tuple(line.partition(": ")[2] for line in shown(tag, user).splitlines())


def test_coverage_takes_at_most_three_calls_a_pair_and_topics_once_a_run(covered: Ran) -> None:
    pairs = sum(len(covered.humans(case)) for case in covered.cases)
    by_prompt = Counter(prompt for prompt, _ in covered.asked)
    assert set(by_prompt) == {"eval/topics", "eval/match"}
    assert by_prompt["eval/topics"] <= len({case.text for case in covered.cases})
    assert by_prompt["eval/match"] <= pairs
    assert sum(by_prompt.values()) <= 3 * pairs
    matches = [r["matches"] for one in covered.of("topic_coverage") for r in one.details["references"]]
    assert all(len(made) == 1 for made in matches)
    orders = Counter(made[0]["order"] for made in matches)
    assert set(orders) == {"human_first", "review_first"}
    assert min(orders.values()) > 0.3 * sum(orders.values()), "both orders are asked, about as often"


@pytest.mark.parametrize(
    ("metric", "part"), [("topic_coverage", ""), ("topic_coverage", "f1"), ("semantic_similarity", "")]
)
def test_texts_of_known_rank_come_out_in_their_order(compared: dict[str, Ran], metric: str, part: str) -> None:
    ran = compared[metric]
    by_source: dict[str, dict[str, float]] = defaultdict(dict)
    for result in ran.of(metric):
        value = result.parts[part] if part else result.value
        assert value is not None
        by_source[result.source][result.paper_id] = value
    copy, shuffled, stranger, generic = (by_source[name] for name in ("copy", "shuffled", "stranger", "generic"))
    assert len(copy) == len({case.paper_id for case in ran.cases})
    means = [fmean(values.values()) for values in (copy, shuffled, stranger, generic)]
    # What is the same in other words comes close to the original; what is about something else, far behind.
    assert means[0] >= means[1] - 0.02
    assert min(means[:2]) > 1.3 * max(means[2:])
    for other in (stranger, generic):
        assert sum(copy[paper] > other[paper] for paper in copy) >= 0.97 * len(copy)


def test_a_review_against_itself_is_fully_covered_and_as_near_as_can_be(compared: dict[str, Ran]) -> None:
    for result in compared["semantic_similarity"].of("semantic_similarity"):
        if result.source == "copy":
            assert max(reference["cosine"] for reference in result.details["references"]) == pytest.approx(1)
    for result in compared["topic_coverage"].of("topic_coverage"):
        if result.source == "copy":
            own = result.details["topics"]
            (itself, *_) = [r for r in result.details["references"] if r["topics"] == own]
            strong = [max(column) for column in zip(*itself["matches"][0]["table"], strict=True)]
            assert sum(strength >= 2 for strength in strong) >= 0.9 * len(own)


def test_a_deaf_judge_fails_one_papers_reviews_and_touches_no_other(judged: Ran) -> None:
    first = {case.case_id for case in judged.cases if case.paper_id == judged.cases[0].paper_id}
    assert len(first) >= 3
    for result in judged.of("depth"):
        assert (result.status == "failed") == (result.case_id in first)
        assert (result.value is None) == (result.case_id in first)
    assert judged.statuses("depth") == (len(judged.cases) - len(first), 0, len(first))


def test_what_cannot_be_measured_is_counted_apart_from_what_is(judged: Ran) -> None:
    asked = dict(zip((case.case_id for case in judged.cases), judged.of("constructiveness"), strict=True))
    silent = {case.case_id for case in judged.cases if not _asks_for_something(case)}
    assert {name for name, result in asked.items() if result.status == "not_applicable"} == silent
    assert judged.statuses("constructiveness") == (len(asked) - len(silent), len(silent), 0)
    assert judged.statuses("adherence") == (len(asked), 0, 0)
    assert all(0 <= (one.value or 0) <= 1 for metric in JUDGED for one in judged.of(metric))
    assert len({one.value for one in judged.of("depth")}) > 5


def _asks_for_something(case: ReviewCase) -> bool:
    return bool(insights(f"<review>\n{case.text}\n</review>\nList its insights, 40 at most")["insights"])


@pytest.mark.parametrize(("metric", "prompt"), [("constructiveness", "insights"), ("depth", "depth")])
def test_the_documented_costs_are_those_of_iclr_2026(judged: Ran, metric: str, prompt: str) -> None:
    found = judged.cost(f"eval/{prompt}", reviews=len(judged.cases))
    deaf = sum(one.status == "failed" for one in judged.of(metric))
    # Equal reviews are asked about once; the deaf judge is asked for a repair twice.
    assert found[0] == pytest.approx(1 + 2 * deaf / len(judged.cases), abs=0.03)
    if judged.cases[0].venue == "iclr-2026":
        assert found == pytest.approx(documented(metric), rel=0.1), "a quarter of ICLR 2026"


def test_the_expert_row_counts_what_is_scored_only(judged: Ran) -> None:
    table = build_table(judged.results.values(), Rows(cases=judged.cases), JUDGED)
    (row,) = table.rows
    assert row.label == EXPERT
    for metric in JUDGED:
        cell, values = table.cells[row, metric], [one.value for one in judged.of(metric) if one.value is not None]
        assert (cell.scored, cell.not_applicable, cell.failed) == judged.statuses(metric)
        assert cell.mean == pytest.approx(fmean(values))
        assert cell.papers <= len({case.paper_id for case in judged.cases})
        assert cell.low is not None
        assert cell.high is not None
        assert cell.low < cell.mean < cell.high
