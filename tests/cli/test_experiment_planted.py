"""``referee experiment planted``: each arm reviews planted and clean copies, and recall stands beside cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.experiments.arms import arms_of
from referee.experiments.plan_file import ABLATIONS, Given, load_plan
from tests.support import ChatRequest, FakeServer, Fault

from .command import Outcome, Referee
from .experiment_sets import result
from .planted_sets import install_planted, write_plants

Run = Callable[..., Outcome]


@pytest.fixture
def run(
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    referee: Referee,
    server: FakeServer,
    request: pytest.FixtureRequest,
) -> Run:
    """Three planted papers, the plan that ships, models a and b."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "1")
    install_planted(monkeypatch)
    write_plants(workplace / "plants", (1, 2, 3))
    arms = ("--strategy", "single", "--model", "a", "--model", "b", "--venue", "iclr-2020")

    def experiment(*arguments: object, plan: str = "planted") -> Outcome:
        return referee("experiment", plan, "--base-url", server.base_url, *arms, *arguments)

    return experiment


def writers(server: FakeServer) -> Counter[str]:
    return Counter(call.request.model for call in server.log.calls(role="writer") if call.request is not None)


@pytest.mark.slow
def test_arms_are_paired_by_paper_over_planted_and_clean_copies(run: Run, workplace: Path, server: FakeServer) -> None:
    dry = run("--planted", "plants", "--dry-run")
    assert dry.code == 0, dry.err
    assert "12 reviews of 3 papers by 2 arms" in dry.out
    assert "Note: each arm reviews the planted and the clean copy of each paper: 2 x 3 papers x 2 arms." in dry.out
    assert len(server.log.calls(endpoint="chat")) == 0

    done = run("--planted", "plants", "--out", "run")
    assert done.code == 0, done.err
    assert writers(server) == {"a": 6, "b": 6}
    found = result(workplace / "run")
    told = {one.metric: (one.n_pairs, one.n_not_applicable, one.mean_difference) for one in found.comparisons}
    assert told == {"planted_recall": (3, 0, 0.5), "false_alarms": (3, 0, 0.0)}
    assert {(value.arm, value.value) for value in found.values if value.metric == "planted_recall"} == {
        ("a", 0.25),
        ("b", 0.75),
    }
    assert {len(value.by_seed) for value in found.values} == {1}
    assert "tokens a review | cost a review" in done.out
    assert (workplace / "run" / "plots" / "cost-planted-recall.svg").is_file()
    assert not (workplace / "run" / "table2.md").exists()
    sent = [call.request.system + call.request.user for call in server.log if call.request is not None]
    assert not any("planted" in text.lower() for text in sent)

    again = run("--planted", "plants", "--resume", "run")
    assert again.code == 0, again.err
    assert len(server.log.calls(endpoint="chat")) == 12
    assert result(workplace / "run") == found


@pytest.mark.slow
def test_a_copy_that_fails_takes_its_pair_out_of_every_arm(run: Run, workplace: Path, server: FakeServer) -> None:
    reply = server.script.entries.get("writer")

    def writer(request: ChatRequest) -> object:
        ill = request.model == "b" and "harbour 2" in request.user and "count 40" in request.user
        return Fault("400") if ill else request.instance() if reply is None else reply

    server.script.entries["writer"] = writer
    assert run("--planted", "plants", "--out", "run").code == 0
    found = result(workplace / "run")
    assert {(one.n_pairs, one.n_failed) for one in found.comparisons} == {(2, 1)}
    server.script.entries.pop("writer")
    before = writers(server)
    assert run("--planted", "plants", "--resume", "run").code == 0
    assert writers(server) - before == {"b": 1}
    assert {one.n_pairs for one in result(workplace / "run").comparisons} == {3}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda plants: (plants / "planted" / "4e07408562be.md").write_text("Other.\n"),
            "is not the one that its key was made for",
        ),
        (
            lambda plants: (plants / "clean" / "4e07408562be.md").unlink(),
            "plants/clean/4e07408562be.md' cannot be read: No such file",
        ),
        (
            lambda plants: (plants / "keys" / "4e07408562be.json").unlink(),
            "plants/keys/4e07408562be.json' cannot be read: No such file",
        ),
        (lambda plants: (plants / "keys" / "4e07408562be.json").write_text("{}"), "is no key of a planted paper"),
        (lambda plants: plants.rename(plants.with_name("gone")), "holds no planted paper"),
    ],
)
def test_plants_that_cannot_be_used_are_named(
    run: Run, workplace: Path, change: Callable[[Path], object], says: str
) -> None:
    change(workplace / "plants")
    done = run("--planted", "plants", "--dry-run")
    assert done.code == 2
    assert says in done.err
    assert "referee plant PAPER --out FOLDER" in done.err


