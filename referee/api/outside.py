"""What a review looks up outside of the paper, where that is asked for: its references, and earlier works."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

from referee.agents import abstract_reader, query_writer, support_judge
from referee.agents.abstract_reader import ABSTRACT_CHARS
from referee.agents.abstract_reader import REPLY_TOKENS as READING_TOKENS
from referee.agents.literature_points import comparison_points
from referee.agents.query_writer import MOST_CLAIMS, MOST_WORDS, READ_TOKENS, REPLY_TOKENS, ROLE, query_prompt
from referee.agents.scores import after_search
from referee.agents.support_judge import CitedAbstract, judge_support
from referee.api.checked_references import check_all
from referee.api.lookups import Lookup, indexed, online, online_search
from referee.api.session import Session
from referee.errors import RefereeError, RunStopped, SettingsError
from referee.evidence import place_points
from referee.graphs.job import Job
from referee.graphs.strategy import load_prompts
from referee.literature.checking import Unresolved
from referee.literature.citing import citing_sentences
from referee.literature.index import WorkIndex
from referee.literature.references import CheckedReference, abstract_of
from referee.literature.searching import IndexSearch, KeptSearch, OnlineSearch, Searching
from referee.llm.door import Door
from referee.papers.dated import day_made
from referee.prompts import Prompt
from referee.runs import Event
from referee.runs.stopping import in_thread
from referee.schemas.estimate import Estimate, ReviewEstimate
from referee.schemas.literature import ListedWork, Literature, LookedUpReference, References
from referee.schemas.paper import Paper
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm
from referee.settings import Settings

NONE, ONLINE = "none", "online"
SEARCHES, ABSTRACTS = "searches.json", "cited-abstracts.json"
"""Files in a run folder with what services answered, written before a prompt shows it."""
# What abstracts and typical replies come to, in tokens.
_ABSTRACTS, _TYPICAL = 6_000, 0.4
_TOKENS_A_CITATION, _TOKENS_A_VERDICT = 350, 60


@dataclass(frozen=True)
class Outside:
    """Who is asked for references and for earlier works, null for nobody, and up to which day."""

    references: Lookup | None = None
    searching: Searching | None = None
    left_out: tuple[str, ...] = ()
    until: date | None = None
    until_from: str = ""

    @classmethod
    def opened(cls, settings: Settings, file: Path | None) -> Outside:
        """What the settings ask for.

        Args:
            settings: ``review.references``, ``review.literature``, ``review.as_of`` and the group ``citations``.
            file: The paper's file, for its own date.

        Raises:
            SettingsError: There is no contact address for what is online.
            DataError: An index cannot be read.
        """
        asked = settings.review
        if asked.as_of is not None and asked.literature == NONE:
            raise SettingsError("a last day of works goes with a search for them.", hint="Add --literature.")
        if asked.support and asked.references == NONE:
            raise SettingsError("what cited works say is asked of looked-up references.", hint="Add --references.")
        references = _lookup(asked.references, settings)
        searching, left_out = _searching(asked.literature, settings)
        until, whence = _last_day(asked.as_of, file) if searching else (None, "")
        return cls(references, searching, left_out, until, whence)

    def close(self) -> None:
        """End connections."""
        if self.references is not None:
            self.references.close()
        if isinstance(self.searching, OnlineSearch):
            self.searching.close()

    def inputs(self, settings: Settings) -> dict[str, str]:
        """What must be the same for a run to be resumed."""
        inputs = {}
        if self.references is not None:
            inputs["look-up of references"] = settings.review.references
            inputs["support of citations"] = str(settings.review.support)
        if self.searching is not None:
            inputs["search of the literature"] = settings.review.literature
            inputs["last day of works"] = str(self.until)
        return inputs

    def prompts(self, job: Job) -> list[Prompt]:
        """The prompts of the search, and of citations."""
        names = [query_writer.PROMPT, abstract_reader.PROMPT] if self.searching is not None else []
        return load_prompts(*names, *([support_judge.PROMPT] if job.settings.review.support else []))

    def planned(self, plan: ReviewEstimate, job: Job) -> ReviewEstimate:
        """The plan with the calls of the search and of citations, and with what is sent to whom."""
        added = [part for part in (self._search_plan(job), _support_plan(job)) if part is not None]
        return plan.beside(added, self._sent(job))

    def _search_plan(self, job: Job) -> Estimate | None:
        if self.searching is None:
            return None
        model = job.models[ROLE]
        prompt = query_prompt(job.paper, model.count, room=_room(job))
        tokens_in = model.count(prompt.system) + model.count(prompt.user) + _ABSTRACTS
        tokens_out = int((REPLY_TOKENS + READING_TOKENS) * _TYPICAL)
        cost = model.cost(tokens_in, tokens_out)
        return Estimate(calls=2, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost)

    def _sent(self, job: Job) -> Iterator[str]:
        if self.references is not None and self.references.services:
            yield (
                f"titles, first authors' surnames and ids of the paper's {len(job.paper.references)} references are "
                f"sent to {', '.join(self.references.services)}, or the whole entry where its title could not be read"
            )
        if isinstance(self.searching, OnlineSearch):
            until = f"up to {self.until} ({self.until_from})" if self.until else "of any date (no --as-of was given)"
            yield (
                f"the title “{job.paper.title}” and at most {MOST_CLAIMS} searches of {MOST_WORDS} words written from "
                f"the paper's claims are sent to {', '.join(self.searching.names)}, for works {until}; who runs these "
                "services can read them, and the venue's rule may forbid it"
            )


NOTHING = Outside()


def _support_plan(job: Job) -> Estimate | None:
    """As if every entry were verified, with an abstract, and cited once."""
    count = len(job.paper.references)
    if not job.settings.review.support or not count:
        return None
    model = job.models[ROLE]
    tokens_in, tokens_out = count * _TOKENS_A_CITATION, count * _TOKENS_A_VERDICT
    cost = model.cost(tokens_in, tokens_out)
    calls = -(-count // support_judge.BATCH)
    return Estimate(calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost)


def where(given: str | Path | None) -> str | None:
    """As the settings keep it: ``none``, ``online``, or an index by its whole path, for a resume from elsewhere."""
    if given is None or str(given) in (NONE, ONLINE):
        return None if given is None else str(given)
    return str(Path(given).absolute())


async def look_outside(outside: Outside, job: Job, run: Session, door: Door) -> tuple[References | None, Job]:
    """Look references up and search for earlier works; what cannot be done is noted, and the review goes on.

    Raises:
        BudgetExceeded: The next call could pass a limit.
    """
    references = await _references(outside, job, run, door)
    if outside.searching is None:
        return references, job
    return references, replace(job, literature=await _searched(outside, outside.searching, job, run, door))


def with_outside(
    review: Review, form: VenueForm, references: References | None, literature: Literature | None
) -> Review:
    """The review with what was found, the comparisons that it misses, and scores that say what they were given with."""
    scores = tuple(after_search(record, literature) for record in review.scores) if literature else review.scores
    nulls = {s.field: s.null_reason for s in scores if s.null_reason and s.field in review.nulls}
    return review.model_copy(
        update={
            "points": (*review.points, *place_points(comparison_points(literature), form)),
            "literature": literature,
            "references": references,
            "scores": scores,
            "nulls": {**review.nulls, **nulls},
        }
    )


async def _references(outside: Outside, job: Job, run: Session, door: Door) -> References | None:
    if outside.references is None:
        return None
    checked = await check_all(job.paper.references, outside.references, run.progress)
    entries = tuple(_entry(number, one) for number, one in enumerate(checked, start=1))
    found = References(asked=outside.references.asked, entries=entries, notes=outside.references.all_notes)
    if not job.settings.review.support:
        return found
    return await _with_support(found, checked, outside.references, job, run, door)


async def _with_support(
    references: References, checked: Sequence[CheckedReference], lookup: Lookup, job: Job, run: Session, door: Door
) -> References:
    """Whether verified works say what the paper claims of them, where they have an abstract and are cited in words."""
    kept = run.path / ABSTRACTS
    if kept.is_file():  # a resumed run asks about the abstracts that it was given first
        known = json.loads(kept.read_text("utf-8"))
        cited, unanswered = [CitedAbstract(**one) for one in known["cited"]], known["unanswered"]
    else:
        cited, unanswered = await _cited_abstracts(checked, lookup, job.paper)
        known = {"cited": [asdict(one) for one in cited], "unanswered": unanswered}
        run.write(ABSTRACTS, json.dumps(known, ensure_ascii=False))
    try:
        judged = await judge_support(cited, door=door)
    except RunStopped:
        raise
    except RefereeError as error:
        return references.model_copy(
            update={"notes": (*references.notes, f"what cited works say was not judged: {error.message}")}
        )
    left = len(checked) - len(cited) - len(unanswered)
    told = [f"{left} references were not asked for what they say: not verified, without an abstract, or not cited"]
    failed = f"{len(unanswered)} abstracts could not be looked up, the first as {unanswered[0]}" if unanswered else ""
    long = sum(len(one.abstract) > ABSTRACT_CHARS for one in cited)
    cut = f"of {long} abstracts the first {ABSTRACT_CHARS:,} characters were read" if long else ""
    notes = (*references.notes, *(told if left else ()), *filter(None, [failed, cut]))
    return references.model_copy(update={"support": tuple(judged), "notes": notes})


async def _cited_abstracts(
    checked: Sequence[CheckedReference], lookup: Lookup, paper: Paper
) -> tuple[list[CitedAbstract], list[str]]:
    """Sentences that cite verified works, with the works' abstracts, and why some could not be had."""
    citing, cited, unanswered = citing_sentences(paper), list[CitedAbstract](), list[str]()
    for number, one in enumerate(checked, start=1):
        sentence = next(iter(citing.get(one.cited.reference.id, ())), None)
        if sentence is None or lookup.resolver is None:
            continue
        try:
            abstract = await in_thread(abstract_of, one, lookup.resolver)
        except Unresolved as error:
            unanswered.append(str(error))
            continue
        if abstract:
            place = sentence.section.heading
            cited.append(CitedAbstract(number, sentence.sentence, place, sentence.page, abstract))
    return cited, unanswered


