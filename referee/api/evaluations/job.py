"""What an evaluation is made of and with, what a resumed run must have in common, and what is worth a warning."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.detection.continuing import OpenedDetectors
from referee.api.evaluations.review_set import ReviewSet
from referee.data import PaperStore, rejected_text
from referee.data.decisions import unclear_text
from referee.data.found import holds_rows
from referee.data.known_sets import KnownErrors
from referee.data.papers import file_name
from referee.evals.detection.costs import cost_estimates
from referee.evals.detection.detectors.base import Detector
from referee.evals.estimate import SAMPLED, Given, plan_metrics
from referee.evals.forms import Forms
from referee.evals.metric import Metric
from referee.evals.planted.known_rules import PUBLISHED
from referee.evals.planted.services import PlantedPapers
from referee.evals.runner import UNITS_A_CALL
from referee.llm.embeddings import Embedder
from referee.llm.models import Model, Models
from referee.prompts import load_prompt, own_versions, prompt_digests
from referee.runs import Progress
from referee.schemas.estimate import PartEstimate, SetEstimate
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import venue_digest

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_PROBLEMS = 3
_SHORTEST_NAME = 4


@dataclass(frozen=True)
class EvalJob:
    """One review set, the metrics, and what they are measured with.

    ``models`` hold the judges' roles only, ``asked_models`` those of detectors too.
    """

    reviews: ReviewSet
    metrics: tuple[Metric, ...]
    settings: Settings
    models: Models
    repeats: int
    embedder: Embedder | None
    papers: Path | None
    paper_store: PaperStore | None
    venue: VenueForm | None
    progress: Progress
    detection: OpenedDetectors | None = None
    known: KnownErrors | None = None
    planted: PlantedPapers | None = None

    @property
    def asked_models(self) -> Models:
        """All that are asked through the door, by role."""
        chat = self.detection.chat.by_role if self.detection else {}
        return Models({**self.models.by_role, **chat})

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics' names."""
        return tuple(metric.name for metric in self.metrics)

    @property
    def judges(self) -> tuple[Model, ...]:
        """The panel's models, in the order of their roles."""
        return tuple(self.models.by_role.values())

    @property
    def concurrency(self) -> int:
        """Calls that may be under way at once, over all judges."""
        calls = self.settings.calls.concurrency
        allowed = [1 if judge.spec.is_local else calls for judge in self.judges]
        return sum(allowed) or calls

    @property
    def judged_at_once(self) -> int:
        """Units that ask a judge and may be under way: they wait for each other, and between their calls."""
        return self.settings.batches.units if self.settings.calls.batch else UNITS_A_CALL * self.concurrency


def needs(metrics: Sequence[Metric], need: str) -> bool:
    """Whether any of the metrics needs it."""
    return any(need in metric.needs for metric in metrics)


def asked_judges(metrics: Sequence[Metric], judges: Sequence[str]) -> list[str] | None:
    """The judges to open: those named, none for the default one; None where no metric asks any.

    A metric that only uses a judge asks one that is named, and does without it otherwise.
    """
    named = bool(judges) and any("judge" in metric.uses for metric in metrics)
    return list(judges) if named or needs(metrics, "judge") else None


def eval_prompts(metrics: Sequence[Metric]) -> dict[str, str]:
    """Digest by prompt and version, of all prompts the metrics may use."""
    used = [load_prompt(name) for metric in metrics for name in metric.prompts]
    return prompt_digests(used)


def eval_inputs(job: EvalJob) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    inputs = {
        "set of reviews": job.reviews.store.digest,
        "set of metrics": ", ".join(f"{metric.name}@{metric.version}" for metric in job.metrics),
        **{f"version of prompt {name}": digest for name, digest in eval_prompts(job.metrics).items()},
        "set of papers": _papers_digest(job.paper_store),
        "venue form": venue_digest(job.venue) if job.venue else "none",
        "embedder": job.embedder.id if job.embedder else "none",
    }
    if job.known:
        inputs["set of known errors"] = job.known.digest
    if job.detection:
        inputs |= job.detection.services.inputs()
    if job.planted:
        inputs |= {"set of planted papers": job.planted.digest}
    if job.judges:
        inputs |= {role: model.spec.id for role, model in job.models.by_role.items()}
        inputs |= {"number of repeats": str(job.repeats), "temperature": str(job.settings.models.temperature)}
    return inputs


def eval_plan(job: EvalJob) -> SetEstimate:
    """The estimate, with what is worth knowing before it is confirmed."""
    store = job.reviews.store
    given = Given(papers=job.paper_store is not None, forms=Forms(job.venue), known=job.known)
    metrics = _with_costs(job, plan_metrics(job.metrics, store, given, job.judges, job.repeats))
    whole = SetEstimate(
        reviews=len(store),
        papers=len(list(store.papers)),
        rejected=job.reviews.rejected,
        judges=tuple(judge.spec.id for judge in job.judges),
        repeats=job.repeats,
        metrics=metrics,
        notes=tuple(eval_notes(job)),
    )
    return whole.holding(metrics)


