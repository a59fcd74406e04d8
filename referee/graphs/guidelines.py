"""Machine ``guidelines``: read (pieces in parallel) -> gather -> compose. A page in, a venue out.

The page is cleaned before, by code. A model reads it, and code looks up the words of everything that it names. The
embedded model, and one whose window is too small, take the floor: label (windows in parallel) -> settle -> measure
-> compose, where code cuts the page and reads the form, and the model only labels. A call that cannot be made ends the
run, which can be resumed; a piece whose reply cannot be used is said to be unread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.form_reader import read_aspects
from referee.agents.guideline_labeller import Labelled, label_window
from referee.agents.page_reader import read_piece
from referee.errors import RefereeError
from referee.graphs.failure import first_to_end, record_failure
from referee.graphs.guidelines_reading import in_order, read_statements, refusal_of, settled_of
from referee.graphs.guidelines_state import GuidelinesContext, GuidelinesState, LabelTask, PageOrigin, ReadTask
from referee.schemas.venue import Aspect, Fact, FormProvenance, Guideline, Source, VenueForm
from referee.venues.compiled import FormBoxes, borrowed_boxes, drafted_fields, page_boxes, plain_boxes, read_policy
from referee.venues.page import Candidate, GuidelinePage, form_fields, trace
from referee.venues.page_places import unused_scales
from referee.venues.reading import SettledReading, policy_of
from referee.venues.statements import Statement, StatementPart, check_conserved, guidelines_of, settle_statements

PAGE_SOURCE = "page"
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


async def label(state: LabelTask, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Label the statements of one window."""
    context = runtime.context
    window = next(window for window in context.windows if window.id == state["window"])
    try:
        reply = await label_window(
            window,
            venue_name=context.venue_name,
            door=context.door,
            lean=context.lean,
            language=context.page.language,
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"the labelling of window {window.id}", error)]}
    return {"labelled": list(reply.labels), "notes": list(reply.notes)}


