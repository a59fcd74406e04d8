"""Each criterion of a venue reaches a reader, in every strategy, and the review says who read for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.api import review as review_paper
from referee.errors import ContextTooLong, DataError
from referee.graphs.criteria import NOT_ASKED, OF_THE_REVIEW
from referee.reports import render_review
from referee.reports.criteria import HEADING
from referee.reports.review_page import review_page
from referee.reports.showing import show
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from referee.schemas.venue import VenueForm
from referee.venues import load_venue
from referee.venues.prompts import section_prompts
from tests.options import with_options
from tests.support import ChatRequest, FakeServer
from tests.support.script import Script

from .chunked_run import lean_plan
from .refining_script import Refining
from .sections_paper import paper_text
from .sections_run import quick_settings
from .sections_script import Raised, Scene

CONTEXT = 128_000
LAMPS = [f"lantern{number}" for number in range(60)]


def asks(lamp: str) -> str:
    return f"Does the submission say what is known of the {lamp} and what is not known of it?"


def venue(count: int, **texts: str) -> VenueForm:
    """A form with so many criteria of its own that differ in one word; ``texts`` replace some by id."""
    form = load_venue("neurips-2025")
    known = form.guidelines[0].model_copy(update={"words": ""})
    named = {f"c-{lamp}": texts.get(lamp, asks(lamp)) for lamp in LAMPS[:count]}
    own = tuple(known.model_copy(update={"id": name, "text": text}) for name, text in named.items())
    return form.model_copy(update={"id": "lamps-2026", "name": "Lamps 2026", "guidelines": own})


def calls_of(run: Path) -> dict[str, CallRecord]:
    calls = [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    return {call.call_id: call for call in calls}


def assert_each_was_read_for(review: Review, form: VenueForm, run: Path, *, text: bool = True) -> None:
    """Each criterion has readers, and stands in the prompt of the call that is named for each of them."""
    calls = calls_of(run)
    assert [(one.id, one.text) for one in review.criteria] == [(g.id, g.text) for g in form.guidelines]
    for record in review.criteria:
        assert record.readers, record.id
        assert not record.note
        for reader in record.readers:
            sent = "\n".join(words for _, words in calls[reader.call_id].messages)
            assert record.id in sent
            assert not text or record.text in sent


def steps_of(lamp: str) -> list[str]:
    return [f"Write down where the {lamp} was lit.", f"Check that the {lamp} was weighed twice."]


def written(request: ChatRequest) -> Any:
    text = request.spans("guideline")[-1]
    return {"steps": steps_of(next(lamp for lamp in reversed(LAMPS) if lamp in text))}


@pytest.mark.slow
@pytest.mark.parametrize("steps", ["own", "refined", "built"])
async def test_fourteen_of_fourteen_alike_criteria_reach_the_readers(folder: Path, steps: str) -> None:
    form = venue(14)
    refining: dict[str, Any] = {
        "own": {},
        "refined": {"written": written, "criticism": lambda request: {}},
        "built": {"written": lambda request: {"steps": []}, "criticism": lambda request: {}},
    }[steps]
    script = Refining(**refining).script() if refining else None
    more = {"review.preset": "full", "review.rounds": 1} if refining else QUICK
    review = await reviewed(folder, form, script=script, **more)
    assert_each_was_read_for(review, form, folder / "run")
    readers = {reader.name.partition(" (")[0] for record in review.criteria for reader in record.readers}
    assert {"the reader of P1", "the reader of P2", "the reader of P3"} <= readers
    calls = calls_of(folder / "run")
    for lamp, record in zip(LAMPS, review.criteria, strict=False):
        for call in (calls[reader.call_id] for reader in record.readers if "reader of" in reader.name):
            sent = "\n".join(words for _, words in call.messages)
            if steps == "refined":
                assert all(step in sent for step in steps_of(lamp))
            if steps == "built":
                assert "name the sentence and what would settle it" in sent


@pytest.mark.parametrize("name", ["arr", "iclr-2026", "emnlp-2023"])
async def test_readers_are_asked_all_that_a_shipped_form_asks(folder: Path, name: str) -> None:
    form = load_venue(name)
    assert_each_was_read_for(await reviewed(folder, form, **{"review.strategy": "audited"}), form, folder / "run")


@pytest.mark.parametrize("name", ["arr", "iclr-2026", "emnlp-2023"])
async def test_readers_of_parts_are_asked_all_that_a_shipped_form_asks_of_a_paper(folder: Path, name: str) -> None:
    form = load_venue(name)
    of_the_paper = {prompt.guideline_id for prompt in section_prompts(form) if not prompt.is_about_the_review}
    review = await reviewed(folder, form, **QUICK)
    readers = {record.id: [reader.name for reader in record.readers] for record in review.criteria}
    assert {id_ for id_, names in readers.items() if any("reader of" in name for name in names)} == of_the_paper
    assert len(of_the_paper) > 4


STRATEGIES = [
    "sections",
    "single",
    "audited",
    "multi-agent",
    "ensemble",
    "progressive",
    "archetype",
    "aligned",
    "enriched",
]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_thirty_criteria_are_read_for_in_every_strategy(folder: Path, strategy: str) -> None:
    form, given = venue(30), {"review.strategy": strategy}
    if strategy == "sections":
        given["review.preset"] = "quick"
    if strategy in ("aligned", "enriched"):
        given["review.target"] = "5"
    review = await reviewed(folder, form, **given)
    assert_each_was_read_for(review, form, folder / "run")
    expected = {"single": 1, "audited": 2, "multi-agent": 3, "ensemble": 5}.get(strategy)
    assert expected is None or all(len(record.readers) == expected for record in review.criteria)


async def reviewed(
    folder: Path, form: VenueForm, text: str = "", context: int = CONTEXT, script: Script | None = None, **given: Any
) -> Review:
    """A review on generated replies, where no script says more."""
    (folder / "paper.md").write_text(text or paper_text(3), encoding="utf-8")
    settings = quick_settings(**{"models.context_tokens": context, "calls.concurrency": 64, **given})
    with FakeServer(script, context_tokens=context) as server:
        options = {"model": "m", "base_url": server.base_url, "out": folder / "run", "settings": settings}
        return await review_paper(folder / "paper.md", venue=form, **with_options(**options))


async def test_the_lean_plan_says_that_its_readers_are_shown_no_criteria(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_plan(monkeypatch)
    review = await reviewed(folder, venue(2), **{"review.strategy": "multi-agent"})
    assert [(record.readers, record.note) for record in review.criteria] == [((), NOT_ASKED)] * 2


QUICK = {"review.preset": "quick"}
PARAGRAPH = "We light a lamp in each harbour and count the ships that find their way by it over one year."


@pytest.mark.parametrize("count", [1, 60])
async def test_one_criterion_and_sixty(folder: Path, count: int) -> None:
    form = venue(count)
    assert_each_was_read_for(await reviewed(folder, form, **QUICK), form, folder / "run")


async def test_of_two_equal_criteria_both_are_recorded(folder: Path) -> None:
    form = venue(3, lantern1=f"  {asks('lantern0').upper()}")
    review = await reviewed(folder, form, **QUICK)
    assert [record.id for record in review.criteria if record.readers] == ["c-lantern0", "c-lantern1", "c-lantern2"]


@pytest.mark.parametrize("text", [f"# Lamps\n\n{PARAGRAPH}\n", f"# Lamps\n\n## Method\n\n{PARAGRAPH}\n\n{PARAGRAPH}\n"])
async def test_a_paper_of_one_paragraph_or_of_forty_words_loses_no_criterion(folder: Path, text: str) -> None:
    form = venue(14)
    review = await reviewed(folder, form, text, script=Scene().script(), **QUICK)
    assert_each_was_read_for(review, form, folder / "run")


async def test_a_criterion_whose_sections_the_paper_lacks_goes_to_the_readers_there_are(folder: Path) -> None:
    form = load_venue("neurips-2025")
    review = await reviewed(folder, form, f"# Lamps\n\n## Conclusion\n\n{PARAGRAPH}\n", **QUICK)
    assert all(record.readers or record.note == OF_THE_REVIEW for record in review.criteria)


async def test_criteria_that_no_window_holds_are_refused(folder: Path) -> None:
    form = venue(60, **{lamp: " ".join([asks(lamp)] * 12) for lamp in LAMPS})
    with pytest.raises(ContextTooLong, match="too long for the model's context of 22,500, with 60 criteria beside it"):
        await reviewed(folder, form, f"# Lamps\n\n{PARAGRAPH}\n", context=22_500, **QUICK)


async def test_criteria_that_fit_without_steps_alone_are_read_for_and_the_cut_is_noted(
    folder: Path,
) -> None:
    form = venue(60)
    review = await reviewed(folder, form, context=16_000, **QUICK)
    assert_each_was_read_for(review, form, folder / "run")
    assert review.provenance is not None
    assert any(re.match(r"P2: the steps of \d+ guidelines were left out", note) for note in review.provenance.notes)
    readers = [reader for record in review.criteria for reader in record.readers if " P2 " in reader.name]
    assert {reader.note for reader in readers} == {"its steps were shortened"}


async def ran_on_two(folder: Path) -> tuple[Review, VenueForm]:
    """A review for two criteria and one about the review, with points of which one names its criterion."""
    form = venue(2)
    constructive = next(g for g in load_venue("colm-2024").guidelines if g.id == "constructive")
    form = form.model_copy(update={"guidelines": (*form.guidelines, constructive)})
    scene = Scene({"Method": [Raised("The lamp was never lit."), Raised("The oil is not named.")]})

    def section(request: ChatRequest) -> Any:
        reply = scene.section(request)
        for point, named in zip(reply["points"], (["c-lantern1"], ["c-lantern0"]), strict=False):
            point["criterion"] = named
        return reply

    script = Script({**scene.script().entries, "review/section": section})
    without = {"review.ablate": ["cross"]}  # whose reader is shown those about the review, too
    return await reviewed(folder, form, script=script, **QUICK, **without), form


async def test_a_criterion_leads_to_its_readers_and_to_their_points(folder: Path) -> None:
    review, _ = await ran_on_two(folder)
    lit, oil = (next(p for p in review.points if claim in p.claim) for claim in ("never lit", "not named"))
    assert (lit.criterion, oil.criterion) == (("c-lantern1",), ("c-lantern0",))
    lines = show(folder / "run", criterion="c-lantern1").lines
    assert lines[0] == f"c-lantern1: {asks('lantern1')}"
    (at,) = [n for n, line in enumerate(lines) if line.startswith("Given to the reader of P2 (2 Method), call ")]
    assert f"{lit.call_id} writer: review/section" in lines[at]
    assert lines[at + 1].startswith(f"  names it: {lit.number}. [")
    assert lines[at + 3].startswith(f"  names c-lantern0: {oil.number}. [")
    assert any(
        line.startswith(f"  names c-lantern1: {lit.number}. [")
        for line in show(folder / "run", criterion="c-lantern0").lines
    )
    assert show(folder / "run", criterion="constructive").lines[1] == f"Given to no reader: {OF_THE_REVIEW}"
    with pytest.raises(DataError, match="no record of a criterion 'c-lantern9'"):
        show(folder / "run", criterion="c-lantern9")


async def test_reports_say_who_read_for_which_criterion(folder: Path) -> None:
    review, form = await ran_on_two(folder)
    page = review_page(review, form, None, None, lambda image: "")
    for text in (render_review(review, form), page, "\n".join(show(folder / "run").lines)):
        assert HEADING in text
        assert "Given to the reader of P2 (2 Method): c-lantern0, c-lantern1." in text
        assert f"Given to no reader: constructive ({OF_THE_REVIEW})." in text


async def test_a_review_without_the_record_still_loads_and_says_nothing_of_it(folder: Path) -> None:
    _, form = await ran_on_two(folder)
    stored = json.loads((folder / "run" / "review.json").read_text())
    assert stored.pop("criteria")
    (folder / "run" / "review.json").write_text(json.dumps(stored))
    old = Review.model_validate(stored)
    assert old.criteria == ()
    assert HEADING not in render_review(old, form)
    assert HEADING not in review_page(old, form, None, None, lambda image: "")
    with pytest.raises(DataError, match="an older version wrote it"):
        show(folder / "run", criterion="c-lantern1")
