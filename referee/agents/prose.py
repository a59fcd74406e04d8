"""Summaries, scores and choices of the venue's form, from the points that stand, by their ids.

The reply's paragraphs that carry points are not printed: the review prints the points themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.composer import ROLE, left_open, objections, score_model
from referee.agents.figure_reader import shown_figures
from referee.agents.focus import shortened
from referee.agents.form_reply import (
    BY_RULE,
    FULL,
    Choice,
    StatedScore,
    offered,
    slugs_of,
    stated_scores,
    ticked_choices,
)
from referee.agents.literature_points import works_text
from referee.agents.paper_text import PaperRun
from referee.agents.point_texts import correction_head
from referee.prompts import delimit
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature
from referee.schemas.point import ReviewPoint
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

PROMPT = "review/write"
WORDS = 1_500
REPLY_TOKENS = 9_000
_MOST_PARAGRAPHS, _PARAGRAPH_CHARS, _HEAD_CHARS = 60, 1_800, 160
_MOST_REPEATS, _SENTENCE_CHARS = 12, 500
_WEIGHTS = {"fatal": "decides", "major": "bears on a claim", "minor": "a sentence or number", "note": "style"}
# Of so many points, the gravest, all reasons are shown; of other grave ones the beginning; the rest asks for none.
_ARGUED, _REASON_CHARS = 10, 220
_GRAVE = ("fatal", "major")
_NAMES_A_PLACE = re.compile(
    r"\b(Section|Sections|Table|Tables|Figure|Figures|Fig|Equation|Eq|Appendix|Abstract)\b", re.I
)


Weight = Literal["opening", "decides", "other", "advice"]


@dataclass(frozen=True)
class Prose:
    """What the text fields say before their points, by field name, and the form's scores and choices."""

    texts: Mapping[str, str] = default(default_factory=dict)
    scores: Mapping[str, StatedScore] = default(default_factory=dict)
    choices: Mapping[str, Choice] = default(default_factory=dict)
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def prose_model(form: VenueForm) -> type[BaseModel]:
    """Text fields in the form's order, scores with the overall last, checklists, what was said twice.

    Points stand in it by their ids, which the schema does not list: in every field they would be the longest part of
    the call. An id that is none is passed over.
    """
    slugs = slugs_of(form)
    paragraph = create_model(
        "Paragraph",
        __config__=ConfigDict(extra="ignore"),
        head=(str, Field(default="", max_length=_HEAD_CHARS)),
        text=(str, Field(min_length=1, max_length=_PARAGRAPH_CHARS)),
        points=(list[str], Field(default_factory=list)),
        weight=(Weight, Field(default="other")),
    )
    shape: dict[str, Any] = {}
    for field in (f for f in form.reviewer_fields if f.kind == "text"):
        about = f"{field.asks} At most {field.max_chars} characters." if field.max_chars else field.asks
        shape[slugs[field.name]] = (list_of(paragraph), Field(max_length=_MOST_PARAGRAPHS, description=about))
    for field in sorted(form.reviewer_fields, key=lambda f: f.aspect == "overall"):
        if field.kind == "score" and field.aspect not in BY_RULE:
            shape[slugs[field.name]] = (score_model(field, None, FULL), Field(description=field.asks))
    for field in form.reviewer_fields:
        if field.kind == "choice":
            shape[slugs[field.name]] = (one_of(tuple(offered(field))), Field(description=field.asks))
        elif field.kind == "flag":
            options = list_of(one_of(tuple(offered(field))))
            shape[slugs[field.name]] = (options, Field(max_length=len(field.options)))
    sentence: Any = Annotated[str, Field(max_length=_SENTENCE_CHARS)]
    shape["said_twice"] = (list_of(sentence), Field(default_factory=list, max_length=_MOST_REPEATS))
    return create_model("WrittenReview", __config__=ConfigDict(extra="ignore"), **shape)


