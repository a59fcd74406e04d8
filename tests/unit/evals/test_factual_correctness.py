from __future__ import annotations

from typing import Any

import pytest

from referee.evals.judging import Panel
from referee.evals.metric import Context, Foreseeing, Known, Metric, failed
from referee.evals.quality.factual_correctness import METRIC, FactualCorrectness, bounds_for
from referee.graphs.factuality.records import LEAN, Bounds, PointRecord
from referee.graphs.factuality.verdicts import OUTCOMES, tally
from referee.prompts import load_prompt
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Converter, Paper
from referee.testing import ScriptedModel

from .judges_on_tests import never, panel_of

PAPER = Paper(
    paper_id="a" * 64, title="On Tests", format="text", sections=(), converter=Converter(name="test", version="1")
)
USAGE: dict[str, Any] = {}


def case(text: str = "It is wrong.") -> ReviewCase:
    return ReviewCase(case_id="r1", paper_id="p", source="human", kind="human", text=text)


def vote(verdict: str | None, named: str = "q1.1", judge: str = "m", repeat: int = 0) -> dict[str, Any]:
    return {
        "judge": judge,
        "repeat": repeat,
        "verdict": verdict,
        "named": named,
        "error": "" if verdict else "no reply",
        "call_id": f"c-{judge}",
        "usage": USAGE,
    }


def point(name: str, *votes: dict[str, Any], kind: str = "claim", quoted: bool = True, **more: Any) -> dict[str, Any]:
    quotation = {"id": "q1.1", "source": "answer", "passage": "s1.1", "quote": "the words", "status": "exact"}
    quotation |= {"section_id": "s1", "section": "Method"}
    answers = [{"quotations": [quotation] if quoted else [], "usage": USAGE}]
    examined = {"asked": None, "answers": answers, "absence": None, "votes": list(votes), "failures": []} | more
    return {"id": name, "kind": kind, "examined": examined if kind == "claim" else None}


def rescored(*points: dict[str, Any]) -> MetricResult:
    details = {"points": list(points), "split": {"usage": USAGE}, "passages": {}}
    return METRIC.rescore(failed(METRIC, case(), "wrong on purpose", details=details))


def fixture() -> list[dict[str, Any]]:
    valid = [point(f"p{number}", vote("valid")) for number in range(3)]
    return [*valid, point("p3", vote("invalid")), point("p4", vote("undecided")), point("p5", kind="praise")]


def test_the_fixture_of_the_definition() -> None:
    counts = tally([PointRecord.model_validate(one) for one in fixture()])
    assert (counts.value, counts.decided) == (0.75, 4)
    result = rescored(*fixture())
    assert (result.status, result.value, result.parts["n"]) == ("scored", 0.75, 4)
    assert [result.parts[kind] for kind in OUTCOMES] == [3, 1, 0, 0, 1, 1, 0, 0]
    assert rescored(*reversed(fixture())).value == 0.75


def absence(name: str, verdict: str = "valid") -> dict[str, Any]:
    """A point that says something is missing; the search of the whole text found nothing."""
    searched = {"empty": True, "quotations": []}
    return point(name, vote(verdict, "none"), quoted=False, absence=searched)


def test_absences_that_anybody_can_list_do_not_move_the_value() -> None:
    wrong = [point("w1", vote("invalid")), point("w2", vote("invalid"))]
    padded = rescored(*wrong, *(absence(f"a{number}") for number in range(10)))
    assert (rescored(*wrong).value, padded.value) == (0.0, 0.0)
    assert (padded.parts["n"], padded.parts["absence_valid"], padded.parts["absence"]) == (2, 10, 1.0)
    assert [judge.value for judge in padded.judges] == [0.0]
    assert rescored(*wrong).parts["absence"] is None
    alone = rescored(absence("a1"), absence("a2", "undecided"))
    assert (alone.status, alone.value, alone.parts["absence_valid"]) == ("not_applicable", None, 1)
    assert "only claims that something is missing" in alone.reason


def test_nothing_that_was_not_measured_becomes_a_number() -> None:
    for points, status, reason in (
        ([], "not_applicable", "no point that can be checked"),
        ([point("p1", kind="praise")], "not_applicable", "no point that can be checked"),
        ([point("p1", vote("undecided"))], "not_applicable", "could be decided"),
        ([point("p1", vote("valid", "none"))], "not_applicable", "could be decided"),
        ([point("p1", vote("valid"), quoted=False)], "not_applicable", "could be decided"),
        ([point("p1", vote(None))], "failed", "1 of 1 points"),
        ([point("p1", vote("undecided")), point("p2", vote(None))], "failed", "1 of 2 points"),
        ([point("p1", vote("valid")), *(point(f"f{n}", vote(None)) for n in range(2))], "failed", "2 of 3 points"),
        (
            [
                point(
                    "p1",
                    vote("valid"),
                    failures=[{"node": "the search", "kind": "RetrievalError", "message": "it broke"}],
                )
            ],
            "failed",
            "1 of 1 points",
        ),
    ):
        result = rescored(*points)
        assert (result.status, result.value) == (status, None)
        assert reason in result.reason
    half = rescored(point("p1", vote("valid")), point("p2", vote(None)))
    assert (half.status, half.value, half.parts["failed"]) == ("scored", 1.0, 1)