async def _searched(outside: Outside, searching: Searching, job: Job, run: Session, door: Door) -> Literature:
    from referee.graphs.literature import LiteratureContext, build_literature_graph, nothing_searched
    from referee.graphs.running import run_machine

    run.progress(Event("stage", f"searching the literature ({', '.join(searching.names)})"))
    model = job.models[ROLE]
    try:
        context = LiteratureContext(
            paper=job.paper,
            searching=KeptSearch(searching, lambda: run.path / SEARCHES),
            embedder=await run.open_embedder(),
            door=door,
            count=model.count,
            until=outside.until,
            until_from=outside.until_from,
            room=_room(job),
        )
        state = await run_machine(build_literature_graph, context, nothing_searched())
    except RunStopped:
        raise
    except RefereeError as error:
        run.progress(Event("note", f"the literature was not searched: {error.message}"))
        return Literature(asked=searching.names, failures=(f"the search ended early: {error.message}",))
    found: Literature = state["literature"]
    return found.model_copy(update={"notes": (*found.notes, *outside.left_out)})


def _room(job: Job) -> int:
    """What the first question may take of the paper: all it wants, or a third of a small window."""
    return min(READ_TOKENS, job.models[ROLE].context_tokens // 3)


def _lookup(where: str, settings: Settings) -> Lookup | None:
    if where == NONE:
        return None
    return online(settings.citations) if where == ONLINE else indexed(Path(where))


def _searching(where: str, settings: Settings) -> tuple[Searching | None, tuple[str, ...]]:
    if where == NONE:
        return None, ()
    if where == ONLINE:
        return online_search(settings.citations)
    return IndexSearch(WorkIndex.load(Path(where)), Path(where).name), ()


def _last_day(given: date | None, file: Path | None) -> tuple[date | None, str]:
    if given is not None:
        return given, "as asked"
    made = day_made(file) if file is not None else None
    return made, "the day on which the file says it was made" if made else ""


def _entry(number: int, one: CheckedReference) -> LookedUpReference:
    listed = None
    if one.record is not None:
        known = one.record._asdict()
        listed = ListedWork(**{name: known[name] for name in ListedWork.model_fields})
    return LookedUpReference(
        number=number,
        text=one.cited.reference.text,
        title=one.cited.title,
        year=one.cited.year,
        verdict=one.verdict,
        differs=one.differs,
        listed=listed,
        reason=one.reason,
    )
