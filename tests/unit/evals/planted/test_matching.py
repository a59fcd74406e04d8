"""Which remark names which planted error, by the rules alone: the specification's section 10."""

from __future__ import annotations

import pytest

from referee.evals.planted.matching import Matcher, matched, open_pairs, outcomes
from referee.evals.planted.points import Point, Raised, points_of
from referee.schemas.case import ReviewCase

from .paper_f import CLEAN, plant

ABSTRACT = "it reaches an accuracy of 79.4, which is 3.7 points above DeepSet"
CELL = "TinyRank | 74.9 ± 0.4"


def verdict(name: str, text: str, *quotations: str) -> str:
    planted, key = plant(name)
    (outcome,) = matched(Matcher(key, planted), Raised((Point("r1", text, quotations, 1),)))
    return outcome.printed.verdict


@pytest.mark.parametrize(
    ("name", "text", "quotations", "expected"),
    [
        ("F1", "Abstract says 79.4, Table 2 says 74.9.", (), "found"),
        ("F1", "The value 74.9 in Table 2 must be wrong, see abstract.", (CELL,), "found"),
        ("F1", "71.2 + 3.7 is not 79.4.", (), "found"),
        ("F1", "There is no mention of runtime.", (ABSTRACT,), "near"),
        ("F1", "Some numbers disagree, please check.", (), "ambiguous"),
        ("F1", "No code released.", (), "missed"),
        ("F1", "The accuracy of 79.4 impresses.", (ABSTRACT,), "ambiguous"),
        ("F3", "TinyRank is called faster, but 3.1 ms is more than 1.9 ms.", (), "found"),
        ("F3", "The order is reversed: it cannot be faster.", ("TinyRank is faster than DeepSet",), "found"),
        ("F4", "The sign of the lambda term is wrong: large weights are rewarded, not penalised.", (), "found"),
        ("F4", "The sign of the loss is wrong.", (), "missed"),
        ("F5", "t(8) = 1.29 does not give p < .001; it should be 12.9.", (), "found"),
        ("F7", "Training uses 48,000 queries in the setup but 4,800 in the abstract.", (), "found"),
        ("F8", "Table 1 does not show accuracies; Section 2 should point to Table 2.", (), "found"),
        ("F9", "The abstract claims ranking benchmarks, but only Harbor was evaluated.", (), "found"),
        ("F12", "Section 1 promises standard deviations, and Table 2 has no deviation for Linear.", (), "found"),
        ("F15", "Linear is not the strongest baseline: DeepSet is, with 71.2.", (), "found"),
        ("F15", "Linear models are a fine baseline.", (), "missed"),
    ],
)
def test_verdicts(name: str, text: str, quotations: tuple[str, ...], expected: str) -> None:
    assert verdict(name, text, *quotations) == expected


def test_on_the_clean_twin_the_same_words_are_a_ghost() -> None:
    _, key = plant("F1")
    clean = Matcher(key, CLEAN, "clean")
    said = "The abstract's 74.9 differs from Table 2."
    (ghost,) = matched(clean, Raised((Point("r1", said, ("an accuracy of 74.9, which is 3.7 points",), 1),)))
    (none,) = matched(clean, Raised((Point("r1", "The 74.9 of the abstract is that of Table 2.", (), 1),)))
    assert (ghost.printed.verdict, none.printed.verdict) == ("found", "ambiguous")


def test_a_record_counts_once_and_the_first_in_print_is_its_hit() -> None:
    planted, key = plant("F1", "F3")
    said = ["The seeds are few.", "Abstract says 79.4, Table 2 says 74.9.", "79.4 against 74.9: which is it?"]
    points = tuple(Point(f"r{n}", text, (), n) for n, text in enumerate(said, 1))
    first, second = matched(Matcher(key, planted), Raised(points))
    assert (first.printed.rank, first.printed.duplicates) == (2, ("r3",))
    assert second.printed.verdict == "missed"


def test_what_was_raised_and_not_printed_counts_as_raised_alone() -> None:
    planted, key = plant("F1")
    struck = Point("p7", "Abstract says 79.4, Table 2 says 74.9.")
    (outcome,) = matched(Matcher(key, planted), Raised((Point("r1", "Few seeds were used.", (), 1),), (struck,)))
    assert (outcome.printed.verdict, outcome.raised.verdict, outcome.raised.point) == ("missed", "found", "p7")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("same", "found"), ("related", "near"), ("split", "ambiguous"), ("failed", "failed"), (None, "ambiguous")],
)
def test_a_judges_answer_decides_an_open_pair_and_a_failed_batch_is_no_miss(answer: str | None, expected: str) -> None:
    planted, key = plant("F1")
    matcher = Matcher(key, planted)
    pairs = matcher.pairs([Point("r1", "The accuracy of 79.4 impresses.", (ABSTRACT,), 1)])
    (pair,) = open_pairs(pairs, 3)
    answers = {pair.key: answer} if answer else {}
    assert outcomes(matcher.records, pairs, answers)[0].printed.verdict == expected  # type: ignore[arg-type]


def test_remarks_of_a_plain_review_come_with_their_quotations_and_without_praise() -> None:
    text = (
        "Strengths:\n- The accuracy of 79.4 is a strong result on Harbor.\n\nWeaknesses:\n"
        '- The abstract says "an accuracy of 79.4, which is 3.7 points" while Table 2 has 74.9.\n- Few seeds were used.'
    )
    case = ReviewCase(case_id="c", paper_id="p", source="human", kind="human", text=text)
    raised = points_of(case)
    assert [point.rank for point in raised.printed] == [1, 2]
    assert raised.printed[0].quotations == ("an accuracy of 79.4, which is 3.7 points",)
    assert not raised.recorded


@pytest.mark.parametrize(
    "title",
    ["Weaknesses, gravest first", "How far the claims are supported", "Corrections, those of most weight first:"],
)
def test_praise_ends_where_a_title_of_the_reviewers_own_stands(title: str) -> None:
    praised = "Strengths\n- The accuracy of 79.4 is a strong result.."
    text = f"{praised}\n\n{title}\n- The abstract gives 79.4 where Table 2 has 74.9.\n\n1. Few seeds were used here."
    case = ReviewCase(case_id="c", paper_id="p", source="s", kind="ai", text="", fields={"recommendation": text})
    assert [point.text for point in points_of(case).printed] == [
        "The abstract gives 79.4 where Table 2 has 74.9.",
        "Few seeds were used here.",
    ]


def test_boxes_that_are_lists_give_points() -> None:
    boxes = {
        "summary": "A study of graphs and trees.",
        "weaknesses": ["The second table has no error bars.", "No code."],
    }
    case = ReviewCase(case_id="c", paper_id="p", source="ai", kind="ai", text="A study.", fields=boxes)
    assert [point.text for point in points_of(case).printed] == ["The second table has no error bars."]
