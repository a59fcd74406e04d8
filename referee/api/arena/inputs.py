"""What ``referee arena score`` and ``calibrate`` read: predictions by model, and people's reviews of the papers."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from referee.data import ReadingNotes, RejectedSink, read_cases, rejected_text
from referee.data.drafts import SCALE_OVERRIDE
from referee.data.layout import is_known
from referee.data.predictions import PREDICTED, PREDICTIONS, holds_predictions, prediction_case, read_predictions
from referee.errors import DataError, SettingsError
from referee.evals.agreement import RatedPaper, gather, gather_listed
from referee.evals.agreement.rated import LISTED, Gathered, same_scale
from referee.runs import Event, Progress
from referee.schemas.case import ReviewCase
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.venues import list_venues
from referee.venues.values import rescaled

SOURCE = "source"
_SKIPPED = "skipped"
_WHO_WROTE = 'review(s) of which the data do not say who wrote them are left out: give them "kind": "ai" or "human"'


@dataclass(frozen=True)
class ArenaInput:
    """Predictions by model, human reviews by paper (of predicted papers alone), and the known forms.

    ``listed``: there are no human reviews, but the predictions' records list the human ratings. ``skipped`` counts
    papers that were never asked about, by model. ``usage`` is what predictions of ``referee arena run`` record of their
    calls, answered or not, by model.
    """

    models: Mapping[str, tuple[ReviewCase, ...]]
    human: Mapping[str, tuple[ReviewCase, ...]]
    forms: Mapping[str, VenueForm]
    listed: bool
    digests: Mapping[str, str]
    skipped: Mapping[str, int] = field(default_factory=dict)
    usage: Mapping[str, Sequence[Usage]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Joined:
    """One model's papers: on people's own forms, and those it rated on another."""

    gathered: Gathered
    same: tuple[RatedPaper, ...]
    apart: tuple[RatedPaper, ...]


def read_arena(
    predictions: Sequence[Path],
    human: Path | None,
    *,
    by: str,
    aside: Path,
    progress: Progress,
    mapping: Path | None = None,
) -> ArenaInput:
    """Read the sets; AI reviews are predictions, human ones the reference.

    Args:
        predictions: Files or run folders of ``referee arena run``, or review sets.
        human: The set of human reviews; by default the predictions' own sets.
        by: What tells models apart: ``source``, or a column of the records.
        aside: An existing folder for rows that cannot be used.
        progress: Told how far it is.
        mapping: A file that says which key of a row is what, for the sets in no known layout; where all are in one,
            for all sets but runs of ``referee arena run``.

    Raises:
        DataError: A path is missing or holds nothing of use: no prediction, no human rating; or the mapping is of no
            use, as there are only runs.
        SettingsError: No record has the column.
    """
    read = _Sets(by)
    paths = [path / PREDICTIONS if (path / PREDICTIONS).is_file() else path for path in predictions]
    mapped = _mapped([*paths, *([human] if human is not None else [])], mapping)
    with RejectedSink(aside / "rejected.jsonl") as sink:
        for path in paths:
            progress(Event("stage", f"reading {path}"))
            read.take(_cases(path, sink, read.reading, mapped.get(path)))
        if human is not None:
            progress(Event("stage", f"reading {human}"))
            cases = read.seen(_cases(human, sink, read.reading, mapped.get(human)))
            read.people = [case for case in cases if case.kind == "human"]
        rejected = f"{rejected_text(sink.by_source)}; rejected.jsonl says why" if sink.count else ""
    _require_models(read, paths)
    papers = {case.paper_id for cases in read.models.values() for case in cases}
    by_paper: dict[str, list[ReviewCase]] = defaultdict(list)
    for case in read.people:
        by_paper[case.paper_id].append(case)
    reviewed = {key: tuple(by_paper[key]) for key in sorted(papers & by_paper.keys())}
    listed = not reviewed and any(isinstance(c.extra.get(LISTED), list) for rows in read.models.values() for c in rows)
    if not reviewed and not listed:
        raise _no_human(papers, by_paper)
    if listed:
        read.dropped["paper(s) come with a list of human ratings and without the human reviews"] += len(papers)
    unpredicted = len(by_paper.keys() - papers)
    read.dropped["paper(s) of the human reviews have no prediction by any model and are left out"] += unpredicted
    return ArenaInput(
        models={name: tuple(cases) for name, cases in read.models.items()},
        human=reviewed,
        forms=_forms(read.scales),
        listed=listed,
        digests={str(path): _digest(path) for path in (*paths, *filter(None, (human, mapping)))},
        skipped=dict(read.skipped),
        usage=dict(read.usage),
        notes=(
            *filter(None, [rejected]),
            *(f"{count:,} {what}" for what, count in read.dropped.items() if count),
            *read.reading.notes(),
            *(f"ratings on {name} are read on {scale}, as the rows say" for name, scale in read.scales.items()),
        ),
    )


class _Sets:
    """The reviews of all sets so far, sorted by who wrote them."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.models: dict[str, list[ReviewCase]] = defaultdict(list)
        self.people: list[ReviewCase] = []
        self.dropped: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.usage: dict[str, list[Usage]] = defaultdict(list)
        self.reading = ReadingNotes()
        self.scales: dict[str, str] = {}

    def seen(self, cases: Iterable[ReviewCase]) -> Iterator[ReviewCase]:
        """The reviews as they come; ratings that are no numbers are counted, other scales than a form's kept.

        Raises:
            DataError: Rows are on two such scales of one form.
        """
        for case in cases:
            if (scale := case.extra.get(SCALE_OVERRIDE)) and case.venue:
                first = self.scales.setdefault(case.venue, str(scale))
                if first != scale:
                    raise DataError(
                        f"rows of {case.venue!r} are on two scales, {first} and {scale}.",
                        hint="Convert both sets with one --scale-override.",
                    )
            self.reading.add(case)
            yield case

    def take(self, cases: Iterable[ReviewCase]) -> None:
        """Sort the reviews of one set."""
        for case in self.seen(cases):
            label = _label(case, self.by)
            if case.kind == "human":
                self.people.append(case)
            elif case.kind == "unknown":
                self.dropped[_WHO_WROTE] += 1
            elif not label:
                self.dropped[f"prediction(s) have no column {self.by!r} and are left out"] += 1
            elif case.extra.get("status") == _SKIPPED:
                self.skipped[label] += 1
            else:
                self.models[label].append(case)
                if case.origin is not None and case.origin.layout == PREDICTED:
                    self.usage[label].append(Usage.model_validate(case.extra["usage"]))


