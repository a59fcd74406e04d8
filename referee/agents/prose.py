"""The review as prose on the venue's form, from the points that stand, by their ids; scores come from the points.

Nothing is said twice, and what the recommendation does not rest on stands apart, behind everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.agents.composer import ROLE, left_open, objections, score_model
from referee.agents.figure_reader import shown_figures
from referee.agents.focus import shortened
from referee.agents.form_reply import FULL, Choice, StatedScore, offered, slugs_of, stated_scores, ticked_choices
from referee.agents.literature_points import works_text
from referee.agents.paper_reader import BY_EYE
from referee.agents.paper_text import PaperRun
from referee.agents.point_texts import correction_head
from referee.agents.scores import BY_RULE
from referee.agents.single_reviewer import WORDS
from referee.evidence.point_fields import corrections_field, field_roles
from referee.prompts import delimit
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature
from referee.schemas.point import ReviewPoint
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

PROMPT = "review/write"
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
HEADS: dict[str, str] = {
    "merits": "Strengths",
    "decides": "What decides",
    "other": "Further weaknesses",
    "advice": "For improvement only",
}


@dataclass(frozen=True)
class Paragraph:
    """One paragraph with the ids of the points it carries, none in a summary, what it weighs and what it is about."""

    text: str
    points: tuple[str, ...] = ()
    weight: Weight = "other"
    head: str = ""


@dataclass(frozen=True)
class Prose:
    """The text fields as paragraphs by field name, and the form's scores and choices in its own names.

    ``repeats`` are sentences that the writer itself calls a repetition.
    """

    paragraphs: Mapping[str, tuple[Paragraph, ...]] = default(default_factory=dict)
    scores: Mapping[str, StatedScore] = default(default_factory=dict)
    choices: Mapping[str, Choice] = default(default_factory=dict)
    notes: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()


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
        Paragraphs, scores and choices with the points' own ids. A score that the points contradict is open.

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
    by_eye = frozenset(point.id for point in points if point.source == "figure" or BY_EYE in point.claim)
    return Prose(
        paragraphs={
            f.name: _paragraphs(data[slugs[f.name]], names, by_eye) for f in form.reviewer_fields if f.kind == "text"
        },
        scores=scores,
        choices=ticked_choices(form, data),
        notes=tuple(notes),
        repeats=tuple(data["said_twice"]),
    )


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
            lines.append(f"- {paragraph.text}" if name == "merits" else f"{number}. {headed(paragraph)}")
        blocks.append("\n\n".join(lines) if name != "merits" else "\n".join(lines))
    return "\n\n".join(blocks)


def headed(paragraph: Paragraph) -> str:
    """A paragraph's text behind its head, where it has one."""
    return f"**{paragraph.head.rstrip('.')}.** {paragraph.text}" if paragraph.head else paragraph.text


def _group(paragraph: Paragraph, points: Mapping[str, ReviewPoint]) -> str:
    """Where a paragraph stands in its field: before all others, among the merits, or by its weight."""
    carried = [points[key].polarity for key in paragraph.points if key in points]
    if not carried:
        return ""
    if set(carried) == {"strength"}:
        return "merits"
    return "other" if paragraph.weight == "opening" else paragraph.weight


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


def _paragraphs(
    items: Sequence[Mapping[str, Any]], names: Mapping[str, ReviewPoint], by_eye: frozenset[str]
) -> tuple[Paragraph, ...]:
    made = (
        Paragraph(
            item["text"].strip(),
            tuple(names[name].id for name in item["points"] if name in names),
            item["weight"],
            " ".join(item["head"].split()),
        )
        for item in items
    )
    return tuple(_marked(paragraph, by_eye) for paragraph in made if paragraph.text)


def _marked(paragraph: Paragraph, by_eye: frozenset[str]) -> Paragraph:
    """A paragraph that carries what was read off a figure says so, whether or not the writer did."""
    if by_eye.isdisjoint(paragraph.points) or "by eye" in paragraph.text.lower():
        return paragraph
    return replace(paragraph, text=f"{paragraph.text} (The figure was read by eye.)")


