"""``referee experiment`` as a user meets it, against a server on this machine."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.schemas.run import RunRecord
from tests.support import ChatRequest, FakeServer, Fault

from .command import Outcome, Referee
from .eval_sets import install, review
from .experiment_sets import result, two_arms, write_papers

Run = Callable[..., Outcome]


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three short papers and a plan of two arms; the judge likes reviews by model b better."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "1")
    install(monkeypatch)
    write_papers(workplace / "papers", (1, 2, 3))
    (workplace / "plan.toml").write_text(two_arms("papers/*.md"))
    return workplace


@pytest.fixture
def run(place: Path, referee: Referee, server: FakeServer) -> Run:
    server.script.entries["judge"] = {"reason": "so", "score": 3}

    def experiment(*arguments: object, plan: str = "plan.toml") -> Outcome:
        return referee("experiment", plan, "--base-url", server.base_url, *arguments)

    return experiment


def record(folder: Path) -> RunRecord:
    return RunRecord.model_validate_json((folder / "run.json").read_text())


def writers(server: FakeServer) -> Counter[str]:
    """Calls that wrote reviews, by model."""
    return Counter(call.request.model for call in server.log.calls(role="writer") if call.request is not None)


def changed(place: Path, old: str, new: str, name: str = "plan.toml") -> None:
    text = (place / "plan.toml").read_text()
    assert old in text
    (place / name).write_text(text.replace(old, new))


@pytest.mark.slow
def test_arms_are_reviewed_measured_and_compared_paper_by_paper(run: Run, place: Path, server: FakeServer) -> None:
    done = run("--out", "run")
    assert done.code == 0, done.err
    assert "6 reviews of 3 papers by 2 arms; 0 papers excluded." in done.err
    assert writers(server) == {"a": 3, "b": 3}
    assert len(server.log.calls(role="judge")) == 6
    found = result(place / "run")
    (one,) = found.comparisons
    assert (one.first, one.second, one.n_pairs, one.n_failed, one.mean_difference) == ("b", "a", 3, 0, 0.0)
    assert [arm.usage.calls for arm in found.arms] == [3, 3]
    assert [arm.judging.calls for arm in found.arms] == [3, 3]
    assert found.paid.calls == record(place / "run").usage.calls == 12
    assert {value.status for value in found.values} == {"scored"}
    rows = list(csv.DictReader((place / "run" / "comparisons.csv").read_text().splitlines()))
    assert rows[0]["n_pairs"] == "3"
    assert "| b less a   | tone" in done.out
    assert "| a      | 3.0000" in (place / "run" / "table2.md").read_text()
    assert {path.suffix for path in (place / "referee-runs" / "units").iterdir()} == {"", ".json", ".lock"}

    again = run("--resume", "run")
    assert again.code == 0, again.err
    assert "there already" in again.err
    assert "Estimate: no call." in again.err
    assert len(server.log.calls(endpoint="chat")) == 12
    assert result(place / "run") == found


@pytest.mark.slow
def test_a_later_plan_pays_only_what_no_earlier_one_made(run: Run, place: Path, server: FakeServer) -> None:
    assert run("--out", "first").code == 0
    changed(place, '"a", "b"', '"b", "c"', "other.toml")
    done = run("--out", "second", "--no-cache", plan="other.toml")
    assert done.code == 0, done.err
    assert "b: 3 reviews, 3 there already, no call" in done.err
    assert writers(server) == {"a": 3, "b": 3, "c": 3}
    arms = {arm.name: arm.units for arm in result(place / "second").arms}
    assert (arms["b"]["reused"], arms["c"]["reused"]) == (3, 0)


def test_another_seed_is_another_review_that_no_cache_answers(run: Run, place: Path, server: FakeServer) -> None:
    changed(place, "[grid]", "seeds = [0, 1]\n[grid]")
    done = run("--out", "run", "--arm", "a")
    assert done.code == 0, done.err
    assert "Note: at temperature 0 the seeds of an arm hardly differ" in done.err
    assert writers(server) == {"a": 6}
    found = result(place / "run")
    assert {len(value.by_seed) for value in found.values} == {2}
    assert found.comparisons == ()


def test_a_dry_run_prints_units_calls_and_cost_and_does_nothing(run: Run, place: Path, server: FakeServer) -> None:
    before = sorted(path.name for path in place.iterdir())
    done = run("--dry-run")
    assert done.code == 0, done.err
    assert "a: 3 reviews, about 3 calls" in done.out
    assert "measuring (judges: judge@127.0.0.1" in done.out
    assert "Estimate: about 12 calls" in done.out
    assert "cost unknown" in done.out
    assert server.log.calls(endpoint="chat") == []
    assert [name for name in sorted(path.name for path in place.iterdir()) if name != "cache"] == before


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("strategies =", "strategy =", "'grid.strategy', which is no key of the table 'grid'"),
        ('["a", "b"]', "[]", "the grid is empty: 'models' lists nothing"),
        ('"single"', '"singel"', "there is no strategy 'singel'"),
        ('["tone"]', '["tones"]', "there is no metric 'tones'"),
        ('["tone"]', '["semantic_similarity"]', "can be measured on no paper: the plan names no human reviews"),
        ("papers/*.md", "papers/*.pdf", "no paper is found by 'papers/*.pdf'"),
        ("iclr-2020", "iclr-1920", "'iclr-1920'"),
        ('models = ["a", "b"]', 'models = ["a", "a "]', "ask for the same reviews"),
        ("[papers]", "[budget]\nmax_cost = 1\n[papers]", "price"),
        ("[papers]", "[common]\nsettings = {'budget.max_cost' = 1}\n[papers]", "decides nothing about a review"),
        ("[papers]", "[common]\nsettings = {'review.appendix' = true}\n[papers]", "is not a setting"),
    ],
)
def test_a_plan_that_cannot_work_is_refused_before_a_call(
    run: Run, place: Path, server: FakeServer, old: str, new: str, says: str
) -> None:
    changed(place, old, new)
    done = run("--out", "run")
    assert done.code == 2
    assert says in done.err
    assert "next:" in done.err
    assert not (place / "run").exists()
    assert server.log.calls(endpoint="chat") == []


def test_human_reviews_of_other_papers_satisfy_no_metric(run: Run, place: Path) -> None:
    (place / "human.jsonl").write_text(json.dumps(review("h", "elsewhere", "human", "Good.")))
    done = run("--metrics", "semantic_similarity", "--references", "human.jsonl")
    assert done.code == 2
    assert "holds no human review of these papers" in done.err


def test_length_readability_and_distance_to_people_s_ratings_are_measured_like_any_metric(
    run: Run, place: Path
) -> None:
    rows = [review(f"h{n}", f"p{n}", "human", "It is sound.") | {"rating": n, "venue": "iclr-2020"} for n in (1, 3, 6)]
    (place / "human.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = run("--out", "run", "--references", "human.jsonl", "--metrics", "words,fre,xref,rating_distance")
    assert done.code == 0, done.err
    found = result(place / "run")
    assert {one.metric for one in found.comparisons} == {"words", "fre", "xref", "rating_distance"}
    by_metric = {one.metric: one for one in found.values if one.arm == "a" and one.paper == "p1"}
    assert (by_metric["words"].value or 0) > 1
    assert by_metric["rating_distance"].value is not None, by_metric["rating_distance"].reason


def test_human_reviews_are_a_row_beside_the_arms(run: Run, place: Path) -> None:
    rows = [review(f"h{n}", f"p{n}", "human", f"Reviewer {n} finds it sound.") for n in (1, 2, 3)]
    (place / "human.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = run("--out", "run", "--references", "human.jsonl")
    assert done.code == 0, done.err
    assert "| Expert | 3.0000" in done.out
    assert [paper.references for paper in result(place / "run").papers] == [1, 1, 1]


@pytest.mark.slow
def test_a_paper_that_cannot_be_read_is_excluded_from_every_arm_and_said(
    run: Run, place: Path, server: FakeServer
) -> None:
    (place / "papers" / "p2.md").write_bytes(b"%PDF-1.7 no more than this")
    done = run("--out", "run")
    assert done.code == 0, done.err
    assert "Note: paper 'p2' is excluded from every arm" in done.err
    assert writers(server) == {"a": 2, "b": 2}
    found = result(place / "run")
    assert [paper.name for paper in found.papers if paper.excluded] == ["p2"]
    assert found.comparisons[0].n_pairs == 2
    assert "## Excluded from every arm" in (place / "run" / "summary.md").read_text()
    for n in (1, 3):
        (place / "papers" / f"p{n}.md").write_bytes(b"%PDF-1.7 no more than this")
    none = run("--out", "none")
    assert none.code == 2 or "hold the same paper" in none.err


@pytest.mark.slow
def test_a_model_that_dies_half_way_fails_the_pair_in_every_arm(run: Run, place: Path, server: FakeServer) -> None:
    dead = [True]

    def writer(request: ChatRequest) -> Any:
        gone = dead[0] and request.model == "b" and "harbour 2" in request.user
        return Fault("503") if gone else request.instance()

    server.script.entries["writer"] = writer
    done = run("--out", "run")
    assert done.code == 0, done.err
    found = result(place / "run")
    (one,) = found.comparisons
    assert (one.n_pairs, one.n_failed) == (2, 1)
    by_place = {(value.paper, value.arm): value for value in found.values}
    assert {by_place["p2", arm].status for arm in "ab"} == {"failed"}
    assert by_place["p2", "a"].reason.startswith("arm 'b': ")
    assert len(server.log.calls(role="judge")) == 4  # the failed pair is not judged
    assert "tries them again" in record(place / "run").error

    dead[0] = False
    paid = writers(server)
    done = run("--resume", "run")
    assert done.code == 0, done.err
    assert writers(server) - paid == {"b": 1}
    assert len(server.log.calls(role="judge")) == 6
    assert result(place / "run").comparisons[0].n_pairs == 3


def test_a_plan_that_was_edited_meanwhile_is_refused_with_what_changed(run: Run, place: Path) -> None:
    assert run("--out", "run").code == 0
    write_papers(place / "papers", (7,))
    (place / "papers" / "p7.md").rename(place / "papers" / "p1.md")
    changed(place, "[papers]", "[common]\nsettings = {'models.temperature' = 0.5}\n[papers]")
    done = run("--resume", "run", "--metrics", "sections")
    assert done.code == 2
    assert "was started with another arm 'a' and another arm 'b' and another list of metrics" in done.err
    assert "another paper 'p1'" in done.err


@pytest.mark.slow
def test_half_a_budget_ends_balanced_and_resumes(run: Run, place: Path, server: FakeServer) -> None:
    assert run("--out", "whole", "--store", "elsewhere", "--no-cache").code == 0
    tokens = result(place / "whole").paid.total_tokens
    none = run("--out", "none", "--no-cache", "--max-tokens", 100)
    reserved = int(re.findall(r"may take up to ([\d,]+) tokens", none.err)[0].replace(",", ""))
    before = writers(server)
    limit = reserved + tokens // 2
    done = run("--out", "run", "--no-cache", "--max-tokens", limit)
    assert done.code == 3, done.err
    assert "continue with --resume run" in done.err
    made = writers(server) - before
    assert 0 < sum(made.values()) < 6
    assert abs(made["a"] - made["b"]) <= 1
    found = result(place / "run")
    assert (found.status, record(place / "run").status) == ("stopped", "stopped")
    (one,) = found.comparisons
    assert one.n_pairs + one.n_pending == 3
    assert 0 < one.n_pending < 3
    assert found.paid.total_tokens <= limit

    done = run("--resume", "run", "--no-cache")
    assert done.code == 0, done.err
    assert writers(server) - before == {"a": 3, "b": 3}
    assert result(place / "run").comparisons[0].n_pairs == 3
    assert result(place / "run").paid.total_tokens == tokens


@pytest.mark.slow
def test_the_test_split_is_opened_once(run: Run, place: Path, server: FakeServer) -> None:
    changed(place, "[measure]", '[splits]\ntest = ["p3"]\n[measure]')
    assert run("--out", "dev").code == 0
    assert writers(server) == {"a": 2, "b": 2}
    done = run("--on", "test", "--out", "final")
    assert done.code == 0, done.err
    assert "The test split was opened; the seal is final/seal.json." in done.out
    found = result(place / "final")
    assert (found.split, [paper.name for paper in found.papers]) == ("test", ["p3"])
    (seal,) = (place / "referee-runs" / "seals").iterdir()
    assert found.plan_digest == json.loads(seal.read_text())["plan_digest"]
    assert json.loads(seal.read_text())["results_digest"]

    for more in (("--out", "again"), ("--resume", "final")):
        done = run("--on", "test", *more)
        assert done.code == 2
        assert f"the seal is '{seal.relative_to(place)}'" in done.err
    assert not (place / "again").exists()
    assert run("--resume", "dev").code == 0

    without = run("--on", "test", "--out", "none", "--arm", "a")
    before = "Note: 1 of 1 files of the test split were looked at before, by the plan 'plan' on "
    assert before in without.err
    assert before in (place / "none" / "summary.md").read_text().replace("- Note", "Note")
    assert "as test papers, under the same metrics" in without.err
    assert found.notes == result(place / "final").notes
    assert not any("looked at before" in note for note in found.notes)


def test_a_judge_that_also_writes_is_warned_about(run: Run) -> None:
    done = run("--dry-run", "--judge", "a")
    assert done.code == 0, done.err
    assert "also writes reviews: models prefer their own" in done.out


PLANS = Path(__file__).parents[2] / "examples" / "plans"
ONE_PAPER = ("--paper", "papers/p1.md", "--venue", "iclr-2025", "--metrics", "tone", "--judge", "judge")


@pytest.mark.parametrize(
    ("plan", "arms"),
    [
        ("ablation", 8),
        (str(PLANS / "ablation.toml"), 8),
    ],
)
def test_the_plans_that_take_steps_out_can_be_run(run: Run, server: FakeServer, plan: str, arms: int) -> None:
    done = run("--dry-run", *ONE_PAPER, "--model", "a", plan=plan)
    assert done.code == 0, done.err
    assert f"{arms} reviews of 1 paper by {arms} arms" in done.out
    assert server.log.calls(endpoint="chat") == []


def test_an_arm_of_a_strategy_without_the_step_is_refused_by_name(run: Run, place: Path) -> None:
    (place / "steps.toml").write_text(
        "[common]\nvenue = 'iclr-2025'\nmodel = 'a'\n[[arms]]\nname = 'no card'\nstrategy = 'single'\nablate = ['card']"
    )
    done = run("--dry-run", *ONE_PAPER, plan="steps.toml")
    assert done.code == 2
    assert "arm 'no card': strategy 'single' has no step 'card'" in done.err
    assert "Name the strategy sections" in done.err, "a plan that lists its arms takes no --strategy"


@pytest.mark.slow
def test_an_arm_without_a_step_makes_reviews_of_its_own(run: Run, place: Path) -> None:
    (place / "rules.toml").write_text(
        "[common]\nstrategy = 'sections'\nvenue = 'iclr-2025'\nmodel = 'a'\n"
        "[[arms]]\nname = 'as it is'\n"
        "[[arms]]\nname = 'no rules'\nablate = ['rules']\n[[arms]]\nname = 'no cross'\nablate = ['cross']"
    )
    done = run("--out", "run", *ONE_PAPER, plan="rules.toml")
    assert done.code == 0, done.err
    units = [json.loads(path.read_text()) for path in (place / "referee-runs" / "units").glob("*.json")]
    told = sorted(unit.get("set of steps taken out", "none") for unit in units)
    assert told == ["cross", "none", "rules"], units
    arms = {arm.name: arm.ablate for arm in result(place / "run").arms}
    assert arms == {"as it is": (), "no rules": ("rules",), "no cross": ("cross",)}


def test_a_grid_leaves_out_rounds_of_what_refines_nothing(run: Run, place: Path) -> None:
    changed(place, "[papers]", "rounds = [0, 1]\n[papers]")
    changed(place, '["a", "b"]', '["a"]')
    done = run("--dry-run")
    assert done.code == 0, done.err
    assert "3 reviews of 3 papers by 1 arm;" in done.out
    assert "have no prompts to refine and are left out of the grid: 1 round" in done.out


def test_the_plan_of_table_2_prints_its_layout_beside_the_published_one(run: Run, place: Path) -> None:
    rows = [review(f"h{n}", f"p{n}", "human", f"Reviewer {n} finds it sound.") for n in (1, 2, 3)]
    (place / "human.jsonl").write_text("\n".join(map(json.dumps, rows)))
    on = ("--paper", "papers/p1.md", "--venue", "iclr-2020", "--strategy", "single", "--model", "a", "--judge", "judge")
    done = run("--out", "run", *on, "--references", "human.jsonl", "--metrics", "tone", plan="table2")
    assert done.code == 0, done.err
    text = (place / "run" / "table2.md").read_text()
    assert "| Expert" in text
    assert "Sakana GPT-4o" in text


@pytest.mark.slow
def test_an_experiment_of_which_every_review_failed_is_no_success(run: Run, place: Path, server: FakeServer) -> None:
    server.script.entries["writer"] = lambda request: Fault("503")
    done = run("--out", "run")
    assert done.code == 2
    assert "error: none of the 6 reviews was made; the most frequent reason: " in done.err
    assert "--resume run tries them again" in done.err
    assert (place / "run" / "summary.md").is_file()
    assert record(place / "run").status == "failed"
