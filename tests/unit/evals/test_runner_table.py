"""The table: who is in which row, what stands in a cell, what is best by which rule, two rows compared."""

from __future__ import annotations

from statistics import stdev
from typing import Any

import pytest

from referee.errors import SettingsError
from referee.evals.comparison import compare
from referee.evals.edges import edges_of
from referee.evals.grouping import RowKey, Rows
from referee.evals.table import Agreement, Cell, build_table
from referee.schemas.metric import JudgeScore
from referee.schemas.usage import Usage

from .runs_of import case, result


def cases_of(**sources: int) -> list[tuple[str, str, str]]:
    """Id, paper and source of reviews: each source reviews that many papers."""
    return [(f"{source}{n}", f"p{n}", source) for source, count in sources.items() for n in range(count)]


def rows_of(triples: list[tuple[str, str, str]], group_by: str = "source") -> Rows:
    return Rows(group_by, (case(name, paper, source=source) for name, paper, source in triples))


def test_all_human_reviews_are_one_row_that_comes_last() -> None:
    rows = Rows(
        cases=[case("a"), case("b", source="zeta"), case("c", source="anna", kind="human"), case("d", source="x")]
    )
    assert [row.label for row in rows] == ["x", "zeta", "Expert"]
    assert rows.of("a") == rows.of("c") == rows.find("Expert")
    assert "a" in rows
    assert "z" not in rows


def test_a_system_that_calls_itself_expert_is_none() -> None:
    assert [row.label for row in Rows(cases=[case("a"), case("b", source="Expert")])] == ["Expert (ai)", "Expert"]


@pytest.mark.parametrize(
    ("group_by", "labels"),
    [
        ("kind", ["ai", "unknown", "Expert"]),
        ("venue", ["iclr-2020: Expert", "no venue: Expert", "no venue: gpt", "no venue: who"]),
        ("year", ["2020: Expert", "no year: gpt", "no year: who", "no year: Expert"]),
        ("conference", ["iclr: Expert", "no conference: Expert", "no conference: gpt", "no conference: who"]),
        (
            "kind,venue,year",
            [
                "iclr-2020: Expert",
                "no venue / no year: Expert",
                "no venue / no year: ai",
                "no venue / no year: unknown",
            ],
        ),
    ],
)
def test_reviews_are_grouped_as_asked(group_by: str, labels: list[str]) -> None:
    given = [
        case("a", venue="iclr-2020", year=2020),
        case("b", source="gpt"),
        case("c", source="who", kind="unknown"),
        case("d"),
    ]
    assert sorted(row.label for row in Rows(group_by, given)) == sorted(labels)


def test_a_grouping_or_row_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="no review has a column 'sorce'") as caught:
        Rows("sorce", [case("a")]).require_columns()
    assert "Did you mean 'source'?" in caught.value.hint
    with pytest.raises(SettingsError, match="no row 'experts'") as caught:
        Rows(cases=[case("a")]).find("experts")
    assert "Did you mean 'Expert'?" in caught.value.hint


def test_a_cell_holds_mean_spread_interval_and_counts() -> None:
    triples = cases_of(gpt=6)
    values = [0.2, 0.4, 0.6, 0.8]
    results = [result(f"gpt{n}", f"p{n}", value=value, parts={"f1": value / 2}) for n, value in enumerate(values)]
    results += [result("gpt4", "p4", value=None), result("gpt5", "p5", value=None, status="not_applicable")]
    table = build_table(results, rows_of(triples), ["words"])
    cell = table.cells[RowKey("", "gpt"), "words"]
    assert cell.mean == pytest.approx(0.5)
    assert cell.sd == pytest.approx(stdev(values))
    assert cell.low is not None
    assert cell.high is not None
    assert 0.2 <= cell.low < 0.5 < cell.high <= 0.8
    assert (cell.scored, cell.not_applicable, cell.failed, cell.papers) == (4, 1, 1, 4)
    assert cell.parts == {"f1": pytest.approx(0.25)}
    assert (table.scored, table.not_applicable, table.failed) == (4, 1, 1)


def test_what_is_not_scored_leaves_no_number() -> None:
    table = build_table([result("gpt0", "p0", value=None)], rows_of(cases_of(gpt=1)), ["words", "other"])
    for metric in ("words", "other"):
        cell = table.cells[RowKey("", "gpt"), metric]
        assert (cell.mean, cell.sd, cell.low, cell.best, cell.nearest) == (None, None, None, False, False)
    assert table.totals["words"].reasons == (("failed", "it broke", 1),)


def test_both_rules_mark_their_best_and_ties_share_it() -> None:
    triples = cases_of(low=1, near=1, top=1, peer=1, human=1)
    values = {"low": 0.1, "near": 0.45, "top": 0.9, "peer": 0.9, "human": 0.5}
    results = [result(f"{name}0", "p0", value=value) for name, value in values.items()]
    table = build_table(results, rows_of(triples), ["words"])
    marks = {row.system: (cell.nearest, cell.best) for (row, _), cell in table.cells.items()}
    assert marks == {
        "low": (False, False),
        "near": (True, False),
        "top": (False, True),
        "peer": (False, True),
        "Expert": (False, False),
    }


