"""``show``: from a field of a finished review to its points, from a point to its check, its prompt and its call, and
from a criterion of the venue to its readers and their points.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from referee.errors import DataError, RunError, VenueError
from referee.evidence.listing import box_line, grouped, how_tested, in_list, lead_of, listed, rests_on
from referee.nearest import did_you_mean
from referee.reports.criteria import HEADING, criteria_lines, reader_named
from referee.reports.plain import clean, excerpt, one_line, shortened
from referee.reports.point_lines import headline, point_lines
from referee.reports.put_aside import counted, put_aside, why
from referee.reports.usage_text import tokens_in
from referee.reports.values import empty_reason, is_empty, labelled
from referee.runs import Ledger
from referee.runs.folder import TRACE, read_record, require_run
from referee.runs.stored import unreadable
from referee.schemas.point import ReviewPoint
from referee.schemas.review import DroppedQuotation, Review
from referee.schemas.run import CallRecord, RunRecord
from referee.schemas.venue import FormField, VenueForm
from referee.venues import load_venue, venue_digest

REVIEW = "review.json"
_CHECK_PROMPTS = ("review/audit", "review/final", "review/check")
_EXCERPT_CHARS = 200
_COMMAND = "review"
# What runs of other commands hold, and where it is to be read.
_OF_OTHERS = {
    "eval": ("judgements of reviews", "Read {run}/summary.md; every judgement is in {run}/results.jsonl."),
    "venue compile": (
        "statements of a venue's guidelines",
        "Each statement and what became of it: {run}/guidelines.json; the venue: `referee venue show ID`.",
    ),
    "venue refine": (
        "a venue's refined steps for reviewers",
        "Read them with their history: `referee venue show ID --prompts --history`.",
    ),
}


@dataclass(frozen=True)
class Shown:
    """``lines`` are to be wrapped at their own indent; ``transcript`` is what a model was sent and said, as it was."""

    lines: tuple[str, ...]
    transcript: str = ""


def show(
    run: str | Path,
    *,
    point: str | None = None,
    criterion: str | None = None,
    dropped: bool = False,
    call: bool = False,
) -> Shown:
    """Explain a finished review, or one point of it, or what was read for one criterion.

    Args:
        run: The run folder.
        point: The number of a point, or its id; the whole review by default.
        criterion: The id of a criterion of the venue.
        dropped: Also the points that were merged, struck or dropped, and quotations not found, with the reasons.
        call: With a point: also the messages and the reply of the call that raised it.

    Raises:
        RunError: The folder holds no run or one of another command, or its review is not finished or damaged.
        DataError: The review has no such point or criterion; the hint holds the nearest ids.
    """
    folder = Path(run)
    review = _read(folder)
    form = _form(review)
    review = listed(review, form, stored=True)
    calls = Ledger(folder / TRACE).records
    if criterion is not None:
        return Shown(tuple(map(clean, _criterion(review, criterion, calls, folder))))
    if point is None:
        return Shown(tuple(map(clean, _overview(review, form, calls, dropped=dropped))))
    lines, raised_by = _one(review, point, calls, folder)
    return Shown(tuple(map(clean, lines)), _transcript(raised_by) if call else "")


def _read(folder: Path) -> Review:
    require_run(folder, "Name the folder that `referee review` wrote (its last line says which).")
    record = read_record(folder)
    if record.command != _COMMAND:
        raise _no_review(folder, record)
    if not (folder / REVIEW).is_file():
        cause = f": {record.error}" if record.error else ""
        raise RunError(
            f"run {str(folder)!r} has no finished review, it is {record.status}{cause}",
            hint=f"Continue it: the command it was started with, and --resume {folder}",
            ids={"run": os.fspath(folder)},
        )
    try:
        return Review.model_validate_json((folder / REVIEW).read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        again = f"Write it again, without new calls: the command it was started with, and --resume {folder}"
        raise unreadable(folder / REVIEW, error, again) from error


def _no_review(folder: Path, record: RunRecord) -> RunError:
    """What is said of a run of another command, finished or not: nothing here speaks of a review that it would lack."""
    holds, where = _OF_OTHERS.get(record.command, ("no review", "Read the files in {run}."))
    ended = record.status == "finished"
    cause = f", {record.status}{': ' + record.error if record.error else ''}" if not ended else ""
    resume = f"Continue it: the command it was started with, and --resume {folder}"
    return RunError(
        f"run {str(folder)!r} is one of `referee {record.command}`{cause}: it holds {holds}, and only reviews can be "
        "shown.",
        hint=where.format(run=folder) if ended else resume,
        ids={} if ended else {"run": os.fspath(folder)},
    )


def _form(review: Review) -> VenueForm | None:
    """The form with its labels, where it is still the one that the review was written on."""
    try:
        form = load_venue(review.venue)
    except VenueError:
        return None
    same = review.provenance is not None and review.provenance.venue_digest == venue_digest(form)
    return form if same else None


def _overview(review: Review, form: VenueForm | None, calls: Sequence[CallRecord], *, dropped: bool) -> Iterator[str]:
    yield f"{one_line(review.venue)}: {one_line(review.paper_title) or 'untitled paper'} ({one_line(review.source)})"
    for title, points in grouped(review):
        yield from ("", f"{title}:", *(f"  {line}" for point in points for line in headline(point)))
    if text := how_tested(review):
        yield from ("", text)
    asked = {field.name: field for field in form.fields} if form else {}
    for name in review.fields:
        yield ""
        yield from _field(name, asked.get(name), review)
    if dropped:
        yield from dropped_lines(review)
    elif told := counted(review):
        yield from ("", told.partition(" `")[0] + " --dropped names each with its reason.")
    if review.criteria:
        yield from ("", f"{HEADING} (--criterion ID shows one):")
        yield from (f"  {line}" for line in criteria_lines(review))
    yield ""
    yield from _calls(calls)


def _field(name: str, field: FormField | None, review: Review) -> Iterator[str]:
    """The value, why it is what it is, and the numbers of the points that stand in the field."""
    value = review.fields[name]
    if is_empty(value):
        given = "only a person can declare this" if field and field.attestation else ""
        reason = given or (empty_reason(field, review) if field else one_line(review.nulls.get(name, "")))
        yield f"{name}: not given: {reason or 'no reason recorded'}"
    elif isinstance(value, str) and (field is None or field.kind == "text"):
        told = (excerpt(lead_of(name, review), _EXCERPT_CHARS), box_line(name, review))
        yield f"{name}: {' '.join(filter(None, told))}"
    else:
        yield f"{name}: {labelled(field, value) if field else one_line(str(value))}"
    record = next((record for record in review.scores if record.field == name), None)
    if record is None:
        return
    if record.stated is not None and record.stated != record.value:
        yield f"  the model chose {record.stated:g}"
    if record.reason.strip():
        yield f"  because: {one_line(record.reason)}"
    if told_by := rests_on(record, review):
        yield f"  {told_by}"


def dropped_lines(review: Review) -> Iterator[str]:
    """Points that do not stand and quotations that were not found, each with its reason."""
    for title, points in put_aside(review):
        yield from ("", f"{title}:")
        for point in points:
            yield f"  {point.id} {one_line(point.statement)}"
            yield f"    why: {why(point, review)}"
    lost = [(d.id, d.quote, d.reason) for d in review.dropped]
    lost += [
        (f"point {p.number}", e.quote, p.reason) for p in in_list(review) for e in p.evidence if e.status == "not_found"
    ]
    if lost:
        yield from ("", "Quotations that were not found:")
        yield from (f"  {name} “{one_line(quote)}”: {one_line(reason)}" for name, quote, reason in lost)


def _calls(calls: Sequence[CallRecord]) -> Iterator[str]:
    yield f"Calls ({len(calls)}, in {TRACE}):"
    for record in calls:
        trouble = f", {record.status}: {shortened(record.error, _EXCERPT_CHARS)}" if record.status == "failed" else ""
        yield f"  {_call(record)}{trouble}"


def _call(record: CallRecord) -> str:
    usage = record.usage
    repaired = f", repair round {record.repair_round}" if record.repair_round else ""
    reused = f", reply from the {record.origin}" if record.origin != "provider" else ""
    return one_line(
        f"{record.call_id} {record.role}: {record.prompt}, {record.model}, {tokens_in(usage)}, "
        f"{usage.output_tokens:,} out, {record.seconds:.1f} s{repaired}{reused}"
    )


def _one(review: Review, wanted: str, calls: Sequence[CallRecord], folder: Path) -> tuple[list[str], CallRecord | None]:
    found = {p.id: p for p in review.points} | {d.id: d for d in review.dropped}
    item = found.get(wanted) or next((p for p in in_list(review) if str(p.number) == wanted), None)
    if item is None:
        offer = did_you_mean(wanted, found, most=3, cutoff=0.3)
        raise DataError(
            f"the review in {str(folder)!r} has no point {wanted!r}.",
            hint=f"{offer}`referee show {folder}` lists its {len(in_list(review))} points; --dropped adds the rest.",
            ids={"point": wanted},
        )
    if isinstance(item, ReviewPoint):
        raised_by = next((c for c in calls if c.call_id == item.call_id and item.prompt in ("", c.prompt_digest)), None)
        if item.source == "form":
            raised_by = next((c for c in reversed(calls) if c.reply is not None), None)
        return [*point_lines(item), *_raising(item, raised_by), *_checking(item, calls)], raised_by
    raised_by = next((c for c in reversed(calls) if c.reply is not None), None)
    return [*_quotation(item), *_origin(raised_by)], raised_by


def _criterion(review: Review, wanted: str, calls: Sequence[CallRecord], folder: Path) -> Iterator[str]:
    """The criterion, each reader with its call and the points of that call, then other points that name it."""
    record = next((record for record in review.criteria if record.id == wanted), None)
    if record is None:
        known = [one.id for one in review.criteria]
        offer = f"{did_you_mean(wanted, known, most=3, cutoff=0.3)}It has: {', '.join(known)}."
        raise DataError(
            f"the review in {str(folder)!r} has no record of a criterion {wanted!r}.",
            hint=offer if known else "It records none: its venue has no criteria, or an older version wrote it.",
            ids={"criterion": wanted},
        )
    yield f"{record.id}: {one_line(record.text)}"
    if not record.readers:
        yield f"Given to no reader: {one_line(record.note)}"
    by_call = {call.call_id: call for call in calls}
    for reader in record.readers:
        yield ""
        call = f", call {_call(by_call[reader.call_id])}" if reader.call_id in by_call else ""
        yield f"Given to {reader_named(reader)}{call}"
        own = [point for point in review.points if point.call_id == reader.call_id]
        for point in sorted(own, key=lambda point: wanted not in point.criterion):
            yield from (f"  {line}" for line in headline(point, f"{_answering(point, wanted)}: "))
        if not own:
            yield "  no point of this call is on the record"
    read_in = {reader.call_id for reader in record.readers}
    if others := [p for p in review.points if wanted in p.criterion and p.call_id not in read_in]:
        yield from ("", "Other points that name it:", *(f"  {line}" for point in others for line in headline(point)))


def _answering(point: ReviewPoint, wanted: str) -> str:
    if wanted in point.criterion:
        return "names it"
    return f"names {', '.join(map(one_line, point.criterion))}" if point.criterion else "names no criterion"


def _raising(point: ReviewPoint, record: CallRecord | None) -> Iterator[str]:
    if point.source == "rule":
        yield f"Raised by code, no call: rule {one_line(point.prompt)}"
    elif record is None:
        yield f"Raised by call {point.call_id}, model {one_line(point.model)}; {TRACE} no longer holds it"
        yield f"  digest of the prompt: {one_line(point.prompt)}"
    else:
        yield from _origin(record)


def _origin(record: CallRecord | None) -> Iterator[str]:
    if record is not None:
        yield f"Raised by call {_call(record)}"
        yield f"  digest of the prompt: {record.prompt_digest}"


def _checking(point: ReviewPoint, calls: Sequence[CallRecord]) -> Iterator[str]:
    """The calls in which a checker was shown the point, as it was raised or as a check left it."""
    if point.check is None:
        return
    wordings = {text for claim in (point.claim, point.statement) for text in (claim, " ".join(claim.split()))}
    for record in calls:
        shown = any(wording in text for wording in wordings for _, text in record.messages)
        if record.prompt.startswith(_CHECK_PROMPTS) and shown:
            yield f"Checked in call {_call(record)}"


def _quotation(item: DroppedQuotation) -> Iterator[str]:
    yield f"{item.id} {one_line(item.claim)}"
    yield f"  “{one_line(item.quote)}” does not count: {one_line(item.reason)}"
    yield f"Form field: {item.field or 'none'}"


def _transcript(record: CallRecord | None) -> str:
    if record is None:
        return "No call raised this, or its record is gone."
    said = [f"--- {role}\n{clean(text)}" for role, text in record.messages]
    said.append(f"--- reply\n{clean(record.reply or record.error)}")
    return "\n\n".join(said)
