"""A prompt of one's own on the command line: each command that asks a model asks with it, and the run says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee.runs.folder import read_record
from tests.graphs.guidelines_script import PAGE
from tests.support import FakeServer
from tests.unit.prompts.test_own import MARK, own_text

from .command import Outcome, Referee

PAPER = """# Counting lanterns

## Abstract

We count 40 lanterns on the harbour corpus with one encoder, and report the mean of five seeds.

## Method

Every encoder is trained on the harbour corpus with one fixed seed [1], and nothing else is tuned at all.

## Results

There are 40 lanterns in the harbour, and the two clerks agree on each of them in every run of the study.

## References

[1] Ada Lo. 2020. Counting lanterns in a harbour with two clerks. In Harbour Days.
"""
REVIEWS = [
    {"review_id": f"r{n}", "paper_id": "paper", "source": source, "venue": "ICLR", "year": 2021, "rating": "6"}
    | {"review": f"The paper counts lanterns well. The method lacks an ablation of the seed. Signed {n}. " * 4}
    for n, source in enumerate(("human", "ai:x"))
]
REVIEW = ("review", "paper.md", "--venue", "iclr-2025", "--model", "fake")
EVAL = ("eval", "set.jsonl", "--papers", "paper.md", "--judge", "m")
KINDS = {
    "review/single": (*REVIEW, "--strategy", "single"),
    "review/audit": REVIEW,
    "review/final": REVIEW,
    "review/enriched": (*REVIEW, "--strategy", "enriched", "--target", "6"),
    "review/archetype": (*REVIEW, "--strategy", "archetype"),
    "review/ensemble": (*REVIEW, "--strategy", "ensemble", "--ensemble-size", 2, "--reflections", 1),
    "review/chair": (*REVIEW, "--strategy", "ensemble", "--ensemble-size", 2, "--reflections", 1),
    "review/team-gather": (*REVIEW, "--strategy", "multi-agent"),
    "review/passage": (*REVIEW, "--strategy", "progressive"),
    "literature/queries": (*REVIEW, "--strategy", "single", "--literature", "works.jsonl", "--as-of", "2021-06-30"),
    "refinement/criticise": ("venue", "refine", "corl-2024", "--model", "fake", "--rounds", 1),
    "refinement/revise": ("venue", "refine", "corl-2024", "--model", "fake", "--rounds", 1),
    "guidelines/read": ("venue", "compile", "guide.md", "--id", "my-venue-2026", "--model", "fake", "--rounds", 0),
    "eval/depth": (*EVAL, "--metrics", "depth"),
    "eval/assertions": (*EVAL, "--metrics", "assertions"),
    "eval/points": (*EVAL, "--metrics", "factual_correctness"),
    "detect/anchor": ("detect", "anchors", "--papers", "papers", "--models", "fake"),
    "detect/edit": (
        "detect", "generate", "set.jsonl", "--task", "edit", "--levels", "minimum", "--model", "fake",
    ),
    "plant/replace": ("plant", "rich.md", "--planter", "model", "--model", "fake"),
}  # fmt: skip


@pytest.fixture
def place(workplace: Path, examples: Path) -> Path:
    shutil.copy(examples / "paper.md", workplace / "rich.md")
    (workplace / "papers").mkdir()
    for path in (workplace / "paper.md", workplace / "papers" / "paper.md"):
        path.write_text(PAPER, encoding="utf-8")
    (workplace / "guide.md").write_text(PAGE, encoding="utf-8")
    (workplace / "set.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in REVIEWS), encoding="utf-8")
    work = {"title": "Lanterns of harbours", "year": 2019, "authors": ["Bo Li"], "abstract": "We count lanterns."}
    (workplace / "works.jsonl").write_text(f"{json.dumps(work)}\n", encoding="utf-8")
    return workplace


def mine(place: Path, prompt_id: str, more: str = "") -> str:
    (place / "mine.md").write_text(own_text(prompt_id) + more, encoding="utf-8")
    return f"{prompt_id}=mine.md"


def run(referee: Referee, server: FakeServer, command: Sequence[object], *more: object) -> Outcome:
    embedder = ("--embedder", "fake") if command[0] in ("review", "eval") or "generate" in command else ()
    return referee(*command, *embedder, "--base-url", server.base_url, "--no-cache", "--yes", *more)


def asked_with_it(server: FakeServer, prompt_id: str) -> list[str]:
    """The prompts of the calls that hold the sentence."""
    calls = [entry.request for entry in server.log if entry.request is not None and entry.endpoint == "chat"]
    return sorted({call.prompt_id for call in calls if MARK in "\n".join(m.text for m in call.messages)})


@pytest.mark.parametrize("prompt_id", KINDS)
def test_each_kind_of_command_asks_with_it_and_keeps_it(
    referee: Referee, server: FakeServer, place: Path, prompt_id: str
) -> None:
    done = run(referee, server, KINDS[prompt_id], "--prompt", mine(place, prompt_id), "--out", "run")
    asked = asked_with_it(server, prompt_id)
    assert asked, done.out + done.err
    record = read_record(place / "run")
    own = [name for name in record.prompts if name.startswith(f"{prompt_id}@mine.md-")]
    assert len(own) == 1
    assert any(name == own[0] for name in asked)
    assert record.unused_prompts == ()
    assert (place / "run" / "prompts" / f"{prompt_id.replace('/', '+')}.md").read_text() == own_text(prompt_id)
    assert record.settings["prompts"][prompt_id] == {"file": "mine.md", "text": own_text(prompt_id)}


SINGLE = KINDS["review/single"]


def test_a_run_goes_on_with_the_text_it_began_with(referee: Referee, server: FakeServer, place: Path) -> None:
    done = run(referee, server, SINGLE, "--prompt", mine(place, "review/single"), "--out", "run")
    assert done.code == 0, done.err
    before = len(server.log)
    (place / "renamed.md").write_text((place / "mine.md").read_text())
    renamed = run(referee, server, SINGLE, "--prompt", "review/single=renamed.md", "--resume", "run")
    assert (renamed.code, len(server.log)) == (0, before), renamed.err
    mine(place, "review/single", "Another sentence.\n")
    again = referee("review", "--resume", "run", "--base-url", server.base_url)
    assert again.code == 0
    assert len(server.log) == before, "nothing is asked anew"
    other = run(referee, server, SINGLE, "--prompt", "review/single=mine.md", "--resume", "run")
    assert other.code == 2
    assert "was started with another prompt 'review/single'" in other.err
    assert "the texts differ first in line" in other.err
    assert "prompts/review+single.md" in other.err
    assert len(server.log) == before


def test_a_file_of_the_settings_that_changed_does_not_change_the_run(
    referee: Referee, server: FakeServer, place: Path
) -> None:
    mine(place, "review/single")
    (place / "referee.toml").write_text('[prompts]\n"review/single" = "mine.md"\n')
    assert run(referee, server, SINGLE, "--out", "run").code == 0
    before = len(server.log)
    mine(place, "review/single", "Another sentence.\n")
    again = run(referee, server, SINGLE, "--resume", "run")
    assert again.code == 0
    assert len(server.log) == before


def test_a_prompt_that_the_strategy_does_not_use_is_said_and_recorded(
    referee: Referee, server: FakeServer, place: Path
) -> None:
    done = run(referee, server, SINGLE, "--prompt", mine(place, "review/audit"), "--out", "run")
    assert done.code == 0, done.err
    assert "chosen, but not used by this review: prompt review/audit" in done.err
    assert read_record(place / "run").unused_prompts == ("review/audit",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("review/single=mine.md", "review/single=other.md"), "--prompt names two for 'review/single'"),
        (("mine.md",), "--prompt 'mine.md' is not ID=FILE"),
        (("review/single=gone.md",), "there is no file 'gone.md'"),
        (("review/singel=mine.md",), "it was given for 'review/singel'"),
        (("review/single=v99",), "no version 'v99'"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_call(
    referee: Referee, server: FakeServer, place: Path, given: tuple[str, ...], said: str
) -> None:
    mine(place, "review/single")
    done = run(referee, server, SINGLE, *(word for one in given for word in ("--prompt", one)))
    assert done.code == 2, done.out + done.err
    assert said in done.err
    assert "  next: " in done.err
    assert len([entry for entry in server.log if entry.endpoint == "chat"]) == 0


@pytest.mark.parametrize("prompt_id", ["review/single", "eval/depth"])
def test_one_that_does_not_fit_is_refused_before_a_call(
    referee: Referee, server: FakeServer, place: Path, prompt_id: str
) -> None:
    given = mine(place, prompt_id, "Weigh every single lantern of the harbour twice.\n" * 12_000)
    done = run(referee, server, KINDS[prompt_id], "--prompt", given, "--out", "run")
    assert done.code != 0
    assert f"prompt '{prompt_id}' (mine.md-" in done.err
    assert "tokens, and fake" in done.err or "tokens, and m@" in done.err
    assert len([entry for entry in server.log if entry.endpoint == "chat"]) == 0
    assert not (place / "run").exists()


def test_values_by_different_prompts_are_never_pooled(referee: Referee, server: FakeServer, place: Path) -> None:
    command = KINDS["eval/depth"]
    assert run(referee, server, command, "--out", "shipped").code == 0
    done = run(referee, server, command, "--prompt", mine(place, "eval/depth"), "--out", "own")
    assert "judged with prompts in place of those that ship: eval/depth@mine.md-" in done.err
    rows = [json.loads(line) for line in (place / "own" / "results.jsonl").read_text().splitlines()]
    assert {row["prompts"]["eval/depth"][:8] for row in rows} == {"mine.md-"}
    both = shutil.copytree(place / "own", place / "both")
    with (both / "results.jsonl").open("a") as file:
        for line in (place / "shipped" / "results.jsonl").read_text().splitlines():
            file.write(
                json.dumps(json.loads(line) | {"case_id": "z", "status": "failed", "value": None, "reason": "x"})
            )
            file.write("\n")
    mixed = referee("rescore", "both")
    assert mixed.code != 0
    assert "by different prompts 'eval/depth'" in mixed.err


PLAN = """
[common]
strategy = "single"
venue = "iclr-2025"
model = "fake"

