"""One test for each fault of the public reference implementation, by what ``referee eval`` does instead.

``FAULTS`` names the tests, here and elsewhere; those that concern the whole command are in this file.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions, evaluate
from referee.evals.registry import PRESETS
from referee.evals.results import read_results
from referee.graphs.factuality.verdicts import OUTCOMES
from referee.schemas.metric import MetricResult
from tests.evals_data.content_judge import script
from tests.support import ChatRequest, FakeServer, Script

from .command import Referee
from .eval_sets import review

TESTS = Path(__file__).parents[1]
HERE = "cli/test_reference_faults.py"
UNIT = "unit/evals"
FAULTS = {
    "a failed metric becomes 0.5 or 1": (
        f"{HERE}::test_a_judge_that_says_nothing_fails_every_metric_after_bounded_calls",
        f"{UNIT}/test_runner_table.py::test_what_is_not_scored_leaves_no_number",
    ),
    "a factuality failure becomes 0.0": (
        "graphs/test_factuality.py::test_a_splitting_that_fails_is_a_failure_and_a_used_up_budget_ends_the_run",
        f"{UNIT}/test_factual_correctness.py::test_nothing_that_was_not_measured_becomes_a_number",
    ),
    "an empty reply is asked again without limit": (
        f"{HERE}::test_a_judge_that_says_nothing_fails_every_metric_after_bounded_calls",
    ),
    "an unparsable reply becomes 0 or the first number in it": (
        f"{HERE}::test_a_judge_that_says_nothing_fails_every_metric_after_bounded_calls",
        f"{UNIT}/test_depth.py::test_no_number_is_fished_out_of_a_reply_that_does_not_fit",
        f"{UNIT}/test_constructiveness.py::test_an_unparsable_or_empty_reply_is_no_score",
        f"{UNIT}/test_adherence.py::test_an_empty_or_unparsable_reply_is_no_score",
    ),
    "topics are cut with a fixed strip that breaks from item 10": (
        f"{UNIT}/test_topic_coverage.py::test_more_than_ten_topics_are_whole_and_a_full_list_is_said",
        "unit/agents/test_topic_extractor.py::test_a_topic_keeps_what_stands_before_it_however_many_there_are",
    ),
    "m x n calls for one pair of reviews, one after the other": (
        f"{UNIT}/test_topic_coverage.py::test_the_fixture_through_the_judge_in_three_calls",
        "evals_data/test_expert_rows.py::test_coverage_takes_at_most_three_calls_a_pair_and_topics_once_a_run",
        f"{UNIT}/test_runner.py::test_the_window_is_full_and_bounded",
    ),
    "papers of one file name share a cache": (
        "graphs/test_factuality.py::test_two_papers_of_one_file_name_checked_side_by_side_never_meet",
        f"{HERE}::test_papers_of_one_file_name_in_two_runs_side_by_side_never_meet",
    ),
    "one paper is checked against another's passages": (
        "graphs/test_factuality.py::test_a_search_over_another_paper_is_a_failure",
        "evals_data/test_factuality_in_full.py::test_no_prompt_holds_passages_of_two_papers",
        f"{UNIT}/test_runner.py::test_a_paper_has_one_index_of_its_own_that_is_closed_in_the_end",
    ),
    "the full evaluation has all but one metric switched off": (
        f"{HERE}::test_without_a_choice_all_six_metrics_measure_and_only_text_goes_to_the_judge_that_was_named",
        f"{UNIT}/test_metric.py::test_without_names_the_preset_quality_is_meant",
    ),
    "states are added up twice and scores halved by hand": (
        f"{HERE}::test_nothing_is_counted_twice_on_its_way_through_the_machine",
        "graphs/test_factuality.py::test_the_fixture_of_the_definition",
    ),
    "figures are always sent to one vendor": (
        f"{HERE}::test_without_a_choice_all_six_metrics_measure_and_only_text_goes_to_the_judge_that_was_named",
    ),
    "settings are edited in the source": (
        f"{HERE}::test_papers_of_one_file_name_in_two_runs_side_by_side_never_meet",
        "cli/test_eval.py::test_every_flag_is_described",
    ),
}
PAPER = """# Counting Whales

## Survey

The survey counted {count} whales from three boats within nine days. Each boat kept to a lane of its own.

## Limits

