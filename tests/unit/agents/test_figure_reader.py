"""Figures before a model: what it is shown of each; its points quote the paper and say that they were read by eye."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from referee.agents.figure_reader import (
    FIGURES_A_CALL,
    FiguresRead,
    ShownFigure,
    figure_calls,
    read_figures,
)
from referee.errors import BudgetExceeded, ModelRefused
from referee.llm.images import MOST_IMAGES, PromptImage, image_of
from referee.schemas.figure import Figure
from referee.schemas.paper import Block, Box, Paper, Section
from referee.testing import ScriptedModel

from .paper_on_tests import small_paper

GAIN = "As Figure 1 shows, the blue lantern is the brightest of all from hour two on."
TIE = "Figure 2 draws the numbers of Table 3."
MENTIONS = {1: (GAIN,), 2: (TIE,)}
BOX = Box(x0=10, y0=20, x1=110, y1=90)


def picture(shade: int, size: tuple[int, int] = (40, 30)) -> PromptImage:
    stream = io.BytesIO()
    Image.new("RGB", size, (shade % 256, shade // 256, 90)).save(stream, "PNG")
    return image_of(stream.getvalue(), "a picture")


def paper(figures: int = 2) -> Paper:
    texts = [("paragraph", GAIN, None), ("paragraph", TIE, None), ("table", "hour | blue | red", "Table 3")]
    texts += [("caption", f"Figure {n}: Brightness of lanterns. Blue is solid.", f"Figure {n}") for n in _upto(figures)]
    blocks = tuple(
        Block.model_validate({"id": f"b{n}", "kind": kind, "text": text, "label": label, "page": 4})
        for n, (kind, text, label) in enumerate(texts)
    )
    section = Section.model_validate({"id": "s1", "heading": "Results", "level": 1, "blocks": blocks})
    abstract = Block(id="a", kind="paragraph", text="We measure lanterns.", page=1)
    return small_paper(Section(id="s0", heading="Abstract", level=1, role="abstract", blocks=(abstract,)), section)


def _upto(count: int) -> range:
    return range(1, count + 1)


def shown(count: int = 2, *images: PromptImage) -> list[ShownFigure]:
    return [
        ShownFigure(
            Figure(
                id=f"b{n + 2}", kind="figure", label=f"Figure {n}",
                caption=f"Figure {n}: Brightness of lanterns. Blue is solid.",
                block_id=f"b{n + 2}", page=4, box=BOX, images=(f"{n:03}.png",),
                mentions=MENTIONS.get(n, ()),
            ),
            images or (picture(n),),
        )
        for n in _upto(count)
    ]  # fmt: skip


def remark(figure: str = "f1", **changes: str) -> dict[str, str]:
    said = {
        "figure": figure, "claim": "the red curve lies above the blue one after hour two", "quote": GAIN,
        "kind": "contradiction", "effect": "claim", "settled_by": "correct the sentence", "remedy": "text",
    }  # fmt: skip
    return {**said, **changes}


def reply(*remarks: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"looked": [{"figure": "f1", "shows": "two curves"}], "remarks": list(remarks), "serves": "well", **more}


async def read(*replies: Any, count: int = 2) -> FiguresRead:
    calls = figure_calls(paper(count), shown(count))
    return await read_figures(paper(count), calls, door=ScriptedModel(list(replies)))


def test_a_figure_stands_with_its_picture_caption_paragraphs_and_the_tables_they_name() -> None:
    (call,) = figure_calls(paper(), shown())
    asked = call.prompt.user
    assert "[f1] Figure 1, page 4: picture 1\ncaption: Figure 1: Brightness of lanterns. Blue is solid." in asked
    assert f"paragraph: {GAIN}" in asked
    assert (
        f"[f2] Figure 2, page 4: picture 2\ncaption: Figure 2: Brightness of lanterns. Blue is solid.\nparagraph: {TIE}"
        in asked
    )
    assert "Table 3: hour | blue | red" in asked
    assert "We measure lanterns." in asked
    assert [image.digest for image in call.images] == [picture(1).digest, picture(2).digest]


def test_a_page_with_two_figures_goes_once() -> None:
    (call,) = figure_calls(paper(), shown(2, picture(7)))
    assert len(call.images) == 1
    assert "[f1] Figure 1, page 4: picture 1" in call.prompt.user
    assert "[f2] Figure 2, page 4: picture 1" in call.prompt.user


@pytest.mark.slow
@given(st.lists(st.integers(min_value=1, max_value=MOST_IMAGES + 5), min_size=1, max_size=14))
def test_every_figure_is_in_one_call_and_no_call_holds_too_much(sizes: list[int]) -> None:
    figures = shown(len(sizes))
    taken = iter(range(1000))
    many = [
        ShownFigure(one.figure, tuple(picture(next(taken)) for _ in range(n)))
        for one, n in zip(figures, sizes, strict=True)
    ]
    calls = figure_calls(paper(len(sizes)), many)
    assert [one.figure.label for call in calls for one in call.figures.values()] == [
        f"Figure {n}" for n in _upto(len(sizes))
    ]
    assert all(len(call.figures) <= FIGURES_A_CALL and len(call.images) <= MOST_IMAGES for call in calls)


async def test_a_point_says_by_eye_and_quotes_caption_and_text_with_their_place() -> None:
    found = await read(reply(remark(), remark("f2", quote="")))
    first, second = found.points
    assert (first.id, second.id) == ("f-1", "f-2")
    assert first.claim == "Figure 1 (p. 4), as read by eye: the red curve lies above the blue one after hour two"
    caption, text = first.evidence
    assert (caption.quote, caption.page, caption.box) == ("Figure 1: Brightness of lanterns.", 4, BOX)
    assert (text.quote, text.status, text.section) == (GAIN.rstrip("."), "exact", "Results")
    assert [one.quote for one in second.evidence] == ["Figure 2: Brightness of lanterns."]
    assert first.kind == second.kind == "contradiction", "the picture is the other side"
    assert (first.source, first.severity) == ("figure", "major")
    assert first.check is not None
    assert first.check.verdict == "unchecked"
    assert [(one.label, one.shows) for one in found.seen] == [("Figure 1", "two curves"), ("Figure 2", "")]
    assert found.serves == "well"


async def test_words_that_the_paper_does_not_hold_are_not_quoted() -> None:
    (point,) = (await read(reply(remark(quote="The lanterns of the harbour are all green and never lit.")))).points
    assert [one.quote for one in point.evidence] == ["Figure 1: Brightness of lanterns."]


async def test_a_call_that_fails_leaves_the_others_alone() -> None:
    found = await read(ModelRefused("too many pictures.", hint="x"), reply(remark()), count=FIGURES_A_CALL + 1)
    assert len(found.unseen) == FIGURES_A_CALL
    assert {one.reason for one in found.unseen} == {"too many pictures."}
    assert [one.label for one in found.seen] == [f"Figure {FIGURES_A_CALL + 1}"]
    assert [one.id for one in found.points] == ["f-1"]


async def test_a_limit_ends_the_reading() -> None:
    with pytest.raises(BudgetExceeded):
        await read(BudgetExceeded("no more.", hint="x"))