[[arms]]
name = "shipped"

[[arms]]
name = "own"
prompts = { "review/single" = "mine.md", "review/audit" = "v1" }

[[arms]]
name = "first"
prompts = { "review/single" = "v1" }

[papers]
files = ["../paper.md"]

[measure]
metrics = ["words"]
"""


def test_each_arm_of_an_experiment_asks_with_its_own(referee: Referee, server: FakeServer, place: Path) -> None:
    (place / "plans").mkdir()
    (place / "plans" / "plan.toml").write_text(PLAN)
    (place / "plans" / "mine.md").write_text(own_text("review/single"), encoding="utf-8")
    command = ("experiment", "plans/plan.toml", "--base-url", server.base_url, "--no-cache", "--yes")
    done = referee(*command, "--out", "run", "--prompt", "guidelines/label=v1")
    assert done.code == 0, done.out + done.err
    assert done.err.count("chosen, but not used by this experiment: prompt guidelines/label") == 1
    assert "not used by this review" not in done.err
    assert "arm 'own' names prompt 'review/audit', which its reviews do not use" in done.err
    calls = [entry.request for entry in server.log if entry.request is not None and entry.endpoint == "chat"]
    marked = {call.prompt_id: MARK in "\n".join(m.text for m in call.messages) for call in calls}
    assert len(calls) == 3
    assert sorted(marked.values()) == [False, False, True]
    (own,) = [name for name, has in marked.items() if has]
    assert set(marked) == {"review/single@v1", "review/single@v3", own}
    summary = json.loads((place / "run" / "summary.json").read_text())
    named = {arm["name"]: arm["prompts"].get("review/single") for arm in summary["arms"]}
    assert named == {"shipped": None, "own": own.partition("@")[2], "first": "v1"}
    (place / "plans" / "mine.md").write_text(own_text("review/single") + "Another.\n", encoding="utf-8")
    other = referee(*command, "--resume", "run")
    assert other.code == 2
    assert "was started with another arm 'own'" in other.err