Night passages were not observed, so that the count is a lower bound.
"""
TEXT = "The survey counted 412 whales. Please report the error of the count, as Table 1 gives none."


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_tests(fault: str) -> None:
    for named in FAULTS[fault]:
        file, _, name = named.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), named


def write(folder: Path, *, count: int = 412) -> Path:
    """A system's review and two human ones of one paper, which is called 001.md, beside it."""
    (folder / "papers").mkdir(parents=True)
    (folder / "papers" / "001.md").write_text(PAPER.format(count=count), encoding="utf-8")
    rows = [review(name, "001", who, f"{TEXT} {name}.") for name, who in (("a", "gpt"), ("h", "human"), ("i", "human"))]
    lines = [json.dumps(row | {"venue": "neurips-2025"}) for row in rows]
    (folder / "set.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "set.jsonl"


def results(run: Path) -> list[MetricResult]:
    return list(read_results(run / "results.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("said", ["", "Score: 3 out of 3. Valid.", "{}", "null"])
def test_a_judge_that_says_nothing_fails_every_metric_after_bounded_calls(
    referee: Referee, workplace: Path, server: FakeServer, said: str
) -> None:
    server.script.entries["*"] = said
    source = write(workplace / "set")
    given = ("--papers", workplace / "set" / "papers", "--judge", "m", "--embedder", "e", "--base-url", server.base_url)
    done = referee("eval", source, *given, "--no-cache", "--out", "run")
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    for one in results(workplace / "run"):
        if one.metric == "semantic_similarity":
            assert one.status == "scored"
            continue
        assert (one.status, one.value) == ("failed", None), one.metric
        assert one.reason
    asked = Counter(call.request.prompt_id.partition("@")[0] for call in server.log.calls(endpoint="chat"))
    assert set(asked) == {f"eval/{name}" for name in ("topics", "insights", "depth", "adherence", "points")}
    # A question, its repair rounds, and no more; equal questions of the three reviews do not exist.
    assert max(asked.values()) <= 3 * 4
    cells = json.loads((workplace / "run" / "summary.json").read_text())["cells"]
    assert {cell["mean"] for cell in cells if cell["metric"] != "semantic_similarity"} == {None}


@pytest.mark.slow
def test_without_a_choice_all_six_metrics_measure_and_only_text_goes_to_the_judge_that_was_named(
    referee: Referee, workplace: Path, server: FakeServer
) -> None:
    source = write(workplace / "set")
    given = ("--papers", workplace / "set" / "papers", "--judge", "m", "--embedder", "e", "--base-url", server.base_url)
    done = referee("eval", source, *given, "--no-cache", "--out", "run")
    assert done.code == 0, done.err
    assert Counter(one.metric for one in results(workplace / "run")) == dict.fromkeys(PRESETS["quality"], 3)
    assert {one.metric for one in results(workplace / "run") if one.usage.calls} == {*PRESETS["quality"]} - {
        "semantic_similarity"
    }
    for call in server.log.calls(endpoint="chat"):
        assert call.request.model == "m"
        assert all(isinstance(message.text, str) for message in call.request.messages)
        assert "image" not in json.dumps(dict(call.request.params))
    assert {call.request.model for call in server.log.calls(endpoint="embeddings")} == {"e"}


def test_nothing_is_counted_twice_on_its_way_through_the_machine(
    referee: Referee, workplace: Path, server: FakeServer
) -> None:
    server.script.entries.update(script().entries)
    source = write(workplace / "set")
    given = ("--papers", workplace / "set" / "papers", "--judge", "m", "--judge", "n", "--repeats", 2)
    where = ("--embedder", "e", "--base-url", server.base_url, "--no-cache", "--out", "run")
    done = referee("eval", source, *given, *where, "--metrics", "factual_correctness")
    assert done.code == 0, done.err
    calls, voted = 0, 0
    for one in results(workplace / "run"):
        points = one.details["points"]
        assert len({point["id"] for point in points}) == len(points)
        assert sum(one.parts[kind] or 0 for kind in OUTCOMES) == len(points)
        for examined in filter(None, (point["examined"] for point in points)):
            votes = [(vote["judge"], vote["repeat"]) for vote in examined["votes"]]
            assert len(votes) == len(set(votes)) in (0, 4)
            places = [answer["place"] for answer in examined["answers"]]
            assert places == sorted(set(places))
            voted += bool(votes)
        calls += one.usage.calls
    assert voted
    assert calls == len(server.log.calls(endpoint="chat"))


async def test_papers_of_one_file_name_in_two_runs_side_by_side_never_meet(workplace: Path) -> None:
    """Each run has judge, server, papers and folder of its own, named by arguments alone."""

    async def one(name: str, count: int) -> tuple[FakeServer, list[MetricResult]]:
        source = write(workplace / name, count=count)
        with FakeServer(Script({"eval/points": _claims}), context_tokens=32_000) as server:
            await evaluate(
                source,
                papers=source.parent / "papers",
                metrics=["factual_correctness"],
                judges=[f"judge-of-{name}"],
                embedder="e",
                options=RunOptions(base_url=server.base_url, cache=False, out=workplace / f"run-{name}"),
            )
        return server, results(workplace / f"run-{name}")

    found = await asyncio.gather(one("first", 412), one("second", 999))
    for (server, measured), own, other in zip(found, ("412", "999"), ("999", "412"), strict=True):
        texts = [p["text"] for one in measured for p in one.details["passages"].values()]
        assert any(own in text for text in texts)
        assert not any(other in text for text in texts)
        passages = [c.request.text for c in server.log.calls(endpoint="chat") if "<passage" in c.request.text]
        assert passages
        assert all(f"counted {own} whales from" in text for text in passages if "whales from" in text)
        name = "first" if own == "412" else "second"
        assert {c.request.model for c in server.log.calls(endpoint="chat")} == {f"judge-of-{name}"}


def _claims(request: ChatRequest) -> dict[str, Any]:
    return {"points": [{"sentences": ["s1"], "statement": "The survey counted 412 whales.", "kind": "claim"}]}
