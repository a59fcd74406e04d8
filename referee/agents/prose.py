"""The review as prose on the venue's form, from the points that stand: each id once, verified by code.

What the model leaves out is added as a line; what it says twice is taken out once. Scores come from the points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.choices import list_of, one_of
from referee.agents.composer import ROLE, objections, score_model, stated_scores
from referee.agents.form_reply import FULL, chosen_options, offered, slugs_of
from referee.agents.paper_run import PaperRun
from referee.agents.scores import BY_RULE
from referee.agents.single_reviewer import WORDS
from referee.prompts import delimit
from referee.schemas.point import ReviewPoint
from referee.schemas.venue import VenueForm
from referee.venues import load_venue, render_form, render_guidelines

PROMPT = "review/write"
REPLY_TOKENS = 9_000
_MOST_PARAGRAPHS, _PARAGRAPH_CHARS = 40, 1_800
_WEIGHTS = {"fatal": "decides", "major": "bears on a claim", "minor": "a sentence or number", "note": "style"}
_ARGUED = ("fatal", "major")


Weight = Literal["opening", "decides", "other", "advice"]
HEADS: dict[str, str] = {
    "merits": "Strengths",
    "decides": "What decides",
    "other": "Further weaknesses",
    "advice": "For improvement only",
}


@dataclass(frozen=True)
class Paragraph:
    """One paragraph with the ids of the points it carries, none in a summary, and what it weighs."""

    text: str
    points: tuple[str, ...] = ()
    weight: Weight = "other"


@dataclass(frozen=True)
class Prose:
    """The text fields as paragraphs by field name, and the form's scores and choices in its own names.

    ``scores`` holds, per score field, ``value`` (null where left open), ``reason``, ``supports`` and ``opposes``.
    """

    paragraphs: dict[str, tuple[Paragraph, ...]]
    scores: dict[str, dict[str, Any]]
    choices: dict[str, str | list[str]]
    notes: tuple[str, ...] = ()


def prose_model(form: VenueForm, ids: tuple[str, ...]) -> type[BaseModel]:
    """Text fields in the form's order, then scores with the overall last, then checklists; points only by their ids."""
    slugs = slugs_of(form)
    paragraph = create_model(
        "Paragraph",
        __config__=ConfigDict(extra="ignore"),
        text=(str, Field(min_length=1, max_length=_PARAGRAPH_CHARS)),
        points=(list_of(one_of(ids)), Field(max_length=max(1, len(ids)))),
        weight=(Weight, Field(default="other")),
    )
    shape: dict[str, Any] = {}
    for field in (f for f in form.reviewer_fields if f.kind == "text"):
        about = f"{field.asks} At most {field.max_chars} characters." if field.max_chars else field.asks
        shape[slugs[field.name]] = (list_of(paragraph), Field(max_length=_MOST_PARAGRAPHS, description=about))
    for field in sorted(form.reviewer_fields, key=lambda f: f.aspect == "overall"):
        if field.kind == "score" and field.aspect not in BY_RULE:
            shape[slugs[field.name]] = (score_model(field, ids, FULL), Field(description=field.asks))
    for field in form.reviewer_fields:
        if field.kind == "choice":
            shape[slugs[field.name]] = (one_of(tuple(offered(field))), Field(description=field.asks))
        elif field.kind == "flag":
            options = list_of(one_of(tuple(offered(field))))
            shape[slugs[field.name]] = (options, Field(max_length=len(field.options)))
    return create_model("WrittenReview", __config__=ConfigDict(extra="ignore"), **shape)


def sample_reply_model() -> type[BaseModel]:
    """The reply model of one form, by which the prompt's header is checked."""
    return prose_model(load_venue("neurips-2025"), ("b1",))


async def write_prose(run: PaperRun, points: Sequence[ReviewPoint]) -> Prose:
    """Write the review in one call.

    Args:
        run: The paper under review.
        points: What the text fields are to carry, the gravest first; corrections that are listed apart are not among
            them.

    Returns:
        Paragraphs, scores and choices with the points' own ids. A score that the points contradict is open.

    Raises:
        ModelError: The model did not answer validly.
    """
    form, names = run.form, {f"b{number}": point for number, point in enumerate(points, start=1)}
    shown = "\n\n".join(_shown(name, point) for name, point in names.items()) or "(no point stands)"
    task = run.task(
        PROMPT,
        venue_name=form.name,
        guidelines=render_guidelines(form),
        form=render_form(form),
        points=delimit("points", shown),
        words=f"{WORDS:,}",
    )
    answer = await run.ask(task, prose_model(form, tuple(names)), role=ROLE, tokens=REPLY_TOKENS)
    scores = _own_ids(stated_scores(form, answer.value), names)
    notes = list(answer.notes)
    for name, objection in objections(form, scores, points).items():
        scores[name] |= {"value": None, "reason": objection}
        notes.append(f"the score of {name} was left open: {objection}")
    data, slugs = answer.value.model_dump(), slugs_of(form)
    return Prose(
        paragraphs={f.name: _paragraphs(data[slugs[f.name]], names) for f in form.reviewer_fields if f.kind == "text"},
        scores=scores,
        choices={
            f.name: chosen_options(f, data[slugs[f.name]]) for f in form.reviewer_fields if f.kind in ("choice", "flag")
        },
        notes=tuple(notes),
    )


