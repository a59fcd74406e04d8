"""The metrics ``planted_recall`` and ``false_alarms``: which twin they take, the judge, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from referee.errors import DataError
from referee.evals.metric import Context, Metric
from referee.evals.planted.metrics import METRICS
from referee.evals.planted.services import PlantedPapers
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from tests.unit.evals.judges_on_tests import panel_of, requests_to

from .paper_f import CLEAN, plant

RECALL, ALARMS = METRICS
SAID = "Weaknesses:\n- Abstract says 79.4, Table 2 says 74.9.\n- Some numbers disagree, please check."


@pytest.fixture
def planted(tmp_path: Path) -> PlantedPapers:
    text, key = plant("F1", "F3", "F12", silent=frozenset({"F12"}))
    for twin, held in (("clean", CLEAN), ("planted", text)):
        (tmp_path / twin).mkdir()
        (tmp_path / twin / f"{key.copy_id}.md").write_text(held, encoding="utf-8")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / f"{key.copy_id}.json").write_text(key.model_dump_json(), encoding="utf-8")
    return PlantedPapers(tmp_path)


def case(paper: str, text: str = SAID) -> ReviewCase:
    return ReviewCase(case_id="c1", paper_id=paper, source="arm", kind="ai", text=text)


async def measured(metric: Metric, papers: PlantedPapers | None, paper: str, text: str = SAID) -> MetricResult:
    return await metric.measure(case(paper, text), Context(planted=papers))


async def test_recall_counts_what_is_printed_and_silent_errors_apart(planted: PlantedPapers) -> None:
    result = await measured(RECALL, planted, planted.keys[0].planted_sha256)
    assert (result.value, result.parts["recall_high"], result.parts["n"]) == (0.5, 1.0, 2.0)
    assert (result.parts["silent"], result.parts["silent_found"]) == (1.0, 0.0)
    assert result.details["found_of"]["kind"] == {"direction": (0, 1), "number": (1, 1)}
    assert RECALL.rescore(result).value == 0.5


@pytest.mark.parametrize(
    ("text", "ghosts"), [("The abstract's 74.9 differs from Table 2.", 0.5), ("The seeds are too few.", 0.0)]
)
async def test_on_the_clean_twin_what_is_found_is_a_false_alarm(
    planted: PlantedPapers, text: str, ghosts: float
) -> None:
    result = await measured(ALARMS, planted, planted.keys[0].clean_sha256, text)
    assert result.value == ghosts
    assert result.parts["points_per_1000_words"] == pytest.approx(1_000 / len(CLEAN.split()))
    assert result.parts["refuted"] is None


@pytest.mark.parametrize(
    ("metric", "paper", "status", "reason"),
    [
        (RECALL, "0123456789ab-clean", "not_applicable", "a review of the clean copy, which false_alarms measures"),
        (ALARMS, "0123456789ab", "not_applicable", "a review of the planted copy, which planted_recall measures"),
        (RECALL, "another", "not_applicable", "belongs to paper 'another'"),
    ],
)
async def test_a_review_of_another_copy_is_not_measured(
    planted: PlantedPapers, metric: Metric, paper: str, status: str, reason: str
) -> None:
    result = await measured(metric, planted, paper)
    assert (result.status, reason in result.reason) == (status, True)


async def test_without_keys_or_text_there_is_no_number(planted: PlantedPapers) -> None:
    assert "--planted" in (await measured(RECALL, None, "0123456789ab")).reason
    empty = await measured(RECALL, planted, "0123456789ab", " ")
    assert (empty.status, empty.value) == ("failed", None)


@pytest.mark.parametrize("twin", ["clean", "planted"])
def test_an_edited_copy_is_refused_by_its_name_and_digest(planted: PlantedPapers, twin: str) -> None:
    file = planted.folder / twin / "0123456789ab.md"
    file.write_text(file.read_text() + " ")
    with pytest.raises(DataError, match=rf"{twin}/0123456789ab.md.*digest is [0-9a-f]{{64}}, not [0-9a-f]{{64}}"):
        PlantedPapers(planted.folder)


class Judge:
    """Answers each pair by its remark; ``controls`` says how known matches are answered, ``flips`` the second time."""

    def __init__(self, answer: str, *, controls: str = "same", flips: bool = False) -> None:
        self.answer, self.controls, self.flips, self.calls = answer, controls, flips, 0

    def __call__(self, user: str) -> Any:
        self.calls += 1
        pairs = re.findall(r"Pair (\d+)\nDefect: (.*)\n.*\n.*\nRemark: (.*)", user)
        return {"answers": [{"pair": int(n), "reason": "r", "answer": self._said(d, r)} for n, d, r in pairs]}

    def _said(self, defect: str, remark: str) -> str:
        if remark == defect:
            return self.controls
        if "disagree" in remark:
            return "related" if self.flips and self.calls > 1 else self.answer
        return "other"


@pytest.mark.parametrize(
    ("judge", "status", "value", "high"),
    [
        (Judge("same"), "scored", 1.0, 1.0),
        (Judge("related"), "scored", 0.5, 0.5),
        (Judge("same", flips=True), "scored", 0.5, 1.0),
        (Judge("same", controls="other"), "failed", None, None),
    ],
)
async def test_the_judge_is_asked_in_two_orders_and_controlled(
    planted: PlantedPapers, judge: Judge, status: str, value: float | None, high: float | None
) -> None:
    panel = panel_of(judge)
    result = await RECALL.measure(case("0123456789ab"), Context(planted=planted, panel=panel))
    assert (result.status, result.value, result.parts.get("recall_high")) == (status, value, high)
    first, second = (request.messages for request in requests_to(panel))
    assert first[0][1].index("`same`") < first[0][1].index("`other`")
    assert second[0][1].index("`other`") < second[0][1].index("`same`")
    remarks = [re.findall(r"Remark: (.*)", messages[1][1]) for messages in (first, second)]
    assert remarks[0] == remarks[1][::-1]
    assert "arm" not in first[1][1].split()
