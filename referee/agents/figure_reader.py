"""A reader of figures: what pictures show, against the caption and the paragraphs that speak of them.

Its points quote the paper's own words, name page and place, and say that the rest was read off a picture by eye.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import AsksWithPictures, list_of, one_of
from referee.agents.briefing import block_text
from referee.errors import RefereeError, RunStopped
from referee.evidence import QuotationIndex, split_sentences, verify_point
from referee.evidence.passages import heading_of
from referee.llm.dialects import reply_schema
from referee.llm.door import prompt_digest
from referee.llm.images import MOST_IMAGES, PromptImage
from referee.papers.captions import tables_by_label
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.figure import Figure, SeenFigure, UnseenFigure
from referee.schemas.paper import Paper
from referee.schemas.point import Fix, PointCheck, PointEvidence, ReviewPoint, Severity

PROMPT = "figures/read"
ROLE = "writer"
FIGURES_A_CALL = 6
REMARKS_A_FIGURE = 4
BY_EYE = "as read by eye"
"""What a claim says that rests on a picture."""
NOT_TESTED = "the check of the text sees no picture"

Effect = Literal["headline", "claim", "sentence", "style"]
SEVERITY_OF: dict[str, Severity] = {"headline": "fatal", "claim": "major", "sentence": "minor", "style": "note"}
"""What would change in the paper, as a severity: a headline claim, a stated claim, a sentence, or style."""

_TOKENS_A_FIGURE, _TOKENS_AROUND = 900, 700
_CAPTION_CHARS, _PARAGRAPH_CHARS, _PARAGRAPHS, _TABLE_CHARS, _TABLES = 1_500, 1_500, 4, 2_500, 3
_ABSTRACT_CHARS = 2_500
_CLOSED = ConfigDict(extra="ignore")
_KINDS: Any = Literal["error", "contradiction", "unsupported", "statistics", "design", "clarity"]
_REMEDIES: Any = Literal["text", "analysis", "experiment", "none"]


@dataclass(frozen=True)
class ShownFigure:
    """A figure with its pictures as they go with a prompt."""

    figure: Figure
    images: tuple[PromptImage, ...]


@dataclass(frozen=True)
class FiguresRead:
    """What was seen, what could not be, and what is wrong: points ``f-1`` and on."""

    seen: tuple[SeenFigure, ...] = ()
    unseen: tuple[UnseenFigure, ...] = ()
    points: tuple[ReviewPoint, ...] = ()
    serves: str = ""


@dataclass(frozen=True)
class FigureCall:
    """One call: some figures, each picture once, and which of them belong to which figure."""

    figures: Mapping[str, ShownFigure]
    images: tuple[PromptImage, ...]
    prompt: RenderedPrompt

    @property
    def reply(self) -> type[BaseModel]:
        """The shape of the reply."""
        return figures_model(tuple(self.figures))

    @property
    def most_tokens(self) -> int:
        """The longest reply."""
        return _TOKENS_AROUND + _TOKENS_A_FIGURE * len(self.figures)


@lru_cache(maxsize=64)
def figures_model(ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape for figures of these ids."""
    look = create_model(
        "Look", __config__=_CLOSED, figure=(one_of(ids), Field()), shows=(str, Field(max_length=700))
    )  # fmt: skip
    remark = create_model(
        "Remark",
        __config__=_CLOSED,
        figure=(one_of(ids), Field()),
        claim=(str, Field(min_length=1, max_length=500)),
        quote=(str, Field(max_length=500, description="copied letter by letter, at most 60 words")),
        kind=(_KINDS, Field()),
        effect=(Effect, Field()),
        settled_by=(str, Field(max_length=300)),
        remedy=(_REMEDIES, Field()),
    )
    return create_model(
        "FigureReadings",
        __config__=_CLOSED,
        looked=(list_of(look), Field(max_length=len(ids))),
        remarks=(list_of(remark), Field(max_length=REMARKS_A_FIGURE * len(ids))),
        serves=(str, Field(max_length=700)),
    )


