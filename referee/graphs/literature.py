"""Machine ``literature``: claims -> search -> rank -> read. A paper in, works that bear on its claims out.

Two calls to a model: the paper's claims with search words, and the abstracts that were found. Who is searched, what
counts as earlier, which work is the paper itself and what it cites are code. A work is named only by its record, and
what it says by its own sentence. A service that fails is named and leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from referee.agents.abstract_reader import read_abstracts
from referee.agents.asking import Asks, CountTokens
from referee.agents.query_writer import READ_TOKENS, query_prompt, write_queries
from referee.errors import RefereeError
from referee.evidence import QuotationIndex
from referee.graphs.failure import Failure, record_failure
from referee.literature.checking import Record
from referee.literature.citing import citing_sentences
from referee.literature.references import cited_of
from referee.literature.searching import Searching, has_title, surely_by
from referee.runs.stopping import in_thread
from referee.schemas.literature import FoundWork, Literature, PaperClaim, WorkBearing
from referee.schemas.paper import Paper

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder

ROWS_A_QUERY = 10
MOST_READ = 16
_EXPERIMENTS = ("experiment", "result", "evaluation", "comparison", "baseline")


@dataclass(frozen=True)
class LiteratureContext:
    """The services and fixed data of one search.

    ``until`` is the last day of works that count, null for none; ``until_from`` says where it is from. ``room`` is
    what a prompt may take of the paper, in tokens.
    """

    paper: Paper
    searching: Searching
    embedder: Embedder
    door: Asks
    count: CountTokens
    until: date | None = None
    until_from: str = ""
    room: int = READ_TOKENS


class LiteratureState(TypedDict, total=False):
    """Claims, what was searched by, the works that count, and what came of them."""

    claims: list[PaperClaim]
    queries: list[str]
    works: list[FoundWork]
    failures: list[str]
    notes: list[str]
    literature: Literature | None
    failure: Failure | None


def nothing_searched() -> LiteratureState:
    """An empty state."""
    return LiteratureState(claims=[], queries=[], works=[], failures=[], notes=[], literature=None, failure=None)


async def claim(state: LiteratureState, runtime: Runtime[LiteratureContext]) -> LiteratureState:
    """Ask what the paper claims, and by which words to search."""
    context = runtime.context
    prompt = query_prompt(context.paper, context.count, room=context.room)
    try:
        written = await write_queries(context.paper, QuotationIndex(context.paper), prompt, door=context.door)
    except RefereeError as error:
        return {"failure": record_failure("the claims of the paper", error)}
    queries = dict.fromkeys([context.paper.title, *(claim.query for claim in written.claims)])
    return {"claims": list(written.claims), "queries": list(filter(None, queries)), "notes": list(written.notes)}


async def search(state: LiteratureState, runtime: Runtime[LiteratureContext]) -> LiteratureState:
    """Search, and keep what has an abstract, was there on the day, and is not the paper itself."""
    context = runtime.context
    found = await in_thread(context.searching.find, state["queries"], context.until, ROWS_A_QUERY)
    others = [record for record in found.records if not has_title(record, context.paper.title)]
    told = [record for record in others if record.abstract]
    earlier = [record for record in told if surely_by(record, context.until)]
    notes = [
        *_counted(
            len(found.merged),
            f"found id(s) are of works taken as others of almost the same title: {', '.join(found.merged)}",
        ),
        *_counted(len(found.records) - len(others), "found work(s) go by the paper's own title and were left out"),
        *_counted(len(others) - len(told), "found work(s) had no abstract and were not read"),
        *_counted(len(told) - len(earlier), f"found work(s) may be later than {context.until} and were left out"),
    ]
    works = _works(earlier, context.paper)
    return {"works": works, "failures": list(found.failures), "notes": [*state["notes"], *notes]}


async def rank(state: LiteratureState, runtime: Runtime[LiteratureContext]) -> LiteratureState:
    """The works nearest to any claim, by their embeddings."""
    works, claims = state["works"], state["claims"]
    if not works or not claims:
        kept = sorted(works, key=lambda work: work.title)[:MOST_READ]
        left = _counted(
            len(works) - len(kept), "found work(s) were left out, by title, for want of a claim to rank them by"
        )
        return {"works": kept, "notes": [*state["notes"], *left]}
    texts = [claim.quote for claim in claims] + [f"{work.title}. {work.abstract}" for work in works]
    try:
        vectors = await runtime.context.embedder.embed(texts)
    except RefereeError as error:
        return {"failure": record_failure("the ranking of works", error)}
    near = (vectors[len(claims) :] @ vectors[: len(claims)].T).max(axis=1)
    ranked = [work.model_copy(update={"near": round(float(value), 4)}) for work, value in zip(works, near, strict=True)]
    ranked.sort(key=lambda work: (-work.near, work.title))
    kept = [work.model_copy(update={"id": f"L{n}"}) for n, work in enumerate(ranked[:MOST_READ], start=1)]
    return {
        "works": kept,
        "notes": [*state["notes"], *_counted(len(works) - len(kept), "found work(s) were less near")],
    }


async def read(state: LiteratureState, runtime: Runtime[LiteratureContext]) -> LiteratureState:
    """Read the abstracts in one call."""
    context, works, claims = runtime.context, state["works"], state["claims"]
    bearings: tuple[WorkBearing, ...] = ()
    notes = list(state["notes"])
    if works and claims:
        try:
            done = await read_abstracts(claims, works, door=context.door)
        except RefereeError as error:
            return {"failure": record_failure("the reading of abstracts", error)}
        bearings, notes = done.found, [*notes, *done.notes]
    literature = Literature(
        asked=context.searching.names,
        as_of=context.until.isoformat() if context.until else "",
        as_of_from=context.until_from,
        queries=tuple(state["queries"]),
        claims=tuple(claims),
        works=tuple(works),
        bearings=bearings,
        failures=tuple(state["failures"]),
        notes=tuple(notes),
    )
    return {"literature": literature}


def build_literature_graph() -> StateGraph[LiteratureState, LiteratureContext, LiteratureState, LiteratureState]:
    """The uncompiled machine."""
    graph = StateGraph(LiteratureState, context_schema=LiteratureContext)
    steps = {"claim": claim, "search": search, "rank": rank, "read": read}
    for name, step in steps.items():
        graph.add_node(name, step)
    graph.add_edge(START, "claim")
    for name, following in (("claim", "search"), ("search", "rank"), ("rank", "read")):
        graph.add_conditional_edges(name, _go_on, {"go on": following, "stop": END})
    graph.add_edge("read", END)
    return graph


def _go_on(state: LiteratureState) -> str:
    return "stop" if state["failure"] else "go on"


def _works(records: Sequence[Record], paper: Paper) -> list[FoundWork]:
    """The records with what the paper does with them."""
    citing = citing_sentences(paper)
    in_experiments = {
        name
        for name, sentences in citing.items()
        if any(word in one.section.heading.lower() for one in sentences for word in _EXPERIMENTS)
    }
    references = [cited_of(reference) for reference in paper.references]
    works = []
    for number, record in enumerate(records, start=1):
        listed = next((c.reference.id for c in references if _is_it(record, c.title, c.doi, c.arxiv)), None)
        works.append(
            FoundWork(
                **{name: value for name, value in record._asdict().items() if name != "abstract"},
                abstract=record.abstract,
                id=f"L{number}",
                cited=listed is not None,
                in_experiments=listed in in_experiments,
            )
        )
    return works


def _is_it(record: Record, title: str, doi: str, arxiv: str) -> bool:
    by_id = bool(doi and doi == record.doi) or bool(arxiv and arxiv == record.arxiv)
    return by_id or has_title(record, title)


def _counted(count: int, what: str) -> list[str]:
    return [f"{count} {what}"] if count else []
