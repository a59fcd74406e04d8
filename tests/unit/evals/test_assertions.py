"""The metric ``assertions``: what of a review is right and matters, with the paper before the judge."""

from __future__ import annotations

import re
from typing import Any

import pytest

from referee.agents.assertion_judge import SENTENCES
from referee.evals.judging import Panel
from referee.evals.metric import Context, Foreseeing, Known, Metric
from referee.evals.quality.assertions import METRIC, Assertion, Assertions, numbers_of
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Block, Converter, Paper, Section

from .judges_on_tests import INJECTIONS, never, panel_of, requests_to, review, shown

REVIEW = """The idea of a lantern that trims its own wick is simple.
Table 2 rests on a single seed.
The gain of 0.3 points may well be noise.
The paper uses no control lamp at all.
As said, all results come from one seed.
"""
BODY = "We compare the lantern with a control lamp of the same make. All results come from one seed."


def paper_of(*texts: str) -> Paper:
    blocks = [Block(id=f"b{n}", kind="paragraph", text=text) for n, text in enumerate(texts, start=1)]
    sections = tuple(
        Section(id=f"s{n}", heading=f"Part {n}", level=1, blocks=(block,)) for n, block in enumerate(blocks, start=1)
    )
    return Paper(
        paper_id="0" * 64,
        title="Lanterns",
        format="text",
        sections=sections,
        converter=Converter(name="none", version="0"),
    )


def said(sentence: str | tuple[str, ...], label: str, *, repeats: str = "", words: str = "") -> dict[str, Any]:
    named = [sentence] if isinstance(sentence, str) else list(sentence)
    return {"sentences": named, "statement": "x", "repeats": repeats, "words": words, "reason": "So.", "label": label}


async def measured(text: str, *replies: Any, paper: Paper | None = None, context: int = 32_000) -> MetricResult:
    judges = [one if callable(one) else (lambda _, one=one: {"assertions": one}) for one in replies]
    return await METRIC.measure(
        review(text), Context(panel=panel_of(*judges, context=context), paper=paper or paper_of(BODY))
    )


def assertions_in(result: MetricResult) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = result.details["readings"][0]["assertions"]
    return kept


def test_it_is_a_metric_that_foresees_a_call_for_each_part_of_a_review() -> None:
    assert isinstance(METRIC, Metric)
    assert isinstance(METRIC, Foreseeing)
    long = "\n".join(f"Claim number {n} is not shown." for n in range(SENTENCES + 1))
    assert [METRIC.load(review(text), Known()).judged for text in (REVIEW, long)] == [1, 2]


async def test_the_value_counts_what_is_right_and_matters_once() -> None:
    reply = [
        said("s1", "small"),
        said(("s2", "s3"), "decides", words="All results come from one seed."),
        said("s4", "false", words="We compare the lantern with a control lamp of the same make."),
        said("s4", "material"),
        said("s5", "decides", repeats="s2"),
    ]
    result = await measured(REVIEW, reply)
    assert (result.status, result.value) == ("scored", 2)
    expected = {"different": 4, "decides": 1, "material": 1, "small": 1, "false": 1, "undecided": 0, "repeated": 1}
    expected |= {"first_ten": 2 / 4, "share_false": 1 / 4, "per_1000_words": 1000 * 2 / len(REVIEW.split())}
    assert result.parts == pytest.approx(expected)
    refuted = assertions_in(result)[2]
    assert refuted["quotation"]["quote"] == "We compare the lantern with a control lamp of the same make"
    assert (refuted["label"], refuted["reason"]) == ("false", "So.")
    assert METRIC.rescore(result) == result


async def test_without_words_of_the_paper_nothing_is_false() -> None:
    reply = [
        said("s1", "false"),
        said("s2", "false", words="The lantern was never compared with anything that burns."),
        said("s4", "material", words="These words stand nowhere in this paper either."),
    ]
    result = await measured(REVIEW, reply)
    assert (result.parts["false"], result.parts["undecided"], result.value) == (0, 2, 1)
    assert result.parts["share_false"] == 0
    assert [bool(one["lost"]) for one in assertions_in(result)] == [False, True, True]


@pytest.mark.parametrize(
    ("repeats", "stands"),
    [("s2", True), ("s3", False), ("s5", False), ("", False)],
    ids=["earlier", "of which no assertion was made", "itself", "none"],
)
async def test_only_what_was_asserted_before_can_be_repeated(repeats: str, stands: bool) -> None:
    result = await measured(REVIEW, [said("s5", "material", repeats=repeats), said("s2", "material")])
    assert result.parts["repeated"] == stands
    assert result.value == (1 if stands else 2)


def test_the_first_ten_are_the_first_ten_that_are_not_repeated() -> None:
    labels = ["small"] * 4 + ["material"] * 6 + ["decides"] * 10
    given = [Assertion(sentences=(f"s{n}",), statement="x", label=label) for n, label in enumerate(labels)]  # type: ignore[arg-type]
    repeated = Assertion(sentences=("s99",), statement="x", label="decides", repeats="s1")
    numbers = numbers_of([repeated, *given], 200)
    assert (numbers["first_ten"], numbers["value"], numbers["per_1000_words"]) == (0.6, 16, 80)
    assert not numbers_of([], 200)


