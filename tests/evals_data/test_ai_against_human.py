"""AI reviews against human ones: Agents4Science 2025, three systems and their experts.

Measured are all papers that an expert reviewed too, and every fifth of the others.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from referee.evals.comparison import compare
from referee.evals.grouping import EXPERT, Rows
from referee.evals.table import build_table

from .whole_sets import Ran, documented, measure, read

pytestmark = pytest.mark.shared_data

ROWS = "paired/agents4science2025_reviews.jsonl"
NOTES = "openreview_raw/api_v2_agents4science2025"
METRICS = ("topic_coverage", "semantic_similarity", "depth", "adherence")
SYSTEMS = ("AIRev1", "AIRev2", "AIRev3")
SUB_SCORES = ["quality", "clarity", "significance", "originality"]


@pytest.fixture(scope="module")
def ran(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    cases = read(shared_data / ROWS, tmp_path_factory.mktemp("read"))
    assert Counter(EXPERT if case.kind == "human" else case.source for case in cases) == {
        **dict.fromkeys(SYSTEMS, 126),
        EXPERT: 41,
    }
    reviewed = {case.paper_id for case in cases if case.kind == "human"}
    others = sorted({case.paper_id for case in cases} - reviewed)
    measured = reviewed | set(others[::5])
    return measure([case for case in cases if case.paper_id in measured], METRICS, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def notes(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The raw notes of twelve papers, boxes and all."""
    cases = read(shared_data / NOTES, tmp_path_factory.mktemp("read"))
    return measure(cases, ["adherence"], tmp_path_factory.mktemp("run"))


def test_the_table_has_a_row_a_system_with_its_counts(ran: Ran) -> None:
    table = build_table(ran.results.values(), Rows(cases=ran.cases), METRICS)
    assert [row.label for row in table.rows] == [*SYSTEMS, EXPERT]
    alone = Counter(case.paper_id for case in ran.cases if case.kind == "human")
    for row in table.rows:
        own = [case for case in ran.cases if (EXPERT if case.kind == "human" else case.source) == row.label]
        assert len(own) == (41 if row.is_expert else len({case.paper_id for case in ran.cases}))
        comparable = sum(alone[case.paper_id] > (case.kind == "human") for case in own)
        for metric in ("topic_coverage", "semantic_similarity"):
            cell = table.cells[row, metric]
            assert (cell.scored, cell.not_applicable, cell.failed) == (comparable, len(own) - comparable, 0)
        for metric in ("depth", "adherence"):
            assert table.cells[row, metric].scored == len(own)
    assert table.failed == 0


def test_every_ai_review_meets_the_human_reviews_of_its_paper_and_no_other_systems(ran: Ran) -> None:
    humans = {case.case_id for case in ran.cases if case.kind == "human"}
    met = Counter[str]()
    for case, result in zip(ran.cases, ran.of("topic_coverage"), strict=True):
        references = {reference["case_id"] for reference in result.details.get("references", ())}
        assert references == ran.humans(case) <= humans
        if not references:
            assert result.status == "not_applicable"
            assert "human review of paper" in result.reason
        met[case.kind] += bool(references)
    assert met["ai"] > met["human"] > 0


def test_systems_are_compared_on_the_papers_that_both_reviewed(ran: Ran) -> None:
    rows = Rows(cases=ran.cases)
    found = compare(ran.results.values(), rows, METRICS, rows.find("AIRev1"), rows.find(EXPERT))
    papers = {one.metric: one.papers for one in found.differences}
    with_humans = {case.paper_id for case in ran.cases if case.kind == "human"}
    assert papers["depth"] == papers["adherence"] == len(with_humans)
    several = Counter(case.paper_id for case in ran.cases if case.kind == "human")
    assert papers["topic_coverage"] == sum(count > 1 for count in several.values())
    assert papers["topic_coverage"] == 1
    for one in found.differences:
        # One paper is no sample: a difference is printed, and nothing is said about how sure it is.
        assert (one.p is None) == (one.papers < 2) == (one.low is None)
        assert one.p is None or (one.p_holm is not None and one.p <= one.p_holm)


