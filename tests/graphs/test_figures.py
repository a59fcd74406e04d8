"""Figures inside a review: the pictures that arrive, what is printed of them, and every way in which none is shown."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from referee import RunOptions, review
from referee.errors import BudgetExceeded, ModelUnavailable
from referee.reports import render_review
from referee.schemas.figure import FigureReading
from referee.schemas.review import Review
from referee.settings import PromptText, Settings
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer, Fault, Script
from tests.unit.papers.conftest import prose
from tests.unit.prompts.test_own import MARK, own_text

from .sections_run import quick_settings
from .sections_script import VENUE

RED, BLUE = (200, 30, 30), (30, 30, 200)
SAYS = "As Figure 1 shows, most of the intervals of the study hold it."
WRONG = "the square is red, where the text counts intervals"


def sees(request: ChatRequest) -> dict[str, str]:
    return {"left": "orange", "right": "blue"}


def looked(request: ChatRequest) -> dict[str, Any]:
    remark = {
        "figure": "f1", "claim": WRONG, "quote": SAYS, "kind": "contradiction", "effect": "claim",
        "settled_by": "draw intervals", "remedy": "text",
    }  # fmt: skip
    shows = [{"figure": f"f{n}", "shows": f"a plain square, number {n}"} for n in (1, 2)]
    return {"looked": shows, "remarks": [remark], "serves": "two squares without axes"}


def script(**more: Any) -> Script:
    return Script({"models/sees": sees, "figures/read": looked, **more})


def settings_of(**more: Any) -> Settings:
    """The default strategy, with the window that the server names."""
    return quick_settings(**{"review.strategy": "audited", "models.context_tokens": None, **more})


@pytest.fixture
def paper(folder: Path) -> Path:
    """Two pages, on each a figure in one colour under prose."""
    path = folder / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792), invariant=True)
    for number, colour in ((1, RED), (2, BLUE)):
        stream = io.BytesIO()
        Image.new("RGB", (120, 80), colour).save(stream, "PNG")
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 792 - 80, f"{number} Section of this part")
        _text(canvas, 100, 10)
        canvas.drawImage(ImageReader(io.BytesIO(stream.getvalue())), 200, 792 - 260 - 120, 180, 120)
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(200, 792 - 400, f"Figure {number}: The share of intervals that hold the value.")
        canvas.drawString(72, 792 - 440, f"As Figure {number} shows, most of the intervals of the study hold it.")
        _text(canvas, 453, 12)
        canvas.showPage()
    canvas.save()
    return path


def _text(canvas: Canvas, start: float, count: int) -> None:
    for line, top, font, size in prose(start, count):
        canvas.setFont(font, size)
        canvas.drawString(72, 792 - top, line)


async def reviewed(server: FakeServer, paper: Any, out: str = "run", **more: Any) -> Review:
    options = {"settings": settings_of(), "base_url": server.base_url}
    how = {"resume": Path(more.pop("resume"))} if "resume" in more else {"out": Path(out)}
    options |= {name: more.pop(name) for name in ("settings", "confirm") if name in more}
    return await review(paper, venue=VENUE, model="m", options=RunOptions(**how, **options), **more)


def reading_of(made: Review) -> FigureReading:
    assert made.figures is not None
    return made.figures


def prompts(out: str = "run") -> list[str]:
    lines = (Path(out) / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["prompt"].partition("@")[0] for line in lines]


def middle(data: bytes) -> tuple[int, ...]:
    with Image.open(io.BytesIO(data)) as shown:
        return tuple(shown.convert("RGB").getpixel((shown.width // 2, shown.height // 2)))  # type: ignore[arg-type]


def near(colour: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 12 for a, b in zip(colour, wanted, strict=True))


def asked(server: FakeServer, prompt: str) -> list[ChatRequest]:
    return [entry.request for entry in server.log if entry.request.prompt_id.startswith(prompt)]


async def test_the_figures_arrive_and_what_is_wrong_with_them_is_printed(paper: Path) -> None:
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, paper)
        (look,) = asked(server, "figures/read")
    assert [near(middle(data), colour) for data, colour in zip(look.images, (RED, BLUE), strict=True)] == [True, True]
    (point,) = [point for point in made.points if point.source == "figure"]
    assert point.claim == f"Figure 1 (p. 1), as read by eye: {WRONG}"
    assert [(one.page, one.status) for one in point.evidence] == [(1, "exact"), (1, "exact")]
    assert point.evidence[0].box is not None
    assert point.outcome == "printed"
    assert point.check is not None
    assert (point.check.verdict, point.check.reason) == ("unchecked", "the check of the text sees no picture")
    assert f"material, not checked] {point.claim}" in str(made.fields[str(point.field)])
    reading = reading_of(made)
    assert [(one.label, one.page, one.shows) for one in reading.seen] == [
        ("Figure 1", 1, "a plain square, number 1"),
        ("Figure 2", 2, "a plain square, number 2"),
    ]
    assert reading.unseen == ()
    assert sorted(one.name for one in (Path("run") / "figures").iterdir()) == ["001.png", "002.png"]
    text = render_review(made, load_venue(VENUE))
    assert "Of its figures and doubtful tables, 2 of 2 were looked at as pictures" in text
    assert "Figure 2 (p. 2), as read by eye: a plain square, number 2" in text
    assert "Figures as pictures" in (Path("run") / "report.html").read_text(encoding="utf-8")
    confidence = next(record for record in made.scores if record.field == "confidence")
    assert "2 of its 2 figures and doubtful tables were looked at as pictures" in confidence.reason
    assert all(record.limit != "judged without the figures" for record in made.scores)


async def test_the_figures_are_shown_with_a_prompt_of_ones_own(paper: Path) -> None:
    own = PromptText(file="mine.md", text=own_text("figures/read"))
    with FakeServer(script()) as server:
        options = {"settings": settings_of(), "base_url": server.base_url, "out": Path("run")}
        await review(paper, venue=VENUE, model="m", options=RunOptions(prompts={"figures/read": own}, **options))
        (call,) = asked(server, "figures/read@mine.md-")
    assert MARK in "\n".join(message.text for message in call.messages)


@pytest.mark.slow
async def test_a_resume_pays_for_no_picture_again(paper: Path) -> None:
    once = [Fault("500", prompt_id="review/single", first=1)]
    with FakeServer(script(), faults=once, context_tokens=64_000) as server:
        with pytest.raises(ModelUnavailable):
            await reviewed(server, paper, settings=settings_of(**{"calls.max_tries": 1}))
        made = await reviewed(server, paper, resume="run")
        assert len(asked(server, "figures/read")) == len(asked(server, "models/sees")) == 1
    assert len(reading_of(made).seen) == 2


@pytest.mark.parametrize("strategy", ["single", "sections"])
async def test_other_strategies_print_them_in_their_lists(paper: Path, strategy: str) -> None:
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, paper, strategy=strategy)
    (point,) = [point for point in made.points if point.source == "figure"]
    assert point.number
    assert f"material, not checked] {point.claim}" in str(made.fields[str(point.field)])
    limits = {record.limit or record.null_reason for record in made.scores}
    assert "judged without the figures" not in limits


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            lambda request: {"left": "red", "right": "red"},
            "m took a small picture and did not see it: it said red and red",
        ),
        (lambda request: {"left": 7}, "gave no valid answer about a small picture"),
    ],
)
async def test_a_model_that_sees_nothing_is_shown_nothing(paper: Path, answer: Any, reason: str) -> None:
    with FakeServer(script(**{"models/sees": answer}), context_tokens=64_000) as server:
        made = await reviewed(server, paper)
        assert not asked(server, "figures/read")
        assert all(not entry.request.images for entry in server.log if entry.request.prompt_id.startswith("review/"))
    reading = reading_of(made)
    assert reason.removeprefix("m ") in reading.reason
    assert {one.label: reason.removeprefix("m ") in one.reason for one in reading.unseen} == {
        "Figure 1": True,
        "Figure 2": True,
    }
    assert "Its figures were not looked at: " in made.disclosure
    assert "its figures were not looked at" in next(r for r in made.scores if r.field == "confidence").reason


async def test_a_server_that_refuses_the_pictures_leaves_a_review_of_the_text(paper: Path) -> None:
    with FakeServer(script(), faults=[Fault("400", prompt_id="figures/read")], context_tokens=64_000) as server:
        made = await reviewed(server, paper)
    reading = reading_of(made)
    assert reading.seen == ()
    assert [one.label for one in reading.unseen] == ["Figure 1", "Figure 2"]
    assert made.fields["summary"]


async def test_none_are_cut_where_none_are_asked_for(paper: Path) -> None:
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, paper, figures="none")
        assert all(not entry.request.images for entry in server.log)
    assert reading_of(made).reason == "pictures were not asked for (--figures none)"
    assert "Its figures were not looked at: pictures were not asked for" in made.disclosure
    assert not (Path("run") / "figures").exists()


@pytest.mark.slow
async def test_whole_pages_where_they_are_asked_for(paper: Path) -> None:
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, paper, figures="pages")
        (look,) = asked(server, "figures/read")
    for data in look.images:
        with Image.open(io.BytesIO(data)) as page:
            assert abs(page.width / page.height - 612 / 792) < 0.01
    assert all(one.whole_page for one in reading_of(made).seen)
    assert "picture 1, shown as its whole page" in look.user


@pytest.mark.slow
async def test_the_estimate_says_what_is_shown_and_counts_it(paper: Path) -> None:
    plans = []
    with FakeServer(script(), context_tokens=64_000) as server:
        for figures in ("none", "auto"):
            await reviewed(server, paper, out=figures, figures=figures, confirm=lambda plan: plans.append(plan) or True)
    without, plan = plans
    assert plan.calls == without.calls + 2, "the question whether it sees, and one call for both figures"
    assert plan.input_tokens > without.input_tokens + 2 * 85
    assert any("2 figures and tables are shown to m@" in note for note in plan.notes)
    assert not any("as pictures" in note for note in without.notes)


async def test_a_limit_stops_before_the_pictures_are_paid(paper: Path) -> None:
    with FakeServer(script(), context_tokens=64_000) as server:
        settings = settings_of(**{"budget.max_tokens": 1_500})
        with pytest.raises(BudgetExceeded):
            await reviewed(server, paper, settings=settings)
        assert not asked(server, "figures/read")


async def test_a_paper_without_figures_costs_no_question(folder: Path) -> None:
    plain = folder / "plain.md"
    plain.write_text(
        "# On lanterns\n\n## Method\n\n" + "We light every lantern twice and write it down. " * 40, "utf-8"
    )
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, plain)
    assert made.figures is None
    assert "models/sees" not in prompts()
    assert "figures" not in made.disclosure


async def test_a_caption_without_its_file_is_named(folder: Path) -> None:
    text = "# On lanterns\n\n## Method\n\nWe light them as Figure 1 shows. " + "It is written down. " * 60
    (folder / "gone.md").write_text(
        f"{text}\n\n![](https://a.example/b.png)\n\nFigure 1: Lanterns at night.\n", "utf-8"
    )
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, folder / "gone.md")
    (one,) = reading_of(made).unseen
    assert one.label == "Figure 1"
    assert "is not fetched" in one.reason
    assert "models/sees" not in prompts()


async def test_a_file_that_is_gone_leaves_a_review_of_the_text(paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crashed(*given: Any, **more: Any) -> Any:
        from referee.errors import PaperParseError

        raise PaperParseError("the converter crashed.", hint="x")

    monkeypatch.setattr("referee.api.looking.draw_figures", crashed)
    with FakeServer(script(), context_tokens=64_000) as server:
        made = await reviewed(server, paper)
    assert reading_of(made).reason == "the converter crashed."
    assert made.fields["summary"]