def each_once(paragraphs: Mapping[str, Sequence[Paragraph]]) -> tuple[dict[str, tuple[Paragraph, ...]], list[str]]:
    """Paragraphs of which none carries a point that an earlier one carries, and notes of what was taken out.

    A paragraph all of whose points were said before goes; one that carries others too stays with those.
    """
    said: set[str] = set()
    kept: dict[str, tuple[Paragraph, ...]] = {}
    notes: list[str] = []
    for name, given in paragraphs.items():
        own: list[Paragraph] = []
        for paragraph in given:
            fresh = tuple(key for key in dict.fromkeys(paragraph.points) if key not in said)
            if paragraph.points and not fresh:
                notes.append(f"a paragraph of {name} said again what was said before and was left out")
                continue
            said |= set(fresh)
            own.append(replace(paragraph, points=fresh))
        kept[name] = tuple(own)
    return kept, notes


def field_prose(paragraphs: Sequence[Paragraph], points: Mapping[str, ReviewPoint]) -> str:
    """A field's text: what carries no point first, merits as bullets, the rest numbered in the order of its weight.

    Heads stand where a field carries merits beside criticism, or criticism of several weights.
    """
    groups: dict[str, list[Paragraph]] = {"": [], **{name: [] for name in HEADS}}
    for paragraph in paragraphs:
        groups[_group(paragraph, points)].append(paragraph)
    blocks = [paragraph.text for paragraph in groups.pop("")]
    held = [name for name, own in groups.items() if own]
    number = 0
    for name in held:
        lines = [f"{HEADS[name]}:"] if len(held) > 1 else []
        for paragraph in groups[name]:
            number += name != "merits"
            lines.append(f"- {paragraph.text}" if name == "merits" else f"{number}. {paragraph.text}")
        blocks.append("\n\n".join(lines) if name != "merits" else "\n".join(lines))
    return "\n\n".join(blocks)


def _group(paragraph: Paragraph, points: Mapping[str, ReviewPoint]) -> str:
    """Where a paragraph stands in its field: before all others, among the merits, or by its weight."""
    carried = [points[key].polarity for key in paragraph.points if key in points]
    if not carried:
        return ""
    if set(carried) == {"strength"}:
        return "merits"
    return "other" if paragraph.weight == "opening" else paragraph.weight


def _shown(name: str, point: ReviewPoint) -> str:
    """A point for the composer: what it says, why, where, and what would settle it."""
    return "\n  ".join([f"[{name}] {_head(point)}: {' '.join(point.statement.split())}", *_lines(point)])


def _head(point: ReviewPoint) -> str:
    if point.polarity == "strength":
        return "merit"
    said = [point.polarity, _WEIGHTS[point.severity]]
    if point.check is None or point.check.verdict == "unchecked":
        said.append("unchecked")
    if point.check is not None and point.check.conceded:
        said.append("conceded by the authors")
    return ", ".join(said)


def _lines(point: ReviewPoint) -> Iterator[str]:
    if point.argument and point.severity in _ARGUED:
        yield f"why: {' '.join(point.argument.split())}"
    places = dict.fromkeys(e.section for e in point.evidence if e.status != "not_found" and e.section)
    if places:
        yield f"where: {'; '.join(places)}"
    if point.fix.what and point.correction is None:
        yield f"settled by: {' '.join(point.fix.what.split())}"


def _paragraphs(items: Sequence[Mapping[str, Any]], names: Mapping[str, ReviewPoint]) -> tuple[Paragraph, ...]:
    made = (
        Paragraph(
            item["text"].strip(), tuple(names[name].id for name in item["points"] if name in names), item["weight"]
        )
        for item in items
    )
    return tuple(paragraph for paragraph in made if paragraph.text)


def _own_ids(scores: dict[str, dict[str, Any]], names: Mapping[str, ReviewPoint]) -> dict[str, dict[str, Any]]:
    """Scores whose ids are those of the points, not those of this call."""
    return {
        field: said | {side: [names[key].id for key in said[side] if key in names] for side in ("supports", "opposes")}
        for field, said in scores.items()
    }
