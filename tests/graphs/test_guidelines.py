"""The machine ``guidelines`` end to end on a scripted server: a page in, a venue out, every statement accounted for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.api import Compiled, compile_venue, load_venue
from referee.errors import BudgetExceeded, ModelRefused, ModelUnavailable, RunError, VenueError
from referee.reports.venue_lines import compile_lines
from referee.schemas.venue import VenueForm
from referee.settings import load_settings
from referee.venues.page import read_page, trace
from referee.venues.statements import check_conserved
from tests.options import with_options
from tests.support import ChatRequest, FakeServer, Fault

from .guidelines_script import CRITERION, NOISE, PAGE, everything, labelling, sensible, statements

LABEL = "guidelines/label"
BOTH = "name the section and the sentence that you criticise"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer({LABEL: labelling(sensible)}, context_tokens=8_000) as running:
        yield running


@pytest.fixture
def page(folder: Path) -> Path:
    (folder / "guide.md").write_text(PAGE, encoding="utf-8")
    return folder / "guide.md"


async def compiled(server: FakeServer, page: Path, **more: Any) -> Compiled:
    settings = load_settings({"calls.cache": False, "calls.retry_wait_s": 0.0, "calls.max_tries": 2})
    given: dict[str, Any] = {"venue_id": "tests-2026", "rounds": 0, "settings": settings, "out": "run", **more}
    if "resume" in given:
        given.pop("out")
    done = await compile_venue(page, model="fake", **with_options(base_url=server.base_url, **given))
    assert_traced_and_conserved(done, page.read_bytes(), page.name)
    return done


def assert_traced_and_conserved(done: Compiled, data: bytes, name: str) -> None:
    source = read_page(data, source=name)
    stored = json.loads((done.run / "guidelines.json").read_text(encoding="utf-8"))
    counts = stored["counts"]
    assert counts["candidates"] == counts["kept"] + counts["merged"] + counts["dropped"] == len(done.statements)
    kept = check_conserved([fate.id for fate in done.statements], done.statements)["kept"]
    assert kept + sum(bool(fate.parts) for fate in done.statements) == len(done.form.guidelines)
    for guideline in done.form.guidelines:
        assert guideline.words
        assert trace(guideline.words, source)
    assert load_venue(done.form.id) == done.form
    assert VenueForm.model_validate_json((done.run / "venue.json").read_text(encoding="utf-8")) == done.form


async def test_a_page_becomes_a_venue_that_can_be_used_at_once(server: FakeServer, page: Path) -> None:
    done = await compiled(server, page)
    texts = {g.words: g for g in done.form.guidelines}
    baselines = texts["Do the experiments compare with at least 3 strong baselines?"]
    assert baselines.text == f"See to this: {baselines.words}"
    assert baselines.kind == "objective"
    assert baselines.fact.note == "paraphrased by fake@" + server.base_url.split("//")[1].removesuffix("/v1")
    assert [fate.fate for fate in done.statements].count("merged") == 1
    assert done.form.overall == "overall_recommendation"
    assert [o.value for o in done.form.field("overall_recommendation").options] == [4, 3, 2, 1]
    assert {"summary", "weaknesses"} <= {field.name for field in done.form.fields}
    assert done.form.llm_policy.status == "forbidden"
    assert "You must not use ChatGPT" in done.form.llm_policy.sentence
    assert done.form.year == 2026
    assert done.form.sources["page"].title.endswith("(file guide.md)")
    assert str(page.parent) not in done.form.model_dump_json()
    assert done.form.guidelines[0].fact.confidence == "secondary"


async def test_a_model_that_finds_only_noise_stores_nothing(server: FakeServer, page: Path) -> None:
    server.script.entries[LABEL] = everything(NOISE)
    with pytest.raises(VenueError, match=r"no criterion was found on 'guide\.md'") as caught:
        await compiled(server, page)
    assert "guidelines.json" in caught.value.hint
    assert json.loads(Path("run/guidelines.json").read_text())["counts"]["kept"] == 0
    assert json.loads(Path("run/run.json").read_text())["status"] == "failed"
    with pytest.raises(VenueError, match="unknown"):
        load_venue("tests-2026")


async def test_a_model_that_answers_nonsense_leaves_an_honest_result(server: FakeServer, page: Path) -> None:
    server.script.entries["*"] = "I like pages."
    server.script.entries.pop(LABEL)
    done = await compiled(server, page)
    assert {fate.by for fate in done.statements} == {"rule"}
    assert any(
        note.startswith("A rule labelled 13 of the page's 13 statements: 13 (the model gave no valid")
        for note in done.form.provenance.notes
    )
    assert all("by a rule" in guideline.fact.note for guideline in done.form.guidelines)
    assert len(done.form.guidelines) >= 4


async def test_what_a_reply_leaves_out_a_rule_labels(server: FakeServer, page: Path) -> None:
    server.script.entries[LABEL] = {"labels": []}
    done = await compiled(server, page)
    assert {fate.note for fate in done.statements} == {"the model left it out"}


async def test_a_rule_with_two_parts_becomes_two_rules(server: FakeServer, page: Path) -> None:
    def reply(request: ChatRequest) -> dict[str, Any]:
        said = labelling(sensible)(request)
        (label,) = (one for one in said["labels"] if statements(request)[one["id"]].startswith("Be specific"))
        label["parts"] = [
            {"words": "Be specific", "kind": "subjective", "says": "Be specific throughout."},
            {"words": BOTH, "kind": "objective", "says": f"In criticism, {BOTH}."},
        ]
        return said

    server.script.entries[LABEL] = reply
    done = await compiled(server, page)
    first, second = (g for g in done.form.guidelines if g.fact.note.find("one of the two things") > 0)
    assert [(rule.words, rule.kind) for rule in (first, second)] == [("Be specific", "subjective"), (BOTH, "objective")]
    assert "  1 of the criteria ask for two things: each is two rules" in compile_lines(
        done.form, done.page, done.paper_type, done.statements, done.notes
    )


async def test_a_model_that_inverts_a_rule_is_not_believed(server: FakeServer, page: Path) -> None:
    server.script.entries[LABEL] = labelling(lambda words: (CRITERION, "subjective", words.replace("not ", "")))
    done = await compiled(server, page)
    (rule,) = (g for g in done.form.guidelines if g.words.startswith("Do not reject"))
    assert rule.text == rule.words


async def test_a_wrong_key_or_a_budget_ends_the_run_and_nothing_is_stored(server: FakeServer, page: Path) -> None:
    with pytest.raises(BudgetExceeded):
        await compiled(server, page, max_tokens=10)
    with FakeServer(faults=[Fault("401")], context_tokens=8_000) as refusing, pytest.raises(ModelRefused):
        await compiled(refusing, page, out="run2")
    with pytest.raises(VenueError, match="unknown"):
        load_venue("tests-2026")
    done = await compiled(server, page, resume="run", max_tokens=100_000)
    assert done.form.id == "tests-2026"


async def test_a_finished_run_resumes_without_a_call_and_another_page_is_refused(
    server: FakeServer, page: Path
) -> None:
    first = await compiled(server, page)
    calls = len(server.log)
    again = await compiled(server, page, resume="run")
    assert again.form == first.form
    assert len(server.log) == calls
    page.write_text(PAGE.replace("technically sound", "sound"), encoding="utf-8")
    options = RunOptions(base_url=server.base_url, resume="run")
    with pytest.raises(RunError, match=r"another .*page"):
        await compile_venue(page, venue_id="tests-2026", model="fake", rounds=0, options=options)


async def test_windows_that_were_answered_are_not_paid_again(server: FakeServer, page: Path) -> None:
    many = "\n".join(f"- Should a reviewer of claim {n} ask for evidence from experiment {n * 7}?" for n in range(90))
    page.write_text(f"{PAGE.split('## How')[0]}\n## Claims\n\n{many}\n", encoding="utf-8")
    answer = labelling(sensible)
    server.script.entries[LABEL] = lambda request: Fault("500") if "claim 80 " in request.user else answer(request)
    with pytest.raises(ModelUnavailable):
        await compiled(server, page)
    server.script.entries[LABEL] = answer
    before = len(server.log)
    done = await compiled(server, page, resume="run")
    assert len(server.log) == before + 1
    assert len(done.form.guidelines) > 80


async def test_a_borrowed_form_replaces_the_pages_and_is_said(server: FakeServer, page: Path) -> None:
    done = await compiled(server, page, form="neurips-2025")
    assert [f.name for f in done.form.fields] == [f.name for f in load_venue("neurips-2025").fields]
    assert done.form.overall == "rating"
    assert any("borrowed from neurips-2025" in note for note in done.form.provenance.notes)
    assert "the form: it is borrowed" in done.form.provenance.unknown


async def test_a_page_without_a_form_gets_text_boxes_and_no_invented_score(server: FakeServer, page: Path) -> None:
    page.write_text(PAGE.split("## Review form")[0], encoding="utf-8")
    done = await compiled(server, page)
    assert [field.kind for field in done.form.fields] == ["text"] * 4
    assert done.form.overall is None
    assert any("no" in item and "invented" in item for item in done.form.provenance.unknown)


@pytest.mark.parametrize(("asked", "kept"), [(None, "long"), ("short", "short")])
async def test_of_two_paper_types_one_is_kept_and_said(
    server: FakeServer, page: Path, asked: str | None, kept: str
) -> None:
    types = (
        "\n## Long papers\n\n- Is the long paper's evaluation thorough?\n\n## Short papers\n\n- Is the short paper's "
    )
    page.write_text(f"{PAGE.split('## Review form')[0]}{types}point clear?\n", encoding="utf-8")
    done = await compiled(server, page, paper_type=asked)
    assert done.paper_type == kept
    words = " ".join(g.words for g in done.form.guidelines)
    assert (f"the {kept} paper's") in words
    assert ("the long paper's" in words) != ("the short paper's" in words)
    assert any(f"of {kept} papers" in note for note in done.form.provenance.notes)
    with pytest.raises(VenueError, match="'poster'"):
        await compiled(server, page, paper_type="poster", venue_id="other", out="other")


async def test_a_page_in_another_language_keeps_its_words_and_says_so(server: FakeServer, page: Path) -> None:
    german = """# Hinweise für Gutachterinnen und Gutachter

