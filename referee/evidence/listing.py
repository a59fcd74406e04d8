"""The one list of a review's points: their order, their numbers and their words, the same in every output.

Main reasons come first, then weaknesses, corrections, merits and questions; under each heading what weighs most comes
first, else the order of whoever raised them. The text boxes of the form are made of the list, each point in one box.

Reviews of strategies that write the form itself, and reviews of older runs, become such a list here as well, and
nowhere else; ``form_texts`` makes points of their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from referee.evidence.computed import COMPUTED, RAN, computation_line, uncovered_numbers
from referee.evidence.form_texts import lead, points_of_texts
from referee.evidence.point_fields import field_roles, placed_point
from referee.evidence.points import is_live
from referee.evidence.sentences import split_sentences
from referee.schemas.point import HEADINGS, Heading, Quotation, ReviewPoint, Weight
from referee.schemas.review import Forced, Review, ScoreRecord
from referee.schemas.venue import FormField, VenueForm

TITLES: dict[Heading, str] = {
    "main reason": "Main reasons",
    "weakness": "Weaknesses",
    "correction": "Corrections",
    "merit": "Merits",
    "question": "Questions",
}
BY_RULES = "Found by rules, without a model"
SHOULD_READ = "It should read: "
"""How the fix of a point begins that a change of the text mends."""
MOST_MAIN = 5
CLAIM_CHARS = 600
"""From a longer claim the sentences after the first go to the argument."""

WEIGHTS: dict[str, Weight] = {"fatal": "decides", "major": "material", "minor": "small", "note": "small"}
_ORDER = ("decides", "material", None, "small")
_TESTS = {
    "weakened": "narrowed by the check",
    "undecidable": "the check could not decide it",
    "refuted": "the check refuted it",
    "unchecked": "not checked",
}
# Sources whose points stand beside a text that the form holds already.
_BESIDE = frozenset({"rule", "figure", "literature"})
_NO_POINT = "no point belongs here"


def listed(review: Review, form: VenueForm | None, *, stored: bool = False) -> Review:
    """The review with its points numbered in one order, and its text boxes made of them.

    Args:
        review: As a strategy hands it over, or as an older run holds it; one whose points have numbers is returned as
            it is.
        form: The form it is on; null where it is not known any more, then texts stay as they are.
        stored: Whether it is read from a run: then its boxes repeat its points, and only what stands before them is
            kept.

    Returns:
        Version 2 of the review. Points that do not stand follow the list, with the number 0 and their reasons.
    """
    if review.schema_version == 2:
        return review
    carried = any(is_live(p) and p.source not in _BESIDE and p.correction is None for p in review.points)
    fillable = form.reviewer_fields if form is not None else ()
    boxes = {field.name: field for field in fillable if field.kind == "text" and field.name in review.fields}
    texts = {name: str(review.fields[name] or "") for name in boxes}
    raised = list(review.points)
    if carried:
        texts = {name: lead(text) if stored and field_roles(boxes[name]) else text for name, text in texts.items()}
        taken: dict[str, str] = {}
    else:
        texts, own, taken = points_of_texts(review, boxes, texts)
        raised = [*own, *raised]
    points = _numbered([_placed(point, form) for point in raised], review, form)
    names = {point.id: point.number for point in points} | {key: _number(points, id) for key, id in taken.items()}
    told = [_with_numbers(point, names) for point in points]
    fields, nulls = dict(review.fields), dict(review.nulls)
    for name in boxes:
        fields[name] = "\n\n".join(filter(None, (_replaced(texts[name], names), _points_text(told, name)))) or None
        if fields[name]:
            nulls.pop(name, None)
        else:
            nulls.setdefault(name, _NO_POINT)
    scores = tuple(_score(record, told, taken, names, form) for record in review.scores)
    kept: dict[str, object] = {"schema_version": 2, "points": tuple(told), "evidence": (), "scores": scores}
    kept["uncovered_numbers"] = uncovered_numbers(point for point in told if point.number)
    return review.model_copy(update={**kept, "fields": fields, "nulls": nulls, "forced": _forced(review, form, fields)})


def in_list(review: Review) -> list[ReviewPoint]:
    """The points of the list, in their order."""
    return [point for point in review.points if point.number]


def grouped(review: Review) -> list[tuple[str, list[ReviewPoint]]]:
    """The list under its headings, in its order; what rules found has one of its own in a trial."""
    groups: dict[str, list[ReviewPoint]] = {}
    for point in in_list(review):
        rule = review.trial is not None and point.source == "rule"
        groups.setdefault(BY_RULES if rule else TITLES[_heading(point)], []).append(point)
    return list(groups.items())


def tag(point: ReviewPoint) -> str:
    """What a point is, in words: its heading, its weight, and for criticism whether anybody tested it."""
    heading = _heading(point)
    said = [heading.capitalize()]
    if heading in ("main reason", "weakness") and point.weight is not None:
        said.append(point.weight)
    if heading not in ("merit", "question") and (tested := _tested(point)):
        said.append(tested)
    if point.check is not None and point.check.conceded:
        said.append("the authors concede it")
    return ", ".join(said)


def how_tested(review: Review) -> str:
    """What a check of the points was, and which points of criticism nobody tested; empty where there are none.

    A trial of the embedded model says what it is worth anyway.
    """
    if review.trial is not None:
        return ""
    criticism = [p for p in in_list(review) if p.polarity == "weakness" and p.source != "rule"]
    left = [p.number for p in criticism if p.check is None]
    told = []
    tests = [point.check for point in criticism if point.check is not None and point.check.by != COMPUTED]
    if any(check.verdict in ("stands", "weakened") for check in tests):
        told.append(
            "Another reading tried to refute the weaknesses and corrections from the paper; those without a remark "
            "stood. Narrowed by the check: the claim is what that reading left of it."
        )
    if left:
        told.append(
            f"Not checked: {_points(numbers(left))}. Nobody tested them but who raised them; a quotation that was "
            "found shows no more than that the paper says so."
        )
    return " ".join(told)


def opening(point: ReviewPoint) -> str:
    """Number, kind and statement: the words by which every output names the point."""
    return f"{point.number}. [{tag(point)}] {' '.join(point.statement.split())}"


def details(point: ReviewPoint) -> Iterator[str]:
    """What stands behind the statement: the argument, the quotations with their places, what would settle it."""
    if point.argument:
        yield " ".join(point.argument.split())
    yield from (quoted(one, point.statement) for one in found(point))
    if point.unverified:
        yield "No quotation was found for this."
    if point.absence is not None and point.absence.terms and not point.absence.hits:
        yield searched(point)
    yield from (computation_line(one) for one in point.computations if one.outcome.status in RAN)
    if point.fix.what and point.fix.kind != "none" and point.correction is None:
        what = " ".join(point.fix.what.split())
        yield what if what.startswith(SHOULD_READ) else f"Would settle it: {what}"


def paragraph(point: ReviewPoint) -> str:
    """The whole point on one line, as a box of the form holds it."""
    return " ".join([opening(point), *details(point)])


def found(point: ReviewPoint) -> list[Quotation]:
    """The quotations of a point that are in the paper, each once."""
    places = {(e.section_id, e.page, e.quote): e for e in point.evidence if e.status != "not_found"}
    return list(places.values())


def quoted(quotation: Quotation, statement: str = "") -> str:
    """A quotation with its place; the place alone where the statement quotes the words already."""
    words = " ".join(quotation.quote.split())
    return f"({place(quotation)})" if f"“{words}”" in statement else f"“{words}” ({place(quotation)})"


def place(quotation: Quotation) -> str:
    """Table or figure, else the section, and the page of a quotation."""
    page = f", p. {quotation.page}" if quotation.page is not None else ""
    similar = ", in similar words" if quotation.status == "fuzzy" else ""
    return f"{' '.join((quotation.label or quotation.section).split()) or quotation.section_id}{page}{similar}"


def searched(point: ReviewPoint) -> str:
    """What was looked for and whether it was found; only for a point that says something is absent."""
    assert point.absence is not None
    terms = ", ".join(f"“{term}”" for term in point.absence.terms)
    hits = point.absence.hits
    if hits is None:
        return f"The words {terms} were not searched for."
    found = "not in the paper" if not hits else "in 1 place" if hits == 1 else f"in {hits} places"
    return f"Searched for {terms}: {found}."


def numbers(values: Iterable[int]) -> str:
    """Numbers of points in words, runs as ``4 to 7``; empty for none."""
    runs: list[list[int]] = []
    for value in sorted(set(values)):
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    told = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(told)


def rests_on(record: ScoreRecord, review: Review) -> str:
    """The points that a score rests on and those against it, by number; empty where it names none."""
    known = {point.id: point.number for point in in_list(review)}
    supports = numbers(known[key] for key in record.supported_by if key in known)
    opposes = numbers(known[key] for key in record.opposed_by if key in known)
    told = [f"rests on {_points(supports)}" if supports else "", f"against it: {_points(opposes)}" if opposes else ""]
    return "; ".join(filter(None, told))


def box_line(name: str, review: Review) -> str:
    """Which points of the list stand in a box of the form, corrections apart; empty for none."""
    held = [point for point in in_list(review) if point.field == name]
    slips = numbers(point.number for point in held if point.heading == "correction")
    told = _points(numbers(point.number for point in held if point.heading != "correction"))
    line = "; ".join(filter(None, [told, _points(slips, "correction")]))
    return line[:1].upper() + line[1:]


def lead_of(name: str, review: Review) -> str:
    """What a text box says before its points."""
    return str(review.fields.get(name) or "").removesuffix(_points_text(review.points, name)).strip()


def _points_text(points: Iterable[ReviewPoint], box: str) -> str:
    """The points of a box in their order, under headings where they are of several kinds."""
    own = [point for point in points if point.number and point.field == box]
    parts: list[str] = []
    for before, point in zip([None, *own], own, strict=False):
        if len({one.heading for one in own}) > 1 and (before is None or before.heading != point.heading):
            parts.append(f"{TITLES[_heading(point)]}:")
        parts.append(paragraph(point))
    return "\n\n".join(parts)


def _points(told: str, name: str = "point") -> str:
    return f"{name}{'s' if ',' in told or 'to' in told else ''} {told}" if told else ""


def _heading(point: ReviewPoint) -> Heading:
    assert point.heading is not None, f"point {point.id!r} is not in the list"
    return point.heading


def _tested(point: ReviewPoint) -> str:
    if point.source == "rule":
        return "found by a rule"
    if point.check is not None and point.check.by == COMPUTED:
        return "computed" if point.check.verdict == "stands" else "narrowed by a computation"
    return _TESTS.get(point.check.verdict, "") if point.check is not None else ""


def _placed(point: ReviewPoint, form: VenueForm | None) -> ReviewPoint:
    """The point in its one box, with a claim that is no longer than a claim is."""
    if not is_live(point):
        return point
    if form is not None and not (point.source == "form" and point.field):
        point = placed_point(point, form)
    if len(point.claim) <= CLAIM_CHARS or (point.check and point.check.narrowed):
        return point
    first, *rest = split_sentences(point.claim)
    argument = " ".join(filter(None, (*rest, point.argument)))
    return point.model_copy(update={"claim": first, "argument": argument})


def _numbered(points: Sequence[ReviewPoint], review: Review, form: VenueForm | None) -> list[ReviewPoint]:
    """The list with its headings, weights and numbers, then what does not stand."""
    live = [point for point in points if is_live(point)]
    follows = _rejects(review, form)
    main = _main_reasons(live, follows, trial=review.trial is not None)
    headed = [
        point.model_copy(
            update={
                "heading": "main reason" if point.id in main else _kind(point),
                "weight": _weight(point, follows is True),
            }
        )
        for point in live
    ]
    trial = review.trial is not None
    headed.sort(
        key=lambda p: (trial and p.source != "rule", HEADINGS.index(_heading(p)), _ORDER.index(p.weight)),
    )
    numbered = [point.model_copy(update={"number": number}) for number, point in enumerate(headed, start=1)]
    return [*numbered, *(point for point in points if not is_live(point))]


def _main_reasons(points: Sequence[ReviewPoint], rejects: bool | None, *, trial: bool) -> set[str]:
    """Ids of the weaknesses that decide; where none does and the rating is no acceptance, of the material ones."""
    weak = [point for point in points if point.polarity == "weakness"]
    decides = [point.id for point in weak if point.severity == "fatal"]
    if not decides and rejects is not False and not trial:
        decides = [point.id for point in weak if point.severity == "major"]
    return set(decides[:MOST_MAIN])


def _rejects(review: Review, form: VenueForm | None) -> bool | None:
    """Whether the rating is one under which a paper is not accepted; None where there is no rating or no such line."""
    if review.rating is None or form is None or form.overall is None:
        return None
    options = sorted(float(o.value) for o in form.field(form.overall).options if not isinstance(o.value, str))
    line = form.accept_at if form.accept_at is not None else sum(options) / len(options) if options else None
    return None if line is None else review.rating < line


def _kind(point: ReviewPoint) -> Heading:
    if point.polarity == "strength":
        return "merit"
    if point.polarity == "question":
        return "question"
    return "correction" if point.correction is not None and point.severity in ("minor", "note") else "weakness"


def _weight(point: ReviewPoint, rejects: bool) -> Weight | None:
    """How much a criticism weighs; that it decides is said only where the rating follows."""
    if point.polarity == "strength" or point.source == "form":
        return None
    weight = WEIGHTS[point.severity]
    return "material" if weight == "decides" and not rejects else weight


def _number(points: Iterable[ReviewPoint], id: str) -> int:
    return next((point.number for point in points if point.id == id), 0)


_ID = re.compile(r"\[?\b[A-Za-z]\w*(?:-[A-Za-z0-9]+)+\b\]?|\bE\d+\b")


def _replaced(text: str, names: Mapping[str, int]) -> str:
    """The text with a number wherever it names a point by an id that no reader sees."""

    def number(match: re.Match[str]) -> str:
        given = match.group().strip("[]")
        return f"point {names[given]}" if names.get(given) else match.group()

    return _ID.sub(number, text)


def _with_numbers(point: ReviewPoint, names: Mapping[str, int]) -> ReviewPoint:
    changed = {
        name: _replaced(text, {key: n for key, n in names.items() if "-" in key})
        for name, text in (("claim", point.claim), ("argument", point.argument))
    }
    return point.model_copy(update=changed)


def _score(
    record: ScoreRecord,
    points: Sequence[ReviewPoint],
    taken: Mapping[str, str],
    names: Mapping[str, int],
    form: VenueForm | None,
) -> ScoreRecord:
    """The record with points for evidence: a low score rests on no merit, and the rating on all that decides."""
    merits = {point.id for point in points if point.heading == "merit"}
    supports = tuple(dict.fromkeys(taken.get(key, key) for key in record.supported_by))
    opposes = tuple(dict.fromkeys(taken.get(key, key) for key in record.opposed_by))
    if _is_low(record, form):
        opposes = (*opposes, *(key for key in supports if key in merits and key not in opposes))
        supports = tuple(key for key in supports if key not in merits)
    if form is not None and record.field == form.overall and record.value is not None:
        named = {*supports, *opposes}
        supports = (*supports, *(point.id for point in points if point.weight == "decides" and point.id not in named))
    return record.model_copy(
        update={"supported_by": supports, "opposed_by": opposes, "reason": _replaced(record.reason, names)}
    )


def _is_low(record: ScoreRecord, form: VenueForm | None) -> bool:
    """Whether a score lies under the middle of its scale, or an overall rating under the line of acceptance."""
    field = next((f for f in form.fields if f.name == record.field), None) if form is not None else None
    if record.stated is None or form is None or field is None:
        return False
    options = [float(option.value) for option in field.options if not isinstance(option.value, str)]
    middle = (min(options) + max(options)) / 2 if options else record.stated
    return record.stated < (form.accept_at if field.name == form.overall and form.accept_at is not None else middle)


def _forced(review: Review, form: VenueForm | None, fields: Mapping[str, object]) -> tuple[Forced, ...]:
    """What only the form demands, with a sentence for each demanded text box that is empty now."""
    if form is None:
        return review.forced
    texts = {field.name for field in form.reviewer_fields if field.kind == "text"}
    kept = tuple(one for one in review.forced if one.field not in texts)
    return kept if review.trial is not None else (*kept, *forced_texts(form, fields, review.nulls))


def forced_texts(form: VenueForm, fields: Mapping[str, object], nulls: Mapping[str, str]) -> Iterator[Forced]:
    """One sentence for each demanded text box without a text: that nothing was found, and what was looked for.

    The platform refuses a form with such a box empty. A box whose rule is unknown counts as optional; attestations and
    boxes of the discussion are left to people.

    Args:
        form: The venue's form.
        fields: The review's values.
        nulls: Why a value is null; the reason that goes on the record.
    """
    for field in form.reviewer_fields:
        if field.kind == "text" and field.required and not str(fields.get(field.name) or "").strip():
            reason = nulls.get(field.name, "the review gives none")
            yield Forced(field=field.name, value=_sentence(field), reason=reason)


def _sentence(field: FormField) -> str:
    title = " ".join(field.title.split()) or field.name.replace("_", " ").strip()
    asks = next(iter(split_sentences(field.asks)), "").rstrip(".")
    end = "" if asks.endswith(("?", "!")) else "."
    if not field_roles(field):
        return f"Nothing that was found could be written under “{title}”; the box asks: {asks}{end}"
    return f"No point about {title.lower()} was found; the paper was read for what this box asks: {asks}{end}"