def _own_ids(scores: Mapping[str, StatedScore], names: Mapping[str, ReviewPoint]) -> dict[str, StatedScore]:
    """Scores whose ids are those of the points, not those of this call."""

    def own(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names[key].id for key in keys if key in names)

    return {
        name: said.model_copy(update={"supports": own(said.supports), "opposes": own(said.opposes)})
        for name, said in scores.items()
    }


ANNEX = "For the authors, beyond what the recommendation rests on:"
_CRITICISM = frozenset({"weaknesses", "both", "review", "other", "digest", "any"})
_LAST = ("remarks", "changes", "questions")
_LESSER = ("other", "advice")


def annex_field(form: VenueForm) -> str | None:
    """The text box for the annex and the corrections: for remarks, else for questions, else that of the weaknesses."""
    boxes = [(f.name, field_roles(f)) for f in form.reviewer_fields if f.kind == "text" and f.max_chars is None]
    found = (name for role in _LAST for name, roles in boxes if role in roles)
    return next(found, corrections_field(form))


def set_apart(
    paragraphs: Mapping[str, Sequence[Paragraph]], points: Mapping[str, ReviewPoint], form: VenueForm
) -> tuple[dict[str, tuple[Paragraph, ...]], tuple[Paragraph, ...]]:
    """The fields without the lesser criticism, and that criticism in its order, advice last.

    Nothing is set apart from a field in which nothing decides.
    """
    kept: dict[str, tuple[Paragraph, ...]] = {}
    annex: list[Paragraph] = []
    roles = {field.name: field_roles(field) for field in form.reviewer_fields}
    for name, given in paragraphs.items():
        decided = any(p.weight == "decides" for p in given) and not _CRITICISM.isdisjoint(roles[name])
        lesser = [p for p in given if decided and p.weight in _LESSER and _criticises(p, points)]
        annex += lesser
        kept[name] = tuple(p for p in given if p not in lesser)
    return kept, tuple(sorted(annex, key=lambda paragraph: _LESSER.index(paragraph.weight)))


def annex_text(annex: Sequence[Paragraph]) -> str:
    """The annex as a list; empty for none."""
    lines = [f"- {headed(paragraph)}" for paragraph in annex]
    return "\n".join([ANNEX, *lines]) if lines else ""


def _criticises(paragraph: Paragraph, points: Mapping[str, ReviewPoint]) -> bool:
    carried = [points[key].polarity for key in paragraph.points if key in points]
    return bool(carried) and set(carried) != {"strength"}


_LEAST_CHARS = 20


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


def without_repeats(
    paragraphs: Mapping[str, Sequence[Paragraph]], repeats: Iterable[str]
) -> tuple[dict[str, tuple[Paragraph, ...]], list[str]]:
    """Paragraphs without the sentences that the writer named, and notes of what was taken out.

    A sentence goes where it was said last, whole, and only from a paragraph that still says something without it: a
    point is never left without words.
    """
    kept = {name: list(given) for name, given in paragraphs.items()}
    notes: list[str] = []
    for sentence in repeats:
        words = sentence.split()
        if len(" ".join(words)) < _LEAST_CHARS:
            continue
        said = re.compile(r"\s+".join(map(re.escape, words)))
        places = [(n, i) for n, own in kept.items() for i, p in enumerate(own) if said.search(p.text)]
        for name, number in reversed(places):
            paragraph = kept[name][number]
            rest = re.sub(r" {2,}", " ", said.sub(" ", paragraph.text)).strip()
            if rest:
                kept[name][number] = replace(paragraph, text=rest)
                notes.append(f"a sentence of {name} that says again what is said elsewhere was left out: {sentence}")
                break
    return {name: tuple(own) for name, own in kept.items()}, notes