@pytest.mark.parametrize(
    ("values", "ends", "shares", "crowded"),
    [
        ([1, 1, 0.5, 0], (0.0, 1.0), (0.5, 0.25), ""),
        ([1] * 9 + [0], (0.0, 1.0), (0.9, 0.1), "ceiling"),
        ([0, 0, 0], (0.0, None), (None, 1.0), "floor"),
        ([5, 7], (None, None), (None, None), ""),
        ([1, 1], None, (None, None), ""),
        ([], (0.0, 1.0), (None, None), ""),
    ],
)
def test_the_shares_at_the_ends_of_a_judged_metric(
    values: list[float], ends: tuple[float | None, float | None] | None, shares: tuple[Any, Any], crowded: str
) -> None:
    found = edges_of(values, ends)
    assert (found.at_top, found.at_bottom, found.crowded) == (*shares, crowded)


@pytest.mark.parametrize(("peer", "judged", "marked"), [(1.0, True, False), (0.0, True, True), (1.0, False, True)])
@pytest.mark.parametrize("over_papers", [False, True])
def test_where_all_systems_stand_at_the_ceiling_none_is_the_best(
    peer: float, judged: bool, marked: bool, over_papers: bool
) -> None:
    triples = cases_of(gpt=1, peer=1, human=1)
    results = [result(f"{name}0", "p0", value=value) for name, value in (("gpt", 1.0), ("peer", peer), ("human", 0.5))]
    ranges = {"words": (0.0, 1.0)} if judged else {}
    table = build_table(results, rows_of(triples), ["words"], judged=ranges, over_papers=over_papers)
    cell = table.cells[RowKey("", "gpt"), "words"]
    assert (cell.best, cell.nearest) == (marked, marked)
    assert cell.edges.crowded == ("ceiling" if judged else "")


def test_a_judge_that_never_answers_is_counted_and_named() -> None:
    silent = JudgeScore(judge="m2", reason="no valid reply")
    scored = [JudgeScore(judge="m1", value=0.5, calls=("c1",)), silent]
    nothing = [JudgeScore(judge="m1", reason="no insight found", calls=("c2",)), silent]
    results = [
        result("gpt0", "p0", judges=scored),
        result("gpt1", "p1", value=None, status="not_applicable", judges=nothing),
        result("gpt2", "p2", value=None, judges=[JudgeScore(judge="m1", reason="no valid reply"), silent]),
    ]
    table = build_table(results, rows_of(cases_of(gpt=3)), ["words"])
    assert table.cells[RowKey("", "gpt"), "words"].judged == {"m1": (2, 3), "m2": (0, 3)}
    assert table.judged == {"m1": {"words": (2, 3)}, "m2": {"words": (0, 3)}}
    assert table.silent == ("m2",)


def test_over_papers_every_row_of_a_column_has_the_same_papers_and_one_spread() -> None:
    triples = [("a0", "p0", "a"), ("a1", "p1", "a"), ("a2", "p2", "a"), ("b0", "p0", "b"), ("b1", "p1", "b")]
    triples += [("b2", "p2", "b"), ("h0", "p0", "human"), ("i0", "p0", "human"), ("h1", "p1", "human")]
    values = dict(
        zip(["a0", "a1", "a2", "b0", "b1", "h0", "i0", "h1"], (0.1, 0.3, 0.9, 0.2, 0.4, 0.0, 1.0, 0.7), strict=True)
    )
    results = [result(name, paper, value=values.get(name)) for name, paper, _ in triples]
    table = build_table(results, rows_of(triples), ["words"], over_papers=True)
    cells = {row.system: table.cells[row, "words"] for row in table.rows}
    # b2 failed: p2 is in no row. The two human reviews of p0 count once, by their mean.
    assert {name: cell.mean for name, cell in cells.items()} == pytest.approx({"a": 0.2, "b": 0.3, "Expert": 0.6})
    assert {name: cell.papers for name, cell in cells.items()} == {"a": 2, "b": 2, "Expert": 2}
    assert cells["Expert"].sd == pytest.approx(stdev([0.5, 0.7]))
    assert (cells["b"].failed, cells["a"].scored) == (1, 3)
    assert table.over_papers
    # Without it each review counts.
    plain = build_table(results, rows_of(triples), ["words"]).cells[RowKey("", "Expert"), "words"]
    assert plain.sd == pytest.approx(stdev([0, 1, 0.7]))


def test_over_papers_a_row_without_any_value_empties_no_other() -> None:
    triples = cases_of(gpt=2, human=2)
    results = [result(f"gpt{n}", f"p{n}", value=0.5) for n in range(2)]
    results += [result(f"human{n}", f"p{n}", value=None, status="not_applicable") for n in range(2)]
    table = build_table(results, rows_of(triples), ["words"], over_papers=True)
    assert (table.cells[RowKey("", "gpt"), "words"].papers, table.cells[RowKey("", "Expert"), "words"].mean) == (
        2,
        None,
    )