Bitte begutachten Sie jedes Manuskript sorgfältig und begründen Sie Ihre Bewertung mit Stellen aus dem Artikel.

- Ist die Methodik des Beitrags nachvollziehbar und werden alle Behauptungen durch Ergebnisse belegt?
- Wie bewerten Sie die Originalität und die Relevanz des Artikels für das Fach?
- Nennen Sie die Stärken und Schwächen des Manuskripts und begründen Sie Ihre Empfehlung zur Annahme oder Ablehnung.
- Die Qualität des Gutachtens zählt mehr als seine Länge, und die Autoren sollen es verstehen.
"""
    page.write_text(german, encoding="utf-8")
    done = await compiled(server, page)
    assert done.page.language == "de"
    assert "Originalität" in " ".join(g.words for g in done.form.guidelines)
    assert any("German" in note for note in done.form.provenance.notes)


async def test_a_long_page_is_labelled_in_windows(server: FakeServer, page: Path) -> None:
    many = "\n".join(f"- Should a reviewer of claim {n} ask for evidence from experiment {n * 7}?" for n in range(90))
    page.write_text(f"{PAGE.split('## How')[0]}\n## Claims\n\n{many}\n", encoding="utf-8")
    done = await compiled(server, page)
    assert done.usage.calls >= 3
    assert len(done.form.guidelines) > 80


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(("at", "model"), [*enumerate(("all criteria", "sensible", "generated"))])
async def test_every_page_of_the_shared_data_compiles(shared_data: Path, folder: Path, at: int, model: str) -> None:
    """Each with one of three models."""
    pages = sorted((shared_data / "guidelines").glob("[hm]*/*"))
    assert len(pages) >= 9
    pages = [path for path in pages if "NEGATIVE" not in path.name]
    entry: dict[str, Any] = {"all criteria": {LABEL: everything(CRITERION)}, "sensible": {LABEL: labelling(sensible)}}
    with FakeServer(entry.get(model), context_tokens=8_000) as server:
        for number, path in enumerate(pages[at::3]):
            done = await compiled(server, path, venue_id=f"p{number}", out=f"run-{number}")
            assert done.form.guidelines
            assert done.form.fields


@pytest.mark.shared_data
async def test_a_page_without_guidelines_is_refused_without_a_call(shared_data: Path, server: FakeServer) -> None:
    (visa,) = (shared_data / "guidelines" / "html").glob("NEGATIVE*")
    with pytest.raises(VenueError, match="guidelines"):
        await compiled(server, visa)
    assert not Path("run").exists()
    assert not [entry for entry in server.log if entry.endpoint == "chat"]