def test_only_invalid_points_score_zero_and_only_valid_ones_one() -> None:
    assert rescored(point("p1", vote("invalid"))).value == 0
    assert rescored(point("p1", vote("valid"))).value == 1


def test_an_empty_search_carries_a_claimed_absence_and_nothing_else() -> None:
    empty = {"empty": True, "quotations": []}
    assert rescored(point("p1", vote("valid", "none"), quoted=False, absence=empty)).parts["absence"] == 1
    hit = {"empty": False, "quotations": []}
    assert rescored(point("p1", vote("valid", "none"), quoted=False, absence=hit)).parts["undecided"] == 1


def test_each_judge_has_its_own_value_and_calls() -> None:
    points = [
        point("p1", vote("valid"), vote("invalid", judge="n")),
        point("p2", vote("valid"), vote("valid", judge="n")),
    ]
    result = rescored(*points)
    assert [(one.judge, one.value, one.calls) for one in result.judges] == [
        ("m", 1.0, ("c-m", "c-m")),
        ("n", 0.5, ("c-n", "c-n")),
    ]
    assert (result.value, result.parts["undecided"], result.parts["agreement"]) == (1.0, 1, 0.5)


def test_rescoring_what_has_no_points_changes_nothing() -> None:
    stored = failed(METRIC, case(), "no JSON came")
    assert METRIC.rescore(stored) == stored


async def test_what_is_missing_is_said() -> None:
    panel = Panel(ScriptedModel())
    for text, context, reason in (
        ("  \n", Context(), "empty"),
        ("x", Context(), "--papers"),
        ("x", Context(paper=PAPER), "--judge"),
        ("x", Context(paper=PAPER, panel=panel), "--embedder"),
    ):
        result = await METRIC.measure(case(text), context)
        assert (result.status, result.value) == ("not_applicable", None)
        assert reason in result.reason


def test_it_is_a_metric_that_can_say_what_it_costs() -> None:
    assert isinstance(METRIC, Metric)
    assert isinstance(METRIC, Foreseeing)
    assert {"paper", "judge", "embedder"} == METRIC.needs
    for prompt_id in METRIC.prompts:
        load_prompt(prompt_id)
    assert METRIC.load(case("two words"), Known()).judged == 1
    assert bounds_for(Panel(ScriptedModel())) == Bounds()


def test_the_estimate_counts_sentences_and_names_the_most() -> None:
    ten = case(" ".join(f"The paper reports number {n} in its table." for n in range(10)))
    usual = METRIC.load(ten, Known())
    assert (usual.once, usual.judged) == (1 + 4 * (1 + 2), 4)
    assert (usual.most_once, usual.most_judged) == (1 + 20 * (1 + 4), 20)
    few = FactualCorrectness(Bounds(points=3, sub_questions=2)).load(ten, Known())
    assert (few.once, few.judged, few.most_once, few.most_judged) == (1 + 3 * 2, 3, 1 + 3 * 3, 3)
    lean = FactualCorrectness(LEAN).load(ten, Known())
    assert lean.most_judged == LEAN.points, "a sentence is one point, and the bound holds"
    assert lean.input_tokens < usual.input_tokens


def test_the_estimate_knows_what_the_judge_can_read() -> None:
    ten = case(" ".join(f"The paper reports number {n} in its table." for n in range(10)))
    small, large = (panel_of(never, context=size).door.models["judge"] for size in (4_000, 100_000))
    loads = [METRIC.load(ten, Known(judge=judge)).input_tokens for judge in (small, large)]
    assert loads[0] < loads[1] / 2


@pytest.mark.parametrize("prompt_id", METRIC.prompts)
def test_every_prompt_says_what_delimiters_hold(prompt_id: str) -> None:
    assert "is material" in load_prompt(prompt_id).system


def test_the_estimate_counts_what_points_name_in_the_paper() -> None:
    plain, naming = (METRIC.load(case(text), Known()) for text in ("The step in it is wrong.", "Section 2 is wrong."))
    assert naming.input_tokens > plain.input_tokens > Bounds().passage_tokens / 3
