"""Generated reviews: each made of a human one, told apart by task and level, and what fails is counted."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.api.detection.generating import Generated, detect_generate, generation_prompts
from referee.api.detection.generation import Generation, Task
from referee.api.detection.similarity import EditSimilarity, LevelSimilarity, edit_similarity
from referee.data import TreeChecks, read_cases
from referee.data.generated import Pair, llm_folder, llm_tag
from referee.errors import BudgetExceeded, DataError, EvaluationError, RunError, SettingsError
from referee.graphs.single.research import drawn_persona
from referee.schemas.case import ReviewCase
from referee.settings import load_settings
from referee.testing import HashEmbedder
from tests.support import ChatRequest, FakeServer, Fault, Script

PAPER = "# Paper {name}\n\n## Abstract\n\nWe measure {name}.\n\n## 1 Method\n\n" + "It measures one thing well. " * 40
TEXT = "The paper measures one thing. It is clear. The evaluation holds one data set and no baseline of strength."


def human(name: str, **more: Any) -> dict[str, Any]:
    return {"review_id": name, "paper_id": "p1", "source": "human", "venue": "ICLR", "year": 2021, "rating": "6"} | {
        "review": f"{TEXT} Signed {name}.", **more,
    }  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "papers").mkdir()
    for name in ("p1", "p2"):
        (tmp_path / "papers" / f"{name}.md").write_text(PAPER.format(name=name), encoding="utf-8")
    write(tmp_path, human("h1"), human("h2", paper_id="p2", rating="3"), human("a1", source="ai:x"))
    return tmp_path


def write(place: Path, *rows: dict[str, Any]) -> None:
    (place / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def edited(request: ChatRequest) -> Any:
    """A text of which the more is new the further the edit goes."""
    new = {"Correct typing": 1, "Polish": 20, "Rewrite it": 60}
    words = next((count for part, count in new.items() if part in request.user), 200)
    return {"text": f"{TEXT} {' '.join(f'other{number}' for number in range(words))}"}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    replies = {
        "detect/edit": edited,
        "detect/extend": edited,
        "detect/bullets": {"points": ["one data set", "no baseline"]},
        "detect/expand": lambda r: {"text": f"The notes say: {r.user.split('- ')[1].strip()}, and more."},
    }
    with FakeServer(Script(replies), context_tokens=32_000) as running:
        yield running


def options(server: FakeServer, **more: Any) -> RunOptions:
    settings = load_settings({"calls.max_tries": 1, "calls.cache": False, **more.pop("more", {})})
    return RunOptions(base_url=server.base_url, settings=settings, **more)


def generated(server: FakeServer, place: Path, task: Task, *, out: str | None = "run", **more: Any) -> Generated:
    run = {name: more.pop(name) for name in ("resume", "max_tokens", "confirm", "more") if name in more}
    given = {"papers": place / "papers", "embedder": "e", **more}
    asked = Generation(reviews=place / "set.jsonl", task=task, model=given.pop("model", "gpt-4o"), **given)
    folder = {} if "resume" in run else {"out": place / str(out)}
    return asyncio.run(detect_generate(asked, options=options(server, **folder, **run)))


def test_edits_have_four_levels_and_move_further_from_the_original_with_each(server: FakeServer, place: Path) -> None:
    done = generated(server, place, "edit")
    assert [(case.case_id, case.extra["level"], case.extra["source_review"]) for case in done.reviews] == [
        (f"{name}-edit-{level}", level, name)
        for name in ("h1", "h2") for level in ("extensive", "maximum", "minimum", "moderate")
    ]  # fmt: skip
    assert {(case.kind, case.source.partition("@")[0], case.venue) for case in done.reviews} == {
        ("ai", "gpt-4o", "iclr-2021")
    }
    assert {(case.extra["level"], case.extra["prompt"]) for case in done.reviews} >= {
        ("minimum", "detect/edit@v1"), ("maximum", "detect/extend@v1"),
    }  # fmt: skip
    assert [case.rating for case in done.reviews[::4]] == [6, 3], "the verdict is still the person's"
    assert done.similarity is not None
    assert [one.level for one in done.similarity.levels] == ["minimum", "moderate", "extensive", "maximum"]
    assert done.similarity.falls
    assert json.loads((done.run / "similarity.json").read_text())["falls"] is True
    shown = [call.request.user for call in server.log.calls(endpoint="chat") if call.request is not None]
    assert sum("<submission>" in user for user in shown) == 2, "the paper is shown for the last level alone"


def test_what_is_written_is_read_again_from_both_files(server: FakeServer, place: Path) -> None:
    done = generated(server, place, "edit", levels=("minimum",))
    again = list(read_cases(done.run / "generated.jsonl"))
    assert [case.model_copy(update={"origin": None}) for case in again] == list(done.reviews)
    (file,) = (done.run / "dataset").rglob("*.csv")
    assert file.relative_to(done.run / "dataset") == Path("edit-minimum/test/gpt4o/ICLR2021.test.gpt-4o.csv")
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert [(row["author_type"], row["source_review"], row["level"]) for row in rows] == [
        ("human", "h1", "minimum"), ("ai", "h1", "minimum"), ("human", "h2", "minimum"), ("ai", "h2", "minimum"),
    ]  # fmt: skip
    checks = TreeChecks()
    cases = list(read_cases(done.run / "dataset", checks=checks))
    assert [(case.kind, case.rating, case.extra["split"], case.extra["llm"]) for case in cases] == [
        ("human", 6, "test", "gpt4o"), ("ai", 6, "test", "gpt4o"),
        ("human", 3, "test", "gpt4o"), ("ai", 3, "test", "gpt4o"),
    ]  # fmt: skip
    assert cases[0].text.endswith("Signed h1.")
    assert cases[1].text == done.reviews[0].text
    assert not any("unequal" in note for note in checks.notes())


def test_bullets_are_expanded_without_paper_or_review(server: FakeServer, place: Path) -> None:
    done = generated(server, place, "bullets", papers=None)
    assert [case.text for case in done.reviews] == ["The notes say: one data set, and more."] * 2
    calls = [call.request for call in server.log.calls(endpoint="chat")]
    expanding = [request for request in calls if request is not None and "notes" in request.user]
    assert not any("Signed" in request.user or "submission" in request.user for request in expanding)
    assert done.usage.calls == 3, "equal bullets are expanded once"


@pytest.mark.parametrize("task", ["aligned", "enriched"])
def test_a_form_is_filled_for_the_rating_of_each_human_review(server: FakeServer, place: Path, task: Task) -> None:
    done = generated(server, place, task)
    assert [(case.rating, case.extra["target"], case.venue) for case in done.reviews] == [
        (6, "6", "iclr-2021"), (3, "3", "iclr-2021"),
    ]  # fmt: skip
    assert all(case.text and case.fields for case in done.reviews)
    prompts = [call.request.prompt_id for call in server.log.calls(endpoint="chat") if call.request is not None]
    assert set(prompts) == {f"review/{task}@v1"} == {case.extra["prompt"] for case in done.reviews}
    assert sorted(path.name for path in (done.run / "reviews").iterdir()) == ["h1", "h2"]
    checks = TreeChecks()
    cases = list(read_cases(done.run / "dataset", checks=checks))
    assert [(case.kind, case.rating) for case in cases] == [("human", 6), ("ai", 6), ("human", 3), ("ai", 3)]
    assert cases[1].text == done.reviews[0].text
    before = len(prompts)
    again = generated(server, place, task, resume=done.run)
    assert [case.case_id for case in again.reviews] == [case.case_id for case in done.reviews]
    assert len(server.log.calls(endpoint="chat")) == before


def test_sources_may_be_the_benchmarks_tree_whose_split_is_kept_and_whose_oddities_are_told(
    server: FakeServer, place: Path
) -> None:
    file = place / "tree" / "calibration" / "claude" / "ICLR2021.calibration.claude.csv"
    file.parent.mkdir(parents=True)
    file.write_text("paper_id,author_type,review\np1,human,Thin work.\n", encoding="utf-8")
    events: list[str] = []
    asked = Generation(reviews=place / "tree", task="bullets", model="gpt-4o")
    given = options(server, out=place / "run", progress=lambda event: events.append(event.text))
    done = asyncio.run(detect_generate(asked, options=given))
    (written,) = (done.run / "dataset").rglob("*.csv")
    assert written.relative_to(done.run / "dataset").as_posix() == (
        "bullets/calibration/gpt4o/ICLR2021.calibration.gpt-4o.csv"
    )
    assert any("unequal numbers of human and AI rows: ICLR2021.calibration.claude.csv" in text for text in events)


def test_personas_are_drawn_by_the_human_review(server: FakeServer, place: Path) -> None:
    done = generated(server, place, "archetype")
    assert [case.extra["persona"] for case in done.reviews] == [drawn_persona("h1"), drawn_persona("h2")]


def test_what_is_refused_or_stays_invalid_is_left_out_and_counted(server: FakeServer, place: Path) -> None:
    write(place, human("h1"), human("h2"), human("h3"), human("h4"))

    def answer(request: ChatRequest) -> Any:
        if "Signed h2" in request.user:
            return {"text": "I'm sorry, but I can't help with that."}
        if "Signed h3" in request.user:
            return "no JSON"
        return Fault("400") if "Signed h4" in request.user else edited(request)

    server.script.entries["detect/edit"] = answer
    done = generated(server, place, "edit", levels=("minimum",))
    assert [case.extra["source_review"] for case in done.reviews] == ["h1"]
    assert dict(done.counts) == {"written": 1, "refused": 2, "invalid": 1}
    server.script.entries["detect/edit"] = edited
    again = generated(server, place, "edit", levels=("minimum",), resume=done.run)
    assert dict(again.counts) == {"written": 3, "refused": 1}, "an answer that declines stands"
    with pytest.raises(RunError, match="model"):
        generated(server, place, "edit", levels=("minimum",), resume=done.run, model="other")


def test_nothing_at_all_is_an_error(server: FakeServer, place: Path) -> None:
    server.script.entries["detect/edit"] = {"text": "I cannot do this."}
    with pytest.raises(EvaluationError, match="declined"):
        generated(server, place, "edit", levels=("minimum",))


def test_reviews_that_cannot_be_used_are_skipped_with_the_reason(server: FakeServer, place: Path) -> None:
    rows = [human("h1"), human("h2", rating=""), human("h3", paper_id="gone"), human("h4", venue="Nowhere", year=2031)]
    write(place, *rows, human("h5", rating="6.5"))
    done = generated(server, place, "aligned")
    assert [case.extra["source_review"] for case in done.reviews] == ["h1"]
    said = " | ".join(sorted(done.skipped))
    assert all(part in said for part in ("no rating to agree", "paper is not there", "unknown", "none that the form"))
    write(place, human("h2", rating=""))
    with pytest.raises(DataError, match="no rating to agree"):
        generated(server, place, "aligned", out="none")


def test_the_form_that_was_named_places_reviews_that_name_none(server: FakeServer, place: Path) -> None:
    write(place, human("h1", venue="", year=None))
    done = generated(server, place, "bullets", venue="iclr-2021")
    assert (done.unplaced, done.reviews[0].venue, done.reviews[0].year) == (0, "iclr-2021", 2021)


def test_reviews_without_a_conference_have_no_place_in_the_layout(server: FakeServer, place: Path) -> None:
    write(place, human("h1", venue="", year=None))
    done = generated(server, place, "bullets")
    assert (len(done.reviews), done.unplaced) == (1, 1)
    assert not (done.run / "dataset").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"model": " "}, "no model is named"),
        ({"papers": None}, "needs the papers"),
        ({"levels": ("most",)}, "no level 'most'"),
        ({"task": "bullets", "levels": ("minimum",)}, "has no levels"),
        ({"task": "poem"}, "no task 'poem'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(server: FakeServer, place: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        generated(server, place, **{"task": "edit", **more})


def test_the_estimate_counts_every_call_and_a_limit_ends_it(server: FakeServer, place: Path) -> None:
    plans: list[Any] = []

    def no(plan: Any) -> bool:
        plans.append(plan)
        return False

    for task in ("edit", "bullets", "aligned"):
        with pytest.raises(RunError, match="not confirmed"):
            generated(server, place, task, confirm=no)
    assert [(plan.reviews, plan.calls) for plan in plans] == [(8, 8), (2, 4), (2, 2)]
    assert all(plan.input_tokens > 100 * plan.calls for plan in plans)
    assert server.log.calls(endpoint="chat") == []
    with pytest.raises(BudgetExceeded):
        generated(server, place, "edit", max_tokens=3_300, more={"calls.concurrency": 1}, levels=("minimum",))
    assert len((place / "run" / "generated.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("task", "first"), [("edit", "You edit a peer review"), ("enriched", "You write one complete")]
)
def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(
    server: FakeServer, place: Path, task: Task, first: str
) -> None:
    asked = Generation(reviews=place / "set.jsonl", task=task, model="gpt-4o", papers=place / "papers")
    shown = asyncio.run(generation_prompts(asked, options=options(server)))
    assert len(shown) == (4 if task == "edit" else 1)
    assert shown[0].messages[0][1].startswith(first)
    assert server.log.calls(endpoint="chat") == []
    assert not (place / "referee-runs").exists()


async def test_a_model_that_edits_less_when_it_should_edit_more_is_told() -> None:
    def pair(level: str, text: str) -> Pair:
        source = ReviewCase(case_id="h", paper_id="p", source="human", kind="human", text="one two three four")
        return Pair(source, source.model_copy(update={"text": text, "extra": {"level": level}}), on_form=False)

    pairs = [pair("minimum", "seven eight nine"), pair("moderate", "one two three four")]
    found = await edit_similarity(pairs, HashEmbedder())
    assert found.falls is False
    assert found.levels[1].cosine == pytest.approx(1)
    assert "does not fall" in list(found.lines())[-1]
    alone = await edit_similarity(pairs[:1], HashEmbedder())
    assert alone.falls is None


def test_lines_name_the_published_numbers() -> None:
    found = EditSimilarity(embedder="e", levels=(LevelSimilarity(level="maximum", cosine=0.7, n=3),), falls=None)
    assert list(found.lines())[1] == "  maximum: 0.700 over 3 (published for GPT-4o: 0.680)"


@pytest.mark.parametrize(
    ("model", "tag", "folder"),
    [
        ("gpt-4o", "gpt-4o", "gpt4o"),
        ("anthropic/claude-3.5-sonnet:beta", "anthropic-claude-3.5-sonnet-beta", "claude"),
        ("Meta-Llama-3.1-70B", "Meta-Llama-3.1-70B", "llama"),
    ],
)
def test_a_models_name_becomes_a_tag_and_a_folder(model: str, tag: str, folder: str) -> None:
    assert (llm_tag(model), llm_folder(model)) == (tag, folder)