async def read(state: ReadTask, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Read one piece of the page."""
    context = runtime.context
    try:
        reply = await read_piece(
            state["piece"],
            context.pieces,
            venue_name=context.venue_name,
            door=context.door,
            max_output_tokens=context.most_out,
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"the reading of part {state['piece'] + 1}", error)]}
    return {"readings": [reply], "notes": list(reply.notes)}


async def gather(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Look up the criteria on the page, merge and name them."""
    if failed := first_to_end(state["failures"], any_stands=False):
        return {"failure": failed}
    return {"statements": list(read_statements(in_order(state["readings"]), runtime.context.page))}


async def settle(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Trace, merge and name the criteria. Without one the machine ends here, without a venue."""
    context = runtime.context
    if failed := first_to_end(state["failures"], any_stands=False):
        return {"failure": failed}
    labels = {item.id: item for item in state["labelled"]}
    cut = [candidate for window in context.windows for candidate in window.candidates]
    statements = settle_statements((_statement(candidate, labels[candidate.id]) for candidate in cut), context.page)
    check_conserved([candidate.id for candidate in cut], statements)
    return {"statements": list(statements)}


async def measure(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Ask what scores measure where the page's form leaves it unclear."""
    context = runtime.context
    if context.lender is not None:
        return {}
    try:
        found = await read_aspects(
            drafted_fields(form_fields(context.page), context.paper_type),
            venue_name=context.venue_name,
            door=context.door,
        )
    except RefereeError as error:
        return {"failure": record_failure("the reading of the form", error)}
    return {"aspects": dict(found.by_field), "notes": list(found.notes)}


async def compose(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Put criteria, form and the rule on language models into one venue."""
    context = runtime.context
    settled = settled_of(state["readings"], context.page)
    boxes = _boxes(context, state["aspects"], settled)
    fact = Fact(confidence=context.origin.confidence, sources=(PAGE_SOURCE,))
    policy = read_policy(context.page, source=PAGE_SOURCE, confidence=fact.confidence)
    statements = state["statements"]
    year = _YEAR.search(context.venue_id) or _YEAR.search(context.venue_name)
    venue = VenueForm(
        id=context.venue_id,
        name=context.venue_name,
        year=int(year.group()) if year else None,
        fields=boxes.fields,
        overall=boxes.overall,
        accept_at=boxes.accept_at,
        guidelines=tuple(_from_its_page(rule, context) for rule in guidelines_of(statements, fact)),
        llm_policy=policy if settled is None else policy_of(settled, policy, fact),
        sources={**boxes.sources, **_sources(context)},
        provenance=FormProvenance(
            checked=date.fromisoformat(context.origin.retrieved),
            unknown=(*boxes.unknown, *_unknown(context, boxes, settled, statements)),
            notes=(*_page_notes(context), boxes.origin, *_reading_notes(context, settled), *_label_notes(statements)),
        ),
    )
    return {"venue": venue}


def build_guidelines_graph() -> StateGraph[GuidelinesState, GuidelinesContext, GuidelinesState, GuidelinesState]:
    """The uncompiled machine. The context holds at least one window."""
    graph = StateGraph(GuidelinesState, context_schema=GuidelinesContext)
    graph.add_node("label", label, input_schema=LabelTask)
    graph.add_node("read", read, input_schema=ReadTask)
    graph.add_node("gather", gather)
    graph.add_node("settle", settle)
    graph.add_node("measure", measure)
    graph.add_node("compose", compose)
    graph.add_conditional_edges(START, _send, ["read", "label"])
    graph.add_edge("read", "gather")
    graph.add_conditional_edges("gather", _after_gather, ["compose", END])
    graph.add_edge("label", "settle")
    graph.add_conditional_edges("settle", _after_settle, ["measure", END])
    graph.add_conditional_edges("measure", _after_measure, ["compose", END])
    graph.add_edge("compose", END)
    return graph


def notes_of(state: GuidelinesState) -> tuple[str, ...]:
    """What was worked around on the way, each once."""
    return tuple(sorted(set(state["notes"])))


def _send(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> list[Send]:
    """One call a piece, or a window, all at once."""
    context = runtime.context
    if context.pieces:
        return [Send("read", ReadTask(piece=number)) for number in range(len(context.pieces))]
    return [Send("label", LabelTask(window=window.id)) for window in context.windows]


def _after_gather(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> str:
    if state["failure"]:
        return END
    force = runtime.context.force
    return "compose" if force or not refusal_of(state["readings"], state["statements"], runtime.context.page) else END


def _after_settle(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> str:
    if state["failure"]:
        return END
    return "measure" if runtime.context.force or any(fate.fate == "kept" for fate in state["statements"]) else END


def _after_measure(state: GuidelinesState) -> str:
    return END if state["failure"] else "compose"


def _statement(candidate: Candidate, labelled: Labelled) -> Statement:
    return Statement(
        id=candidate.id,
        words=candidate.words,
        heading=candidate.heading,
        statement=candidate.kind,
        label=labelled.label,
        criterion_kind=labelled.kind,
        text=labelled.says or candidate.words,
        by=labelled.by,
        note=labelled.note,
        parts=tuple(
            StatementPart(words=part.words, criterion_kind=part.kind, text=part.says) for part in labelled.parts
        ),
    )


def _boxes(
    context: GuidelinesContext, aspects: Mapping[str, Aspect], settled: SettledReading | None = None
) -> FormBoxes:
    if context.lender is not None:
        return borrowed_boxes(context.lender)
    drafts = settled.drafts if settled else drafted_fields(form_fields(context.page), context.paper_type)
    fact = Fact(confidence=context.origin.confidence, sources=(PAGE_SOURCE,))
    return page_boxes(drafts, aspects, fact) if drafts else plain_boxes()


def _unknown(
    context: GuidelinesContext, boxes: FormBoxes, settled: SettledReading | None, statements: list[Statement]
) -> tuple[str, ...]:
    """What the page announces and the form lacks, scales that no box uses, and that no criterion was read."""
    announced = settled.unknown if settled else ()
    unused = () if context.lender else tuple(unused_scales(context.page, boxes.fields))
    none = () if any(fate.fate == "kept" for fate in statements) else ("the criteria: none was read from the page",)
    return (*announced, *unused, *none)


def _from_its_page(rule: Guideline, context: GuidelinesContext) -> Guideline:
    """A criterion with the source of the page that holds its words, where there are several."""
    held = [key for key, (page, _) in _pages(context).items() if trace(rule.words, page)]
    return rule.model_copy(update={"fact": rule.fact.model_copy(update={"sources": tuple(held or [PAGE_SOURCE])[:1]})})


def _pages(context: GuidelinesContext) -> dict[str, tuple[GuidelinePage, PageOrigin]]:
    held = context.others or ((context.page, context.origin),)
    return {PAGE_SOURCE if at == 1 else f"{PAGE_SOURCE}-{at}": one for at, one in enumerate(held, start=1)}


def _sources(context: GuidelinesContext) -> dict[str, Source]:
    return {key: _source(page, origin) for key, (page, origin) in _pages(context).items()}


def _source(page: GuidelinePage, origin: PageOrigin) -> Source:
    title = page.title or origin.name
    return Source(title=title if origin.url else f"{title} (file {origin.name})", url=origin.url, date=origin.retrieved)


def _page_notes(context: GuidelinesContext) -> tuple[str, ...]:
    page = context.page
    had = tuple(
        f"Compiled from {origin.name} (sha256 {origin.sha256}), retrieved {origin.retrieved}; "
        f"main text: {one.extractor}."
        for one, origin in _pages(context).values()
    )
    types = f"Kept what the page says of {context.paper_type} papers; it names {', '.join(page.paper_types)}."
    return (*had, *([types] if context.paper_type else []), *page.notes)


def _reading_notes(context: GuidelinesContext, settled: SettledReading | None) -> tuple[str, ...]:
    """How the page was read, and what the reading named that is not on it."""
    if settled is None:
        why = "the embedded model is not given pages to read" if context.lean else "the model's window is too small"
        return (f"Read by code: {why}. Boxes and criteria that it does not recognise are missing here.",)
    aside = tuple(f"put aside, {item.reason}: {item.words}" for item in settled.put_aside)
    return ("Read by the model; code looked up the words of everything on the page.", *settled.notes, *aside)


def _label_notes(statements: list[Statement]) -> tuple[str, ...]:
    reasons = Counter(fate.note for fate in statements if fate.by == "rule")
    told = "; ".join(f"{count} ({reason})" for reason, count in reasons.most_common())
    return (
        (f"A rule labelled {reasons.total()} of the page's {len(statements)} statements: {told}.",) if reasons else ()
    )