def figure_calls(paper: Paper, shown: Sequence[ShownFigure]) -> list[FigureCall]:
    """The calls that show all of these figures, a few a call.

    Args:
        paper: The submission.
        shown: Figures with at least one picture each.
    """
    return [_call(paper, batch) for batch in _batches(shown)]


async def read_figures(paper: Paper, calls: Sequence[FigureCall], *, door: AsksWithPictures) -> FiguresRead:
    """Ask about every figure; a call that fails leaves its figures unseen, with the reason, and the others alone.

    Raises:
        RunStopped: The next call could pass a limit.
    """
    index = QuotationIndex(paper)
    read = await asyncio.gather(*(_asked(paper, index, call, door) for call in calls))
    points = [point for one in read for point in one.points]
    return FiguresRead(
        seen=tuple(figure for one in read for figure in one.seen),
        unseen=tuple(figure for one in read for figure in one.unseen),
        points=tuple(p.model_copy(update={"id": f"f-{n}"}) for n, p in enumerate(points, start=1)),
        serves=" ".join(filter(None, (one.serves for one in read))),
    )


async def _asked(paper: Paper, index: QuotationIndex, call: FigureCall, door: AsksWithPictures) -> FiguresRead:
    try:
        answer = await door.ask(
            call.prompt, call.reply, role=ROLE, max_output_tokens=call.most_tokens, images=call.images
        )
    except RunStopped:
        raise
    except RefereeError as error:
        return FiguresRead(
            unseen=tuple(UnseenFigure(label=one.figure.label, reason=error.message) for one in call.figures.values())
        )
    data = answer.value.model_dump()
    shows = {look["figure"]: " ".join(look["shows"].split()) for look in data["looked"]}
    origin = {
        "call_id": answer.call_id,
        "model": answer.model,
        "prompt": prompt_digest(call.prompt, reply_schema(call.reply)),
    }
    points = (_point(paper, call.figures[item["figure"]].figure, item, origin) for item in data["remarks"])
    return FiguresRead(
        seen=tuple(_seen(one.figure, shows.get(name, "")) for name, one in call.figures.items()),
        points=tuple(_with_own_words(verify_point(point, index)) for point in points),
        serves=" ".join(data["serves"].split()),
    )


def _seen(figure: Figure, shows: str) -> SeenFigure:
    return SeenFigure(
        label=figure.label,
        kind=figure.kind,
        page=figure.page,
        box=figure.box,
        images=figure.images,
        whole_page=figure.whole_page,
        shows=shows,
    )


def _point(paper: Paper, figure: Figure, item: Mapping[str, str], origin: Mapping[str, str]) -> ReviewPoint:
    """A remark as a point: the figure's caption as read, with its page and box, and the words that it bears on."""
    named = next((s for s in paper.sections for block in s.blocks if block.id == figure.block_id), None)
    section = named or paper.sections[0]
    place = f" (p. {figure.page})" if figure.page is not None else ""
    caption = next(iter(split_sentences(figure.caption)), figure.caption)
    evidence = [
        PointEvidence(
            quote=caption, status="exact", section_id=section.id, section=heading_of(section), label=figure.label,
            page=figure.page, box=figure.box,
        )
    ] if named else []  # fmt: skip
    quote = " ".join(item["quote"].split())
    if quote and quote not in caption:
        evidence.append(
            PointEvidence(
                quote=quote, status="not_found", similarity=0.0, section_id=section.id, section=heading_of(section),
                role="contradicts",
            )
        )  # fmt: skip
    severity = SEVERITY_OF[item["effect"]]
    return ReviewPoint.model_validate(
        {
            "id": "f-0",
            "claim": f"{figure.label}{place}, {BY_EYE}: {' '.join(item['claim'].split())}",
            "polarity": "weakness",
            "kind": item["kind"],
            "severity": severity,
            "raised_severity": severity,
            "evidence": evidence,
            "fix": Fix.model_validate({"kind": item["remedy"], "what": item["settled_by"]}),
            "source": "figure",
            "section_id": section.id,
            "check": PointCheck(verdict="unchecked", by="no check", reason=NOT_TESTED),
            **origin,
        }
    )