def _with_costs(job: EvalJob, planned: Sequence[PartEstimate]) -> tuple[PartEstimate, ...]:
    """The parts with what detectors compute here and ask."""
    detectors = [metric for metric in job.metrics if isinstance(metric, Detector)]
    if job.detection is None or len(detectors) < len(planned):
        return tuple(planned)
    sample = job.reviews.store.sample(SAMPLED)
    return cost_estimates(detectors, planned, sample, job.detection.services, job.detection.generator)


def eval_notes(job: EvalJob) -> Iterator[str]:
    """What a reader of the numbers should know."""
    store = job.reviews.store
    if job.reviews.rejected:
        yield f"{rejected_text(job.reviews.rejected_by)}; rejected.jsonl says why"
    yield from job.reviews.reading.notes()
    yield from job.detection.notes if job.detection is not None else ()
    unknown = sum(count for (_, kind), count in store.sources.items() if kind == "unknown")
    if unknown:
        yield f"of {unknown:,} review(s) the data do not say whether a human wrote them; they are not in the Expert row"
    if not any(kind == "human" for _, kind in store.sources):
        yield "there are no human reviews: no Expert row, and nothing is nearest to it"
    if len(store.venues) > 1:
        listed = ", ".join(f"{venue or 'none named'} ({count:,})" for venue, count in store.venues.most_common(6))
        yield f"the reviews are of several venues: {listed}; --group-by venue keeps them apart"
    if job.reviews.rows.unclear:
        yield unclear_text(job.reviews.rows.unclear)
    yield from _known_errors(job)
    yield from _missing_papers(job)
    yield from _own_work(job)
    if chosen := own_versions(name for metric in job.metrics for name in metric.prompts):
        named = ", ".join(f"{name}@{version}" for name, version in chosen.items())
        yield f"judged with prompts in place of those that ship: {named}; their values compare with no other prompt's"
    if job.repeats > 1 and job.judges and not job.settings.models.temperature:
        yield "at temperature 0 repeats hardly differ: their spread says little (models.temperature)"
    if any(judge.spec.is_local for judge in job.judges):
        yield "the embedded model is a small judge: its numbers show that the machinery works, and little more"
    for judge in job.judges:
        yield from judge.notes


def _known_errors(job: EvalJob) -> Iterator[str]:
    """Which set it is, and how many of the reviewed papers it knows."""
    if job.known is None:
        return
    about, reviewed = job.known.about, list(job.reviews.store.papers)
    held = sum(job.known.of(paper_id) is not None for paper_id in reviewed)
    rule = PUBLISHED.get(about.source)
    authors = f"its authors count by {rule.name!r}, cap {rule.cap or 'none'}" if rule else "it has no rule that we know"
    yield (
        f"known errors: {about.errors:,} of {len(about.papers):,} papers of {about.source!r}, which holds {held:,} of "
        f"the {len(reviewed):,} reviewed papers; {authors}"
    )


def _missing_papers(job: EvalJob) -> Iterator[str]:
    """Papers that reviews name and that are not there, as far as ids tell; a single paper serves all reviews."""
    if job.paper_store is None or job.papers is None or not needs(job.metrics, "paper"):
        return
    if job.papers.is_file() and not holds_rows(job.papers):
        return
    there = set(job.paper_store.ids())
    missing = [
        paper_id
        for paper_id in job.reviews.store.papers
        if paper_id not in there and file_name(paper_id) not in there and not _DIGEST.fullmatch(paper_id)
    ]
    if missing:
        nearby = f"; it holds, for one, {min(there)!r}" if there else ""
        yield (
            f"{len(missing):,} of {len(list(job.reviews.store.papers)):,} reviewed papers are not in "
            f"{str(job.papers)!r}, the first: {missing[0]!r}{nearby}"
        )
    problems = job.paper_store.problems
    yield from (f"a paper cannot be used, or not as a whole: {problem}" for problem in problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        yield f"{len(problems) - _MOST_PROBLEMS:,} other problem(s) like these are in {str(job.papers)!r}"


def _own_work(job: EvalJob) -> Iterator[str]:
    """A judge that rates its own reviews rates them too well."""
    systems = [source for source, kind in job.reviews.store.sources if kind != "human"]
    for judge in job.judges:
        for system in systems:
            if _related(judge.spec.name, system):
                yield f"judge {judge.spec.id!r} seems to be the system {system!r}: models prefer their own reviews"


def _related(model: str, system: str) -> bool:
    """Whether one name, without its punctuation, begins the other, as with a version's date."""
    first, second = (re.sub(r"[^a-z0-9]", "", name.lower().rpartition("/")[2]) for name in (model, system))
    shorter = min(first, second, key=len)
    return len(shorter) >= _SHORTEST_NAME and first.startswith(shorter) and second.startswith(shorter)


def _papers_digest(paper_store: PaperStore | None) -> str:
    if paper_store is None:
        return "none"
    return hashlib.sha256("\0".join(paper_store.ids()).encode()).hexdigest()