def test_without_experts_nothing_is_nearest() -> None:
    table = build_table([result("gpt0", "p0")], rows_of(cases_of(gpt=1)), ["words"])
    assert (table.cells[RowKey("", "gpt"), "words"].nearest, table.cells[RowKey("", "gpt"), "words"].best) == (
        False,
        True,
    )


def test_the_words_of_a_provider_stay_in_a_reason() -> None:
    said = "'m@host' has no credit left: You can't go on, it's empty."
    table = build_table([result("gpt0", "p0", value=None, reason=said)], rows_of(cases_of(gpt=1)), ["words"])
    assert table.totals["words"].reasons == (("failed", "'…' has no credit left: You can't go on, it's empty.", 1),)


def test_reasons_of_one_kind_are_counted_together_and_costs_add_up() -> None:
    results = [
        result(f"gpt{n}", f"p{n}", value=None, reason=f"no paper has the id 'p{n}'", usage=Usage(calls=n))
        for n in range(3)
    ]
    table = build_table(results, rows_of(cases_of(gpt=3)), ["words"])
    assert table.totals["words"].reasons == (("failed", "no paper has the id '…'", 3),)
    assert (table.totals["words"].usage.calls, table.totals["words"].units) == (3, 3)


def scores(*values: float | None, judge: str = "m") -> list[JudgeScore]:
    return [JudgeScore(judge=judge, repeat=n, value=value) for n, value in enumerate(values)]


def test_judges_that_agree_and_one_that_wavers() -> None:
    alike, unlike = Agreement(), Agreement()
    for n in range(6):
        alike.add(scores(float(n), judge="a") + scores(float(n), judge="b"))
        unlike.add(scores(float(n), judge="a") + scores(float(5 - n), judge="b"))
    assert alike.alpha() == pytest.approx(1.0)
    assert (unlike.alpha() or 0.0) < 0
    assert alike.repeat_sd() is None
    wavering = Agreement()
    wavering.add(scores(1.0, 3.0))
    wavering.add(scores(2.0, 2.0, None))
    assert wavering.repeat_sd() == pytest.approx(stdev([1, 3]) / 2)
    assert wavering.alpha() is None


def test_two_rows_are_compared_on_the_papers_that_both_have() -> None:
    triples = cases_of(gpt=8, human=6)
    results = [result(f"gpt{n}", f"p{n}", value=0.1 * n + 0.2) for n in range(8)]
    results += [result(f"human{n}", f"p{n}", value=0.1 * n) for n in range(5)]
    results += [result("human5", "p5", value=None)]
    rows = rows_of(triples)
    found = compare(results, rows, ["words", "other"], rows.find("gpt"), rows.find("Expert"))
    words, other = found.differences
    assert (found.first, found.second, words.papers) == ("gpt", "Expert", 5)
    assert (words.mean, words.low, words.high) == (pytest.approx(0.2), pytest.approx(0.2), pytest.approx(0.2))
    assert words.p == pytest.approx(2 / 32)
    assert words.p_holm == words.p
    assert (other.mean, other.papers, other.p, other.p_holm) == (None, 0, None, None)


def test_several_reviews_of_a_paper_count_as_one() -> None:
    rows = Rows(cases=[case("a"), case("b"), case("c", source="gpt")])
    results = [result("a", value=0.0), result("b", value=1.0), result("c", value=1.0)]
    (one,) = compare(results, rows, ["words"], rows.find("gpt"), rows.find("Expert")).differences
    assert (one.mean, one.papers, one.low, one.p) == (0.5, 1, None, None)


def test_an_empty_cell_is_nothing_at_all() -> None:
    assert Cell().mean is None


def test_rows_without_a_paper_in_common_are_compared_by_the_papers_of_each() -> None:
    triples = [(f"a{n}", f"p{n}", "gpt") for n in range(8)] + [(f"b{n}", f"q{n}", "llama") for n in range(8)]
    rows = rows_of(triples)
    results = [
        result(name, paper, value=float(n % 8 + (4 if s == "gpt" else 0))) for n, (name, paper, s) in enumerate(triples)
    ]
    (one,) = compare(results, rows, ["words"], rows.find("gpt"), rows.find("llama")).differences
    assert (one.mean, one.papers, one.paired) == (4.0, 16, False)
    assert one.low is not None
    assert one.low < 4.0 < (one.high or 0)
    assert one.p is not None
    assert 0 < one.p < 0.05


def test_variants_are_compared_and_not_corrected_for() -> None:
    triples = [(f"a{n}", f"p{n}", "gpt") for n in range(6)] + [(f"b{n}", f"p{n}", "llama") for n in range(6)]
    rows = rows_of(triples)
    results = [
        result(name, paper, value=float(n % 6 + (n < 6))).model_copy(update={"metric": metric})
        for n, (name, paper, _) in enumerate(triples)
        for metric in ("words", "tokens")
    ]
    found = compare(results, rows, ["words", "tokens"], rows.find("gpt"), rows.find("llama"), variants=("tokens",))
    words, tokens = found.differences
    assert words.p_holm == words.p == tokens.p
    assert tokens.p_holm is None