async def write_prose(
    run: PaperRun,
    points: Sequence[ReviewPoint],
    corrections: Sequence[ReviewPoint] = (),
    literature: Literature | None = None,
    figures: FigureReading | None = None,
) -> Prose:
    """Write the review in one call.

    Args:
        run: The paper under review.
        points: What the text fields are to carry, the gravest first.
        corrections: What is listed after the review; one that a paragraph says anyway is among that paragraph's points.
        literature: Earlier works that the score of originality takes into account.
        figures: What of the figures was seen, for the score of presentation.

    Returns:
        Texts, scores and choices with the points' own ids. A score that the points contradict is open.

    Raises:
        ModelError: The model did not answer validly.
    """
    form, names = run.form, {f"b{number}": point for number, point in enumerate(points, start=1)}
    shown = "\n\n".join(_shown(name, point, argued=n < _ARGUED) for n, (name, point) in enumerate(names.items()))
    listed = {f"c{number}": point for number, point in enumerate(corrections, start=1)}
    lines = "\n".join(f"[{name}] {correction_head(point)}" for name, point in listed.items()) or "(none)"
    names |= listed
    task = run.task(
        PROMPT,
        venue_name=form.name,
        guidelines=render_guidelines(form),
        form=render_form(form),
        points=delimit("points", shown or "(no point stands)"),
        corrections=delimit("corrections", lines),
        figures=delimit("figures", shown_figures(figures) or "(the figures were not looked at)"),
        works=delimit("works", works_text(literature) or "(no search was made, or it found nothing)"),
        words=f"{WORDS:,}",
    )
    answer = await run.ask(task, prose_model(form), role=ROLE, tokens=REPLY_TOKENS)
    data, slugs = answer.value.model_dump(), slugs_of(form)
    scores = _own_ids(stated_scores(form, data), names)
    notes = list(answer.notes)
    for name, objection in objections(form, scores, points).items():
        scores[name] = left_open(scores[name], objection)
        notes.append(f"the score of {name} was left open: {objection}")
    texts = {f.name: _before_points(data[slugs[f.name]]) for f in form.reviewer_fields if f.kind == "text"}
    return Prose(
        texts=texts,
        scores=scores,
        choices=ticked_choices(form, data),
        notes=tuple(notes),
    )


def _shown(name: str, point: ReviewPoint, *, argued: bool) -> str:
    """A point for the composer: what it says, why, where, and what would settle it."""
    head = f"[{name}] {_head(point)}: {' '.join(point.statement.split())}"
    return "\n  ".join([head, *_lines(point, argued=argued)])


def _head(point: ReviewPoint) -> str:
    if point.polarity == "strength":
        return "merit"
    said = [point.polarity, _WEIGHTS[point.severity]]
    if point.check is None or point.check.verdict == "unchecked":
        said.append("unchecked")
    if point.check is not None and point.check.conceded:
        said.append("conceded by the authors")
    return ", ".join(said)


def _lines(point: ReviewPoint, *, argued: bool) -> Iterator[str]:
    if point.argument and point.severity in _GRAVE:
        why = " ".join(point.argument.split())
        yield f"why: {why if argued else shortened(why, _REASON_CHARS)}"
    places = dict.fromkeys(e.section for e in point.evidence if e.status != "not_found" and e.section)
    if places and not _NAMES_A_PLACE.search(point.statement):
        yield f"where: {'; '.join(places)}"
    if point.fix.what and point.correction is None:
        yield f"settled by: {' '.join(point.fix.what.split())}"


def _before_points(items: Sequence[Mapping[str, Any]]) -> str:
    """The paragraphs that carry no point: summaries and openings."""
    return "\n\n".join(item["text"].strip() for item in items if not item["points"])


def _own_ids(scores: Mapping[str, StatedScore], names: Mapping[str, ReviewPoint]) -> dict[str, StatedScore]:
    """Scores whose ids are those of the points, not those of this call."""

    def own(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names[key].id for key in keys if key in names)

    return {
        name: said.model_copy(update={"supports": own(said.supports), "opposes": own(said.opposes)})
        for name, said in scores.items()
    }
