"""Two prompts, the same papers: what a researcher who iterates on a prompt types, and what the result says first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ChatRequest, FakeServer, Fault

from .command import Outcome, Referee
from .experiment_sets import result, write_papers

Run = Callable[..., Outcome]

# Words of the second version of the prompt alone.
SECOND = "Say everything that a demanding expert would defend"
SIX_LINES = """\
[grid]
prompts = [{ "review/single" = "v1" }, { "review/single" = "v2" }]
[papers]
files = ["papers/*.md"]
[measure]
metrics = ["words"]
"""


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "1")
    write_papers(workplace / "papers", (1, 2, 3, 4))
    (workplace / "plan.toml").write_text(SIX_LINES)
    return workplace


@pytest.fixture
def run(place: Path, referee: Referee, server: FakeServer) -> Run:
    def experiment(*arguments: object, plan: str = "plan.toml") -> Outcome:
        given = ("--venue", "iclr-2020", "--model", "m", "--base-url", server.base_url)
        return referee("experiment", plan, *given, *arguments)

    return experiment


def prompts(server: FakeServer) -> Counter[str]:
    """Calls that wrote reviews, by version."""
    sent = [call.request.system for call in server.log.calls(role="writer") if call.request is not None]
    return Counter("v2" if SECOND in system else "v1" for system in sent)


def plan(place: Path, text: str, name: str = "other.toml") -> str:
    (place / name).write_text(text)
    return name


@pytest.mark.slow
def test_six_lines_of_a_plan_end_in_a_sentence_the_change_and_the_papers(
    run: Run, place: Path, server: FakeServer
) -> None:
    assert len(SIX_LINES.splitlines()) == 6
    done = run("--out", "run")
    assert done.code == 0, done.err
    assert prompts(server) == {"v1": 4, "v2": 4}
    lines = done.out.splitlines()
    (one,) = result(place / "run").comparisons
    assert one.mean_difference
    amount = f"{abs(one.mean_difference):.1f} {'more' if one.mean_difference > 0 else 'fewer'}"
    assert lines[0].startswith(f"prompt 'v2' writes {amount} words a review than 'v1', 95% interval ")
    assert ", on 4 papers; 1." in lines[0]
    assert lines[0].endswith(" times the tokens.")
    assert lines[1].startswith("The interval ")
    assert "review/single, from 'v1' to 'v2':" in lines
    assert any(line.startswith(f"+3. {SECOND}") for line in lines)
    at = next(n for n, line in enumerate(lines) if line.startswith("| paper | v1"))
    shown = [abs(float(line.split()[-2])) for line in lines[at + 2 : at + 6]]
    assert shown == sorted(shown, reverse=True)

    summary = (place / "run" / "summary.md").read_text()
    parts = summary.split("\n\n")
    assert parts[0] == "# Experiment plan"
    assert parts[1].startswith(f"prompt 'v2' writes {amount} words a review than 'v1'")
    headings = [line for line in summary.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## How the prompts differ", "## Paper by paper", "## Mean and standard deviation"]
    assert "Note: the plan names no strategy: its prompts are those of 'single'" in done.err


@pytest.mark.slow
def test_an_arm_added_later_reuses_the_reviews_of_the_others(run: Run, place: Path, server: FakeServer) -> None:
    arms = "".join(
        f'[[arms]]\nname = "{name}"\nprompts = {{ "review/single" = "{version}" }}\n'
        for name, version in (("one", "v1"), ("two", "v2"))
    )
    rest = SIX_LINES[SIX_LINES.index("[papers]") :]
    plan(place, arms + rest)
    assert run("--out", "first", plan="other.toml").code == 0
    before = prompts(server)
    added = '[[arms]]\nname = "hot"\nprompts = { "review/single" = "v2" }\nsettings = { "models.temperature" = 0.9 }\n'
    plan(place, arms + added + rest)

    refused = run("--resume", "first", plan="other.toml")
    assert refused.code == 2
    assert "was started with another arm 'hot'" in refused.err
    assert "Start a new run (another --out, without --resume): it takes the reviews that lie in" in refused.err

    done = run("--out", "second", "--no-cache", plan="other.toml")
    assert done.code == 0, done.err
    assert "one: 4 reviews, 4 there already, no call" in done.err
    assert prompts(server) - before == {"v2": 4}
    found = result(place / "second")
    assert [arm.units["reused"] for arm in found.arms] == [4, 4, 0]
    assert [(one.first, one.second) for one in found.comparisons] == [("two", "one"), ("hot", "one"), ("hot", "two")]
    assert done.out.startswith("prompt 'two' writes ")


@pytest.mark.slow
def test_repeats_say_how_much_a_prompt_differs_from_itself(run: Run, place: Path, server: FakeServer) -> None:
    done = run("--repeat", "2", "--out", "run")
    assert done.code == 0, done.err
    assert prompts(server) == {"v1": 8, "v2": 8}
    found = result(place / "run")
    assert {cell.arm: cell.self_difference for cell in found.cells} == {"v1": 0.0, "v2": 0.0}
    assert "Run twice, 'v1' differs from itself by 0.0 and 'v2' by 0.0 (root mean square, from 2 repeats)," in done.out
    once = run("--repeat", "1", "--out", "once")
    assert once.code == 0, once.err
    assert "differs from itself" not in once.out
    assert prompts(server) == {"v1": 8, "v2": 8}, "the first repeats lie in the store"
    none = run("--repeat", "0", "--out", "none")
    assert none.code == 2
    assert "an arm cannot review a paper 0 times" in none.err
    assert not (place / "none").exists()


@pytest.mark.slow
def test_two_arms_with_the_same_prompt_are_a_null_test(run: Run, place: Path, server: FakeServer) -> None:
    arms = "".join(f'[[arms]]\nname = "{name}"\nprompts = {{ "review/single" = "v2" }}\n' for name in "ab")
    done = run("--out", "run", plan=plan(place, arms + SIX_LINES[SIX_LINES.index("[papers]") :]))
    assert done.code == 0, done.err
    assert "Note: arms 'a' and 'b' have the same prompt: a null test, in which every difference is chance" in done.err
    assert prompts(server) == {"v2": 8}, "each arm has reviews of its own"
    assert done.out.startswith("'b' writes as many words a review as 'a', 95% interval ")
    assert "This is a null test: both arms have the same prompt, and every difference is chance." in done.out
    assert "The interval holds 0: these papers do not show that the two differ." in done.out
    assert "review/single is the same text in 'a' and 'b'." in done.out


def test_prompts_that_the_reviews_do_not_use_are_said(run: Run, place: Path) -> None:
    sections = SIX_LINES + '[common]\nstrategy = "sections"\n'
    refused = run("--dry-run", plan=plan(place, sections))
    assert refused.code == 2
    assert "arms 'v1' and 'v2' ask for the same reviews: their reviews do not use prompt 'review/single'" in refused.err
    assert "the reviews use review/" in refused.err
    one = SIX_LINES.replace(', { "review/single" = "v2" }', "") + '[common]\nstrategy = "sections"\n'
    noted = run("--dry-run", plan=plan(place, one))
    assert noted.code == 0, noted.err
    assert "Note: arm 'sections' names prompt 'review/single', which its reviews do not use; they use" in noted.out


@pytest.mark.slow
def test_one_paper_one_arm_and_a_paper_that_failed_say_why_little_follows(
    run: Run, place: Path, server: FakeServer
) -> None:
    one = run("--paper", "papers/p1.md", "--out", "one")
    assert one.code == 0, one.err
    assert ", no interval, as there is one paper, on 1 paper; 1." in one.out.splitlines()[0]
    assert "Note: 1 paper is too few" in one.out

    arm = run("--arm", "v1", "--out", "arm")
    assert arm.code == 0, arm.err
    assert arm.out.startswith("Nothing is compared: there is one arm. Add a second prompt, strategy or model.\n")
    assert "Note: there is one arm: nothing is compared;" in arm.err

    def ill(request: ChatRequest) -> object:
        return Fault("401") if SECOND in request.system else request.instance()

    server.script.entries["writer"] = ill
    failed = run("--out", "failed", "--no-cache", "--store", "other")
    assert failed.code == 0, failed.err
    first = failed.out.splitlines()[0]
    assert first.startswith(
        "Nothing can be said of 'v2' against 'v1' in words: no paper has a value in both arms (4 failed; "
    )
    assert "arm 'v2'" in first or "400" in first
    assert re.search(r"^\| p1 +\| failed +\| failed +\|", failed.out, re.MULTILINE)


@pytest.mark.slow
def test_a_plan_without_splits_is_split_in_half_and_the_test_half_is_opened_once(
    run: Run, place: Path, server: FakeServer
) -> None:
    dev = run("--on", "dev", "--out", "dev")
    assert dev.code == 0, dev.err
    half = "Note: the plan names no splits: 2 of its 4 papers, by the digests of their files, are for"
    assert f"{half} development (--on dev)" in dev.err
    test = run("--on", "test", "--out", "test")
    assert test.code == 0, test.err
    assert f"{half} the test (--on test)" in test.err
    assert "looked at before" not in test.err
    halves = [{paper.name for paper in result(place / name).papers} for name in ("dev", "test")]
    assert halves[0] | halves[1] == {"p1", "p2", "p3", "p4"}
    assert not halves[0] & halves[1]
    again = run("--on", "test", "--out", "again")
    assert again.code == 2
    assert "the test split of this plan was opened on " in again.err
    edited = run("--on", "test", "--out", "edited", plan=plan(place, f"seeds = [1]\n{SIX_LINES}"))
    assert edited.code == 0, edited.err
    assert "Note: 2 of 2 files of the test split were looked at before, by the plan 'plan' on " in edited.err
    alone = run("--on", "test", "--paper", "papers/p1.md", "--out", "alone")
    assert alone.code == 2
    assert "the plan has no paper in its test split" in alone.err
    assert "without [splits] half of them are for it" in alone.err
    wrong = run("--on", "final", "--dry-run")
    assert wrong.code == 2
