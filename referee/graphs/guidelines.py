"""Machine ``guidelines``: label (windows in parallel) -> settle -> measure -> compose. A page in, a venue out.

The page is read, cut and refused before, by code alone. A model labels what code has cut and says what unclear scores
measure; tracing, merging, the form and the rule on language models are code. A call that cannot be made ends the run,
which can be resumed; a reply that cannot be used leaves its statements to a rule.
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
from referee.errors import RefereeError
from referee.graphs.failure import first_to_end, record_failure
from referee.graphs.guidelines_state import GuidelinesContext, GuidelinesState, LabelTask
from referee.schemas.venue import Aspect, Fact, FormProvenance, Source, VenueForm
from referee.venues.compiled import FormBoxes, borrowed_boxes, drafted_fields, page_boxes, plain_boxes, read_policy
from referee.venues.page import Candidate, form_fields
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
            prompt_versions=context.prompt_versions,
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"the labelling of window {window.id}", error)]}
    return {"labelled": list(reply.labels), "notes": list(reply.notes)}


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
            prompt_versions=context.prompt_versions,
        )
    except RefereeError as error:
        return {"failure": record_failure("the reading of the form", error)}
    return {"aspects": dict(found.by_field), "notes": list(found.notes)}


async def compose(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> GuidelinesState:
    """Put criteria, form and the rule on language models into one venue."""
    context = runtime.context
    boxes = _boxes(context, state["aspects"])
    fact = Fact(confidence=context.origin.confidence, sources=(PAGE_SOURCE,))
    statements = state["statements"]
    year = _YEAR.search(context.venue_id) or _YEAR.search(context.venue_name)
    venue = VenueForm(
        id=context.venue_id,
        name=context.venue_name,
        year=int(year.group()) if year else None,
        fields=boxes.fields,
        overall=boxes.overall,
        accept_at=boxes.accept_at,
        guidelines=guidelines_of(statements, fact),
        llm_policy=read_policy(context.page, source=PAGE_SOURCE, confidence=fact.confidence),
        sources={**boxes.sources, PAGE_SOURCE: _source(context)},
        provenance=FormProvenance(
            checked=date.fromisoformat(context.origin.retrieved),
            unknown=boxes.unknown,
            notes=(*_page_notes(context), boxes.origin, *_label_notes(statements)),
        ),
    )
    return {"venue": venue}


def build_guidelines_graph() -> StateGraph[GuidelinesState, GuidelinesContext, GuidelinesState, GuidelinesState]:
    """The uncompiled machine; the caller chooses the checkpointer. The context holds at least one window."""
    graph = StateGraph(GuidelinesState, context_schema=GuidelinesContext)
    graph.add_node("label", label, input_schema=LabelTask)
    graph.add_node("settle", settle)
    graph.add_node("measure", measure)
    graph.add_node("compose", compose)
    graph.add_conditional_edges(START, _send_windows, ["label"])
    graph.add_edge("label", "settle")
    graph.add_conditional_edges("settle", _after_settle, ["measure", END])
    graph.add_conditional_edges("measure", _after_measure, ["compose", END])
    graph.add_edge("compose", END)
    return graph


def notes_of(state: GuidelinesState) -> tuple[str, ...]:
    """What was worked around on the way, each once."""
    return tuple(sorted(set(state["notes"])))


def _send_windows(state: GuidelinesState, runtime: Runtime[GuidelinesContext]) -> list[Send]:
    """One call a window, all at once."""
    return [Send("label", LabelTask(window=window.id)) for window in runtime.context.windows]


def _after_settle(state: GuidelinesState) -> str:
    return "measure" if any(fate.fate == "kept" for fate in state["statements"]) else END


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


def _boxes(context: GuidelinesContext, aspects: Mapping[str, Aspect]) -> FormBoxes:
    if context.lender is not None:
        return borrowed_boxes(context.lender)
    drafts = drafted_fields(form_fields(context.page), context.paper_type)
    fact = Fact(confidence=context.origin.confidence, sources=(PAGE_SOURCE,))
    return page_boxes(drafts, aspects, fact) if drafts else plain_boxes()


def _source(context: GuidelinesContext) -> Source:
    origin = context.origin
    title = context.page.title or origin.name
    return Source(title=title if origin.url else f"{title} (file {origin.name})", url=origin.url, date=origin.retrieved)


def _page_notes(context: GuidelinesContext) -> tuple[str, ...]:
    page, origin = context.page, context.origin
    had = f"Compiled from {origin.name} (sha256 {origin.sha256}), retrieved {origin.retrieved}"
    types = f"Kept what the page says of {context.paper_type} papers; it names {', '.join(page.paper_types)}."
    return (f"{had}; main text: {page.extractor}.", *([types] if context.paper_type else []), *page.notes)


def _label_notes(statements: list[Statement]) -> tuple[str, ...]:
    reasons = Counter(fate.note for fate in statements if fate.by == "rule")
    told = "; ".join(f"{count} ({reason})" for reason, count in reasons.most_common())
    return (
        (f"A rule labelled {reasons.total()} of the page's {len(statements)} statements: {told}.",) if reasons else ()
    )
