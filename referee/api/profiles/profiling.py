"""``profile``: a review set in; how its reviewers write, rate and agree, by group and compared, out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.evaluations.review_set import ReviewSet, read_for
from referee.api.lookups import Lookup, for_profile
from referee.api.options import RunOptions
from referee.api.profiles.job import (
    ProfileAsked,
    profile_inputs,
    profile_plan,
    profile_prompts,
)
from referee.api.profiles.reading import ProfilePass
from referee.api.profiles.result import profile_result
from referee.api.session import Session, session
from referee.data import read_papers
from referee.data.papers import file_name
from referee.errors import DataError
from referee.evals.behaviour.readability import BackendName
from referee.evals.grouping import DEFAULT, Grouping
from referee.evals.judging import Panel
from referee.evals.profile.backends import JudgeReader, Reader, RuleReader
from referee.evals.profile.result import ProfileResult
from referee.llm.door import Door
from referee.llm.models import Models, check_models
from referee.reports.page import PLOTS
from referee.reports.plots import write_plots
from referee.reports.profile_files import write_profile
from referee.runs import Event
from referee.runs.files import naming
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.stats.agreement import Weighting
from referee.venues import load_venue

LINES = "profile.jsonl"


@dataclass(frozen=True)
class Profile:
    """A finished profile: its folder, what it found, what it cost."""

    run: Path
    result: ProfileResult
    usage: Usage


async def profile(
    reviews: str | Path,
    *,
    papers: str | Path | None = None,
    venue: str | Path | VenueForm | None = None,
    by: Sequence[str] = DEFAULT,
    era: str | None = None,
    citations: str = "fixture",
    citation_records: str | Path | None = None,
    contact: str | None = None,
    judges: Sequence[str] = (),
    atomic: bool = True,
    compare_scales: bool = False,
    rated_on: str | Path | VenueForm | None = None,
    weighting: Weighting = "ratings",
    syllables: BackendName = "pyphen",
    dictionary: str | Path | None = None,
    processes: int = 1,
    seed: int = 0,
    mapping: str | Path | None = None,
    layout: str | None = None,
    options: RunOptions = RunOptions(),
) -> Profile:
    """Measure how reviewers behave: per review, by group with intervals, tested, and beside people.

    Args:
        reviews: A file or a folder in one of the layouts of ``referee.data``.
        papers: A set of papers; only reviews of these are profiled, the others are counted.
        venue: The form of reviews that name no known venue.
        by: What groups are made by; see ``Grouping``.
        era: A date, or ``praib``, that parts reviews into before and after.
        citations: ``fixture`` (offline) or ``online`` (Crossref, OpenAlex, DBLP).
        citation_records: A JSONL of published works, for ``fixture``; without it citations are counted, not checked.
        contact: The e-mail address that the services are told, for ``online``; see ``Settings.citations``.
        judges: Models that read items, coverage and mathematics; rules do where there are none.
        atomic: Whether atomic items and coverage are measured.
        compare_scales: Let ratings of different forms stand side by side, as ranks within each form.
        rated_on: The form that systems rated on, where the data do not say.
        weighting: Of Krippendorff's alpha: ``ratings`` is the standard, ``pairs`` the variant printed by PRAIB.
        syllables: The backend of readability.
        dictionary: The file for ``cmu``.
        processes: How many processes measure texts.
        seed: For intervals and draws.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        options: How it runs. Of a resumed run what judges said is not asked again; without judges nothing is confirmed.

    Raises:
        DataError: The set, the records or the papers cannot be read, or nothing is usable.
        SettingsError: A grouping, source, judge or setting is not usable.
        VenueError: ``venue`` or ``rated_on`` is unknown.
        RunError: The run folder is in use or unwritable.
        BudgetExceeded: The next call could pass a limit.
    """
    settings = options.settled({"citations.contact": contact})
    asked = ProfileAsked(
        grouping=Grouping(by, era),
        atomic=atomic,
        compare_scales=compare_scales,
        rated_on=_form(rated_on),
        venue=_form(venue),
        weighting=weighting,
        processes=processes,
        syllables=syllables,
        dictionary=Path(dictionary) if dictionary is not None else None,
        seed=seed,
    )
    if judges:
        check_models(settings, judges=judges)
    records = Path(citation_records) if citation_records is not None else None
    lookup = for_profile(citations, records, settings.citations)
    async with session("profile", Path(reviews).stem, options=options, settings=settings) as run:
        run.progress(Event("stage", f"reading {reviews}"))
        read = read_for(run, reviews, mapping=mapping, layout=layout, venue=asked.venue)
        run.closing(lookup.close)
        chosen = _chosen(read, Path(papers) if papers is not None else None)
        run.check_inputs(profile_inputs(read, asked, judges, lookup.asked))
        models = await run.open_models(judges) if judges else Models({})
        if run.is_asked and judges:
            run.confirm(profile_plan(read, models, atomic=atomic))
        door = run.begin(models, prompts=profile_prompts(bool(judges)))
        return await _profiled(run, _Job(read, chosen, asked, _reader(models, door), lookup))


def _form(given: str | Path | VenueForm | None) -> VenueForm | None:
    return load_venue(given) if isinstance(given, str | Path) else given


@dataclass(frozen=True)
class _Job:
    read: ReviewSet
    papers: Sequence[str]
    asked: ProfileAsked
    reader: Reader
    lookup: Lookup


def _reader(models: Models, door: Door) -> Reader:
    roles = tuple(models.by_role)
    return JudgeReader(Panel(door, roles, 1, models.ids())) if roles else RuleReader()


async def _profiled(run: Session, job: _Job) -> Profile:
    store, reader = job.read.store, job.reader
    whole = len(job.papers) == sum(1 for _ in store.papers)
    total = len(store) if whole else sum(1 for paper in job.papers for _ in store.cases(paper))
    notes = [*job.read.reading.notes()]
    if total < len(store):
        notes.append(f"{len(store) - total:,} reviews are of papers that are not among the given ones")
    if job.read.rejected:
        run.write("rejected.jsonl", job.read.rejected_file.read_text(encoding="utf-8"))
    part = run.path / f".{LINES}.part"
    with naming(part), part.open("w", encoding="utf-8") as lines:
        measured = await ProfilePass(job.asked, reader, job.lookup.resolver, lines, run.progress).run(
            store, job.papers, total
        )
    notes = [*job.lookup.all_notes, *notes]
    part.replace(run.path / LINES)
    run.progress(Event("stage", "comparing groups"))
    result = profile_result(
        measured,
        job.asked,
        rejected=job.read.rejected_by,
        backends={
            "syllables": measured.syllables,
            "mathematics": reader.mathematics,
            "citations": job.lookup.asked,
            **({"items and coverage": reader.id} if job.asked.atomic else {}),
        },
        notes=notes,
    )
    write_plots(write_profile(result, run.write), run.path / PLOTS)
    return Profile(run.path, result, run.usage)


def _chosen(read: ReviewSet, papers: Path | None) -> list[str]:
    """The papers whose reviews are profiled.

    Raises:
        DataError: No review is of one of the given papers.
    """
    known: Iterable[str] = read.store.papers
    if papers is None:
        return list(known)
    ids = set(read_papers(papers).ids())
    chosen = [paper for paper in known if paper in ids or file_name(paper) in ids]
    if not chosen:
        raise DataError(
            f"no review is of a paper in {str(papers)!r}.", hint="Name papers by the ids that the reviews give them."
        )
    return chosen