def test_planted_metrics_need_planted_papers_and_files_are_no_part_of_them(run: Run, workplace: Path) -> None:
    none = run("--paper", "plants/clean", "--dry-run")
    assert none.code == 2
    assert "'planted_recall' is of planted errors, and the plan names no folder of planted papers" in none.err
    both = run("--paper", "plants/clean", "--planted", "plants", "--dry-run")
    assert both.code == 2
    assert "names files beside a folder of planted papers" in both.err


def test_a_plan_names_its_planted_papers_and_any_metric_beside(run: Run, workplace: Path) -> None:
    plan = '[grid]\nstrategies = ["single"]\n[papers]\nplanted = "plants"\n[measure]\nmetrics = ["planted_recall"]\n'
    (workplace / "mine.toml").write_text(plan)
    done = run("--dry-run", "--metrics", "planted_recall,words", plan="mine.toml")
    assert done.code == 0, done.err
    assert "12 reviews of 3 papers" in done.out
    assert "measuring (judges: none)" in done.out
    judged = run("--dry-run", "--judge", "j", plan="mine.toml")
    assert "measuring (judges: j@" in judged.out, "a judge that is named is asked by a metric that can do without"
    assert json.loads((workplace / "plants" / "keys" / "4e07408562be.json").read_text())["copy_id"] == "4e07408562be"


@pytest.mark.parametrize("plan", ABLATIONS)
def test_every_ablation_runs_dry(
    plan: str, workplace: Path, referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_planted(monkeypatch)
    write_plants(workplace / "plants", (1,))
    people = (
        '{"case_id": "h", "paper_id": "6b86b273ff34", "source": "human", "kind": "human", "text": "Well.", "rating": 6}'
    )
    (workplace / "human.jsonl").write_text(people)
    arms = len(
        arms_of(load_plan(plan, Given(venue="iclr-2020", models=["m", "n"] if plan == "second-model" else [])).plan)
    )
    of_people = plan in ("example", "scores")
    papers = ("--paper", "plants/clean", "--references", "human.jsonl") if of_people else ("--planted", "plants")
    models = ("--model", "m", *(("--model", "n") if plan == "second-model" else ()))
    done = referee(
        "experiment", plan, *papers, *models, "--venue", "iclr-2020", "--base-url", server.base_url, "--dry-run"
    )
    assert done.code == 0, done.err
    reviews = arms if of_people else 2 * arms
    assert f"{reviews} reviews of 1 paper by {arms} arms; 0 papers excluded." in done.out
    assert "impossible" not in done.out
    assert len(server.log.calls(endpoint="chat")) == 0


@pytest.mark.slow
def test_an_ablation_runs_to_its_end_part_by_part_in_both_arms(
    workplace: Path, referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.cli.planted_sets.RECALL", {"with the card": 0.5, "without the card": 0.25})
    install_planted(monkeypatch)
    write_plants(workplace / "plants", (1,))
    given = ("--planted", "plants", "--model", "m", "--venue", "iclr-2020", "--base-url", server.base_url)
    done = referee("experiment", "card", *given, "--out", "run")
    assert done.code == 0, done.err
    found = result(workplace / "run")
    assert [(one.n_pairs, one.mean_difference) for one in found.comparisons] == [(1, -0.25), (1, 0.0)]
    asked = Counter(call.prompt_id for call in server.log.calls(endpoint="chat"))
    assert "review/section" in " ".join(asked)
    assert [arm.units["finished"] for arm in found.arms] == [2, 2]