def _forms(scales: Mapping[str, str]) -> dict[str, VenueForm]:
    """The known forms by id, on the scales that rows name in place of their own."""
    forms = {form.id: form for form in list_venues()}
    ends = {name: [int(end) for end in scale.split("-")] for name, scale in scales.items()}
    return forms | {name: rescaled(forms[name], low, high) for name, (low, high) in ends.items()}


def _require_models(read: _Sets, paths: Sequence[Path]) -> None:
    if read.models:
        return
    named = ", ".join(repr(str(path)) for path in paths)
    if read.by != SOURCE:
        raise SettingsError(
            f"no AI review of {named} has a column {read.by!r}.", hint="Leave --by away, or correct it."
        )
    count = read.dropped[_WHO_WROTE]
    unknown = f" Of {count:,} review(s) the data do not say who wrote them." if count else ""
    raise DataError(
        f"{named} holds no AI review.{unknown}",
        hint="Predictions are a run of `referee arena run`, or reviews of which the data say that an AI wrote them: "
        'rows with "kind": "ai".',
    )


def _no_human(papers: Iterable[str], by_paper: Mapping[str, Sequence[ReviewCase]]) -> DataError:
    first = f", the first reviewed one {min(by_paper)!r}" if by_paper else ""
    count = sum(map(len, by_paper.values()))
    return DataError(
        f"there are {count:,} human reviews, and none is of a predicted paper; the first predicted paper is "
        f"{min(papers)!r}{first}.",
        hint="Give --human: a set of human reviews that names papers by the same ids.",
    )


def joined(given: ArenaInput, model: str, *, rated_on: str = "") -> Joined:
    """One model's predictions with the human ratings of all predicted papers.

    Args:
        given: What was read.
        model: The model's name in it.
        rated_on: The form the model rated on, where it is another than the data say.
    """
    cases = given.models[model]
    if given.listed:
        gathered = gather_listed(cases, given.forms, rated_on=rated_on, across_scales=True)
    else:
        moved = (case.model_copy(update={"venue": rated_on}) for case in cases) if rated_on else cases
        people = (case for cases in given.human.values() for case in cases)
        gathered = gather(people, moved, given.forms, across_scales=True)
    reasons = {case.paper_id: str(case.extra.get("reason") or "") for case in cases if case.rating is None}
    papers = [replace(p, reason=_short(reasons.get(p.paper_id, ""), p)) for p in gathered.papers]
    return Joined(
        gathered,
        tuple(paper for paper in papers if not paper.other_form),
        tuple(paper for paper in papers if paper.other_form),
    )


def require_same_scale(found: Joined) -> None:
    """Refuse papers that the model rated on other values than people.

    Raises:
        EvaluationError: The message names both forms.
    """
    for paper in found.apart[:1]:
        same_scale(paper)


def _short(reason: str, paper: RatedPaper) -> str:
    """What a model said is one reason in as many words as there are papers: the first sentence tells them apart."""
    return reason.split(". ", 1)[0].rstrip(".")[:120] or paper.reason


def _mapped(sets: Sequence[Path], mapping: Path | None) -> dict[Path, Path]:
    """The mapping of each set that is read by it.

    Raises:
        DataError: There is a mapping and no set to read by it, or a set cannot be read.
    """
    if mapping is None:
        return {}
    others = [path for path in sets if not holds_predictions(path)]
    if not others:
        raise DataError(
            f"the mapping {str(mapping)!r} is of no use: runs of `referee arena run` need none.",
            hint="Leave --mapping out.",
        )
    return dict.fromkeys([path for path in others if not is_known(path)] or others, mapping)


def _cases(path: Path, sink: RejectedSink, notes: ReadingNotes, mapping: Path | None) -> Iterable[ReviewCase]:
    if holds_predictions(path):
        return (prediction_case(one, path, n) for n, one in enumerate(read_predictions(path), start=1))
    return read_cases(path, mapping=mapping, rejected=sink, notes=notes)


def _label(case: ReviewCase, by: str) -> str:
    if by == SOURCE:
        return case.source
    value = case.extra.get(by)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _digest(path: Path) -> str:
    """SHA-256 of the file, or of a folder's files with their names."""
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as stream:
                whole.update(file.name.encode() + hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()