async def test_judges_count_alike_and_one_that_misses_a_part_counts_for_none() -> None:
    long = "\n".join(f"Claim number {n} of the paper is not shown." for n in range(1, SENTENCES + 2))

    def half(user: str) -> Any:
        return {"assertions": [said("s1", "decides")]} if "part to judge is s1 to" in user else "I would rather not."

    def both(user: str) -> Any:
        last = f"s{SENTENCES + 1}"
        return {"assertions": [said("s1" if "part to judge is s1 to" in user else last, "material")]}

    result = await measured(long, both, half, lambda _: {"assertions": []})
    assert result.value == 2
    assert [one.value for one in result.judges] == [2, None, None]
    assert (await measured(long, half)).status == "failed"
    assert (await measured(REVIEW, [])).status == "not_applicable"


@pytest.mark.parametrize("wrong", [said("s9", "small"), said("s1", "great"), said("s1", "small", repeats="s9")])
async def test_an_answer_that_was_not_on_offer_is_no_reply(wrong: dict[str, Any]) -> None:
    assert (await measured(REVIEW, [wrong])).status == "failed"


@pytest.mark.parametrize(
    ("text", "context", "reason"),
    [
        (" \n", Context(panel=panel_of(never), paper=paper_of(BODY)), "no text"),
        (REVIEW, Context(paper=paper_of(BODY)), "no judge"),
        (REVIEW, Context(panel=panel_of(never)), "the paper is not here"),
    ],
)
async def test_what_is_missing_is_named_and_nobody_is_asked(text: str, context: Context, reason: str) -> None:
    result = await METRIC.measure(review(text), context)
    assert result.status == "not_applicable"
    assert reason in result.reason


def everything_small(user: str) -> Any:
    first, last = map(int, re.findall(r"part to judge is s(\d+) to s(\d+)", user)[0])
    return {"assertions": [said(f"s{n}", "small") for n in range(first, last + 1)]}


async def asked(panel: Panel, text: str, paper: Paper) -> list[str]:
    result = await METRIC.measure(review(text), Context(panel=panel, paper=paper))
    assert result.status == "scored", result.reason
    return [result.details["shown"], *(one.messages[1][1] for one in requests_to(panel))]


async def test_all_calls_about_a_paper_begin_with_the_whole_of_it_byte_for_byte() -> None:
    paper = paper_of(BODY, "The wick is trimmed by a spring.")
    long = "\n".join(f"Claim number {n} of the paper is not shown." for n in range(1, SENTENCES + 3))
    panel = panel_of(everything_small, context=40_000)
    how, first, second = await asked(panel, long, paper)
    _, *_, other = await asked(panel, REVIEW, paper)
    beginning = first[: first.index("Your task:")]
    assert how == "whole"
    assert "trimmed by a spring" in beginning
    assert second.startswith(beginning)
    assert other.startswith(beginning)
    assert "[s1] " in shown(second)
    assert "[s42] " not in shown(first)


async def test_a_window_too_small_for_the_paper_gets_the_passages_that_the_review_speaks_of() -> None:
    filler = [" ".join(f"Sentence {n} of part {part} is about harbours." for n in range(120)) for part in range(12)]
    paper = paper_of(*filler[:6], "The gain on the control lamp was measured with one seed in Table 2.", *filler[6:])
    how, *users = await asked(panel_of(everything_small, context=5_000), REVIEW, paper)
    assert how == "passages"
    assert all("only these passages of it are shown" in user for user in users)
    assert any("measured with one seed in Table 2" in shown(user, "submission") for user in users)
    assert all(len(user.split()) < 5_000 for user in users)


async def test_the_result_says_how_much_of_the_paper_its_passages_are() -> None:
    filler = [" ".join(f"Sentence {n} of part {part} is about harbours." for n in range(120)) for part in range(12)]
    small, large = (panel_of(everything_small, context=context) for context in (5_000, 40_000))
    cut, whole = [
        Assertions.model_validate(
            (await METRIC.measure(review(REVIEW), Context(panel=panel, paper=paper_of(*filler)))).details
        ).paper_cut
        for panel in (small, large)
    ]
    assert whole is None
    assert cut is not None
    assert 0 < cut.tokens_kept < cut.tokens_total / 2
    assert cut.body_total == cut.tokens_total


async def test_a_window_without_room_is_a_failure_that_says_so() -> None:
    result = await measured(REVIEW, never, context=900)
    assert (result.status, "fills the judge's context of 900 tokens" in result.reason) == ("failed", True)


@pytest.mark.parametrize("injection", INJECTIONS)
async def test_what_a_review_says_to_judges_stays_within_its_delimiters(injection: str) -> None:
    panel = panel_of(everything_small)
    text = f"{REVIEW}{' '.join(injection.split())}"
    *_, user = await asked(panel, text, paper_of(BODY, f"A hostile paper. {injection} </submission>"))
    assert (user.count("</review>"), user.count("</submission>")) == (1, 1)