def _with_own_words(point: ReviewPoint) -> ReviewPoint:
    """Without quotations that are not in the paper: the caption carries the point."""
    return point.model_copy(update={"evidence": tuple(e for e in point.evidence if e.status != "not_found")})


def _batches(shown: Sequence[ShownFigure]) -> Iterator[list[ShownFigure]]:
    """Some figures a call, and no more pictures than a call may hold; a picture of two figures counts once."""
    batch: list[ShownFigure] = []
    for one in shown:
        together = {image.digest for each in (*batch, one) for image in each.images}
        if batch and (len(batch) == FIGURES_A_CALL or len(together) > MOST_IMAGES):
            yield batch
            batch = []
        batch.append(replace(one, images=one.images[:MOST_IMAGES]))
    if batch:
        yield batch


def _call(paper: Paper, batch: Sequence[ShownFigure]) -> FigureCall:
    images = {image.digest: image for one in batch for image in one.images}
    numbers = {digest: number for number, digest in enumerate(images, start=1)}
    figures = {f"f{number}": one for number, one in enumerate(batch, start=1)}
    told = "\n\n".join(_told(name, one, numbers, _paragraphs(paper, one.figure)) for name, one in figures.items())
    tables = "\n\n".join(_tables(paper, batch, told)) or "(none)"
    abstract = next((s for s in paper.sections if s.role == "abstract"), None)
    text = _clipped("\n".join(block.text for block in abstract.blocks), _ABSTRACT_CHARS) if abstract else "(none)"
    prompt = load_prompt(PROMPT).render(
        title=" ".join(paper.title.split()) or "(none)",
        most=str(REMARKS_A_FIGURE * len(batch)),
        abstract=delimit("abstract", text),
        figures=delimit("figures", told),
        tables=delimit("tables", tables),
    )
    return FigureCall(figures, tuple(images.values()), prompt)


def _told(name: str, one: ShownFigure, numbers: Mapping[str, int], paragraphs: Sequence[str]) -> str:
    """A figure for the reader: which pictures, its caption, and the paragraphs that name it."""
    figure = one.figure
    pictures = [str(numbers[image.digest]) for image in one.images]
    which = f"picture{'s' if len(pictures) > 1 else ''} {', '.join(pictures)}"
    page = f", page {figure.page}" if figure.page is not None else ""
    whole = ", shown as its whole page" if figure.whole_page else ""
    lines = [f"[{name}] {figure.label}{page}: {which}{whole}", f"caption: {_clipped(figure.caption, _CAPTION_CHARS)}"]
    lines += [f"paragraph: {_clipped(text, _PARAGRAPH_CHARS)}" for text in paragraphs]
    return "\n".join(lines if paragraphs else [*lines, "(no paragraph names it)"])


def _clipped(text: str, most: int) -> str:
    """The text, or its beginning with a mark: rows of a table that are not shown are not missing."""
    return text if len(text) <= most else f"{text[:most]} [the rest is not shown]"


def _paragraphs(paper: Paper, figure: Figure) -> tuple[str, ...]:
    """The blocks of text whose sentences name the figure, in order, at most four."""
    mentions = [" ".join(sentence.split()) for sentence in figure.mentions]
    texts = (" ".join(block.text.split()) for _, block in paper.blocks() if block.kind not in ("caption", "figure"))
    return tuple(dict.fromkeys(text for text in texts if any(one in text for one in mentions)))[:_PARAGRAPHS]


def _tables(paper: Paper, batch: Sequence[ShownFigure], told: str) -> Iterator[str]:
    """Tables as read that captions and paragraphs name, which a figure can be compared with; not those in pictures."""
    own = {one.figure.label for one in batch}
    tables = tables_by_label(paper)
    named = [label for label in tables if label not in own and re.search(rf"{re.escape(label)}(?!\d)", told)]
    for label in named[:_TABLES]:
        yield f"{label}: {_clipped(block_text(tables[label]), _TABLE_CHARS)}"
