"""``referee venue refine --objective``: versions measured on papers, one kept or none, resumed, and refused inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.evals import registry
from referee.evals.metric import Context, Need, Quantity, scored
from referee.experiments.looked_at import looks
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.refinement import Measured
from referee.schemas.run import RunRecord
from referee.venues.refined import find_measured, read_refined
from tests.graphs.refining_script import Refining
from tests.support import FakeServer

from .command import Outcome, Referee

VENUE, GUIDELINE = "corl-2024", "claims-supported"
RISE: dict[str, float] = {"v0": 0.30, "v1": 0.31, "v2": 0.62, "v3": 0.33}
# Criticism and revision of three proposals for one guideline, and once whether steps serve its points. Of v0 and three
# on two papers, then v0 and one on two, then on two held out.
PROPOSING, ALL_REVIEWS = 3 * 2 + 1, 4 * 2 + 2 * 2 + 2 * 2
_TOPICS = ("lanterns in harbours", "bridges under snow", "wells without ropes", "mills on rivers", "bells of towns")

Run = Callable[..., Outcome]


class Shine(Quantity):
    """Scripted by the arm, with a little of the paper."""

    name, better = "shine", "higher"

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        wobble = (sum(map(ord, f"{case.source} {case.paper_id}")) % 7) / 100
        return scored(self, case, RISE[case.source] + wobble)


class Gloom(Shine):
    name, better = "gloom", "lower"


class Keyed(Shine):
    name = "keyed"


class Compared(Shine):
    name, needs = "compared", frozenset[Need]({"references"})


@pytest.fixture
def run(workplace: Path, referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    kinds = (Shine, Gloom, Keyed, Compared)
    points = [EntryPoint(kind.name, f"shining:{kind.__name__}", registry.GROUP) for kind in kinds]
    monkeypatch.setitem(sys.modules, "shining", SimpleNamespace(**{kind.__name__: kind for kind in kinds}))
    monkeypatch.setattr(registry, "_others", lambda: {point.name: point for point in points})
    monkeypatch.setattr("referee.api.venues.objective.PRESETS", {**registry.PRESETS, "planted": ("keyed",)})
    server.script.entries.update(Refining().script().entries)
    write_papers(workplace / "papers", range(6))
    asked = ("--model", "fake", "--base-url", server.base_url, "--strategy", "single", "--guideline", GUIDELINE)

    def search(*arguments: object, objective: str = "shine", papers: object = "papers") -> Outcome:
        given = ("--objective", objective, "--papers", papers, *asked, "--yes")
        return referee("venue", "refine", VENUE, *given, *arguments)

    return search


def write_papers(folder: Path, numbers: Any) -> None:
    """Papers of which each has words of its own."""
    folder.mkdir(exist_ok=True)
    for n in numbers:
        (folder / f"p{n}.md").write_text(paper(n))


def paper(n: int) -> str:
    words = " ".join(f"{_TOPICS[(n + at) % 5]} number {n * 31 + at} are counted" for at in range(30))
    return f"# Study {n}\n\n## Abstract\n\nWe study {words}.\n\n## 1 Method\n\n{words[::-1]}.\n"


def measured(folder: Path) -> Measured:
    found = read_refined(folder / "refined_prompts.json").measured
    assert found is not None
    return found


def single_calls(server: FakeServer) -> int:
    return sum(call.prompt_id.startswith("review/single") for call in server.log.calls(endpoint="chat"))


@pytest.mark.slow
def test_a_stopped_search_gives_no_verdict_and_resumed_keeps_the_version_that_rises(
    run: Run, workplace: Path, referee: Referee, server: FakeServer
) -> None:
    stopped = run("--out", "run", "--max-tokens", 18_000)
    assert stopped.code == 3, stopped.err
    assert "3 proposals for 1 guideline, measured by shine on 4 papers; 2 more are held out." in stopped.err
    assert "Halving: 3 on 2 papers, then 1 on 4 papers" in stopped.err
    assert "4 development and 2 held-out papers are few" in stopped.err
    assert "No verdict: the search was stopped" in (workplace / "run" / "report.html").read_text()
    assert not (workplace / "run" / "refined_prompts.json").exists()
    assert "not refined yet" in referee("venue", "diff-prompts", VENUE, "v0", "v1").err
    assert 0 < single_calls(server) < ALL_REVIEWS

    done = run("--resume", "run", "--max-tokens", 4_000_000)
    assert done.code == 0, done.err
    assert "v2 is kept: " in done.out
    assert server.log.repeated() == [], "nothing is paid twice"
    assert single_calls(server) == ALL_REVIEWS
    found = measured(workplace / "run")
    assert found.selection.verdicts == {"v1": "behind", "v2": "kept", "v3": "behind"}
    assert [(len(stage.gains), len(stage.papers)) for stage in found.selection.stages] == [(3, 2), (1, 2), (1, 2)]
    assert set(found.selection.stages[-1].papers) == set(found.held_out)
    assert not set(found.held_out) & set(found.development)
    record = RunRecord.model_validate_json((workplace / "run" / "run.json").read_text())
    assert (record.status, record.usage.calls) == ("finished", PROPOSING + ALL_REVIEWS)
    assert {(look.split, len(look.papers)) for look in looks()} == {("development", 4), ("test", 2)}
    page = (workplace / "run" / "report.html").read_text()
    assert "v2 is kept" in page
    assert "Write down what look" in page, "the step that v2 added"
    assert "http://" not in page

    told = referee("venue", "diff-prompts", VENUE, "v0", "v2")
    assert "v2 (from v1" in told.out
    assert "kept; +0.3" in told.out
    before = len(server.log)
    assert "no call was made" in run().out
    assert len(server.log) == before
    again = run("--out", "other", "--no-cache")
    assert again.code == 2
    assert "was opened on" in again.err, "the held-out papers are opened once"

    asked = (
        "review",
        workplace / "papers" / "p0.md",
        "--venue",
        VENUE,
        "--model",
        "fake",
        "--base-url",
        server.base_url,
    )
    reviewed = referee(*asked, "--strategy", "single", "--out", "after", "--no-cache", "--yes")
    assert reviewed.code == 0, reviewed.err
    prompt = server.log.calls(endpoint="chat")[-1].request
    assert prompt is not None
    kept = read_refined(workplace / "run" / "refined_prompts.json").guideline(GUIDELINE).after_round(2)
    assert all(step in prompt.user for step in kept.steps)
    assert "prompts measured on" in (workplace / "after" / "review.json").read_text()
    quick = referee(*asked, "--strategy", "single", "--out", "quick", "--preset", "quick", "--no-cache", "--yes")
    assert quick.code == 0
    assert not (workplace / "quick" / "refined_prompts.json").exists()


@pytest.mark.slow
def test_where_less_is_better_a_rise_keeps_nothing_and_the_held_out_papers_stay_closed(
    run: Run, workplace: Path, referee: Referee
) -> None:
    done = run("--out", "run", objective="gloom")
    assert done.code == 0, done.err
    assert "No version is kept: reviews go on as before." in done.out
    found = measured(workplace / "run")
    assert found.selection.kept == ""
    assert found.selection.tested is not None
    assert (found.selection.tested.mean or 0) < 0
    assert not any(stage.held_out for stage in found.selection.stages)
    assert not (workplace / "run" / "seal.json").exists()
    shown = referee("venue", "show", VENUE, "--prompts").out
    assert "No version is kept" in shown
    assert "changed since then" not in shown, "only one guideline was refined"
    assert find_measured(VENUE, read_refined(workplace / "run" / "refined_prompts.json").model) == []


@pytest.mark.parametrize(
    ("flags", "changed", "said"),
    [
        ((), {"objective": "shin"}, "there is no metric 'shin'"),
        ((), {"objective": "quality"}, "is a set of metrics"),
        ((), {"objective": "words"}, "neither more nor less of it is better"),
        ((), {"objective": "compared"}, "compares with human reviews, and none are given"),
        ((), {"objective": "false_alarms"}, "it is of reviews of clean twins"),
        ((), {"objective": "keyed"}, "needs planted papers with their keys"),
        (("--planted", "plants"), {"objective": "keyed"}, "has a key in"),
        (("--strategy", "ensemble"), {}, "goes by no steps"),
        (("--guideline", "brevity"), {}, "has no guideline 'brevity'"),
        (("--rounds", 2), {}, "--rounds does not go with --objective"),
        (("--held-out", "1.5"), {}, "is no share of papers"),
        (("--held-out", "0.9"), {}, "1 development and 5 held-out papers are too few"),
        (("--held-out", "copy"), {}, "hold the same paper (one for development, one held out)"),
        ((), {"papers": "copy"}, "0 development and 2 held-out papers are too few"),
    ],
)
def test_what_cannot_work_is_said_before_a_call(
    run: Run, workplace: Path, server: FakeServer, flags: tuple[object, ...], changed: dict[str, Any], said: str
) -> None:
    write_papers(workplace / "copy", (21,))
    (workplace / "copy" / "renamed.md").write_text(paper(3).replace("# Study 3", "# A study") + "\nMore.\n")
    (workplace / "plants" / "keys").mkdir(parents=True)
    done = run(*flags, **changed)
    assert done.code == 2, done.err
    assert said in done.err
    assert "next:" in done.err
    assert not server.log.calls(endpoint="chat")
    assert not (workplace / "referee-runs").exists()


@pytest.mark.slow
def test_papers_that_the_window_does_not_hold_are_refused_before_a_call(
    run: Run, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "14000")
    for file in (workplace / "papers").iterdir():
        file.write_text(file.read_text() + f"\n## 2 Results\n\n{file.read_text()[-400:].strip() * 500}\n")
    done = run()
    assert done.code == 2, done.err
    assert "of the body of the paper 'Study " in done.err
    assert "next: Use a model with a larger window" in done.err
    assert not server.log.calls(endpoint="chat")


@pytest.mark.slow
def test_a_search_begins_with_what_was_not_read(
    run: Run, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "14000")
    for file in (workplace / "papers").iterdir():
        words = " ".join(f"Count {n} of {file.stem} is made twice by two clerks of the harbour." for n in range(600))
        file.write_text(f"{file.read_text()}\n## 2 Results\n\n{words}\n")
    done = run("--out", "run")
    assert done.code == 0, done.err
    assert done.out.startswith("The model read ")
    assert measured(workplace / "run").cut_line in (workplace / "run" / "report.html").read_text()


def test_flags_of_the_search_go_with_an_objective(referee: Referee) -> None:
    done = referee("venue", "refine", VENUE, "--held-out", "0.2")
    assert done.code == 2
    assert "--held-out goes with --objective" in done.err