def test_zeros_that_stand_for_nothing_are_read_as_missing_and_lower_no_adherence(ran: Ran) -> None:
    scale = {"AI": Counter[bool](), "human": Counter[bool]()}
    for case, result in zip(ran.cases, ran.of("adherence"), strict=True):
        zeros = case.kind == "ai" and all(case.fields.get(name) == 0 for name in SUB_SCORES)
        assert result.details["placeholders"] == (SUB_SCORES if zeros else [])
        (in_scale,) = [one for one in result.details["criteria"] if one["id"] == "form:scores-in-scale"]
        scale["AI" if case.kind == "ai" else "human"][in_scale["score"] == 3] += 1
    assert sum(scale["AI"].values()) == len(ran.cases) - 41
    assert scale["AI"][False] == scale["human"][False] == 0


async def test_without_the_placeholder_rule_the_zeros_would_count(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the zeros taken at their word adherence falls; where no human review is beside, whose boxes would decide."""
    from referee.evals.quality.form_checks import Record

    from .whole_sets import measured

    some = [case for case in ran.cases if case.kind == "ai"][:40]
    for name in ("rule", "literal"):
        (tmp_path / name).mkdir()
    with_rule = await measured(some, ["adherence"], tmp_path / "rule")
    monkeypatch.setattr(Record, "placeholders", ())
    literal = await measured(some, ["adherence"], tmp_path / "literal")
    for zeros, unset in zip(literal.of("adherence"), with_rule.of("adherence"), strict=True):
        assert (zeros.value or 0) < (unset.value or 0)


def test_boxes_that_one_side_never_fills_count_for_nobody(ran: Ran) -> None:
    filled = {
        kind: {n for c in ran.cases if c.kind == kind for n, v in c.fields.items() if v} for kind in ("ai", "human")
    }
    (left_out,) = {frozenset(result.details["not_compared"]) for result in ran.of("adherence")}
    assert left_out
    assert not left_out & filled["ai"] & filled["human"] - {"questions", "limitations"}


def test_raw_notes_show_a_judge_neither_placeholders_nor_who_wrote(notes: Ran) -> None:
    assert notes.statuses("adherence") == (48, 0, 0)
    prompts = notes.prompts("eval/adherence")
    assert len(prompts) == 48
    assert not any("AIRev" in user or "Quality: 0" in user for user in prompts)
    by_kind = Counter(case.kind for case, one in zip(notes.cases, notes.of("adherence"), strict=True) if one.details)
    assert by_kind == {"ai": 36, "human": 12}


def test_a_row_and_its_raw_note_are_held_to_the_same_scale(ran: Ran, notes: Ran) -> None:
    both = [case for case in notes.cases if (case.case_id, "adherence") in ran.results]
    assert len(both) > 20
    for case in both:
        scales = [
            next(one for one in run.results[case.case_id, "adherence"].details["criteria"] if "scale" in one["id"])
            for run in (ran, notes)
        ]
        assert scales[0]["score"] == scales[1]["score"] == 3


def test_the_expert_row_stands_beside_and_not_among_the_systems(ran: Ran) -> None:
    table = build_table(ran.results.values(), Rows(cases=ran.cases), METRICS)
    for metric in METRICS:
        means = {row.label: table.cells[row, metric].mean for row in table.rows}
        expert = means.pop(EXPERT)
        marked = [row.label for row in table.rows if table.cells[row, metric].nearest]
        assert EXPERT not in marked
        distances = {label: abs((mean or 0) - (expert or 0)) for label, mean in means.items()}
        assert min(distances, key=distances.__getitem__) in marked
        values = [one.value for one in ran.of(metric) if one.source == "human" and one.value is not None]
        assert expert == pytest.approx(fmean(values))


def test_the_documented_costs_are_those_of_these_reviews(ran: Ran) -> None:
    compared = ran.statuses("topic_coverage")[0]
    found = ran.cost("eval/topics", "eval/match", reviews=compared)
    assert found == pytest.approx(documented("topic_coverage"), rel=0.1)
    found = ran.cost("eval/adherence", reviews=len(ran.cases))
    assert found == pytest.approx(documented("adherence"), rel=0.1)
