"""Strategy ``single``: write -> verify -> compose. One call to a model; the rest is code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import Field

from referee.agents.form_reply import FormValues, lengths_for
from referee.agents.scores import evidence_on_ethics, points_on_ethics, settle_choices, settle_scores
from referee.agents.single_reviewer import PLAIN, ROLE, SingleReply, Variation, examples_of, write_single_review
from referee.errors import RefereeError
from referee.evidence import (
    ClaimedQuote,
    QuotationIndex,
    TermIndex,
    check_inline_quotations,
    repeats_example,
    run_computations,
    settle_absence,
    verify_point,
    verify_quotations,
    without_copied,
)
from referee.evidence.computed import with_computations
from referee.evidence.points import is_live, removed
from referee.graphs.criteria import CriteriaShown, criterion_records, whole_form_shown
from referee.graphs.failure import Failure, record_failure
from referee.graphs.form_values import filled_review, form_values
from referee.llm.door import Door
from referee.llm.models import Model
from referee.papers.captions import table_rows
from referee.schemas.computation import ProgramOutcome
from referee.schemas.literature import Literature
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Cut, DroppedQuotation, Evidence, Review
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

_NO_TICK = "the model ticked nothing, or options that exclude each other"
_EXAMPLE = "its claim only repeats an example of the instructions"
_COPIED = "its claim only repeats the reviewer's instructions"
_ECHO = "the model only repeated its instructions here"


@dataclass(frozen=True)
class SingleContext:
    """The services a run hands to the nodes; ``literature`` is what a search for it found."""

    paper: Paper
    form: VenueForm
    door: Door
    review_id: str
    variation: Variation = PLAIN
    literature: Literature | None = None


class Checked(FormValues):
    """What of a reply stands: its values, without copied instructions (how many sentences, by field), and evidence."""

    echoes: dict[str, int] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    dropped: tuple[DroppedQuotation, ...] = ()


class SingleState(TypedDict, total=False):
    """What the writer replied, what of it stands, and the review; the paper stays in the context."""

    reply: SingleReply | None
    checked: Checked | None
    points: list[ReviewPoint]
    review: Review | None
    failure: Failure | None


def initial_state() -> SingleState:
    """An empty state."""
    return SingleState(reply=None, checked=None, points=[], review=None, failure=None)


async def write(state: SingleState, runtime: Runtime[SingleContext]) -> SingleState:
    """Ask the writer for the whole form."""
    context = runtime.context
    model = context.door.models[ROLE]
    try:
        reply = await write_single_review(
            context.paper,
            context.form,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
            variation=context.variation,
        )
    except RefereeError as error:
        return {"failure": record_failure("write", error)}
    return {"reply": reply}


async def verify(state: SingleState, runtime: Runtime[SingleContext]) -> SingleState:
    """Look every quotation up in the paper, those inside the prose as well; take out what repeats the instructions."""
    reply, context = _reply(state), runtime.context
    index = QuotationIndex(context.paper)
    checked = check_reply(
        context.form,
        reply.evidence,
        reply,
        index,
        examples=examples_of(context.variation),
        steps=context.variation.steps,
    )
    model = context.door.models[ROLE]
    raised = [point.model_copy(update={"model": model.spec.id}) for point in reply.points]
    points, lost = verified_points(raised, context.paper, index, instructions_of(context.form, context.variation))
    outcomes: list[ProgramOutcome] = []
    if reply.programs:
        text = "\n\n".join(section.text for section in context.paper.sections)
        outcomes = await run_computations(reply.programs, table_rows(context.paper), text)
    points = with_computations(points, reply.programs, outcomes)
    return {
        "points": [*points, *found_by_rules(context.paper, model)],
        "checked": checked.model_copy(update={"dropped": (*checked.dropped, *lost)}),
    }


def verified_points(
    points: Sequence[ReviewPoint], paper: Paper, index: QuotationIndex, instructions: str
) -> tuple[list[ReviewPoint], list[DroppedQuotation]]:
    """Points with their quotations looked up and their words of absence searched for; a copied claim is dropped.

    Then the quotations inside arguments that are not in the paper, whose marks are gone.
    """
    terms = TermIndex(paper) if any(point.absence for point in points) else None
    verified: list[ReviewPoint] = []
    lost: list[DroppedQuotation] = []
    for point in (verify_point(point, index) for point in points):
        if point.absence is not None and terms is not None:
            point = settle_absence(point, terms.search(point.absence.terms))
        own, copied = without_copied(point.claim, instructions)
        argument, unfound = check_inline_quotations(point.argument, index, field=point.id, keep_words=True)
        lost += unfound
        point = point.model_copy(update={"argument": argument})
        verified.append(removed(point, "dropped", _COPIED) if copied and not own else point)
    return verified, lost


def instructions_of(form: VenueForm, variation: Variation) -> str:
    """What a reviewer was told of the form and its criteria."""
    return f"{render_form(form)}\n{render_guidelines(form, steps=variation.steps)}"


def found_by_rules(paper: Paper, writer: Model) -> list[ReviewPoint]:
    """What rules find, for the embedded model: it sees little itself, and rules cost no call. Nothing for others."""
    if not writer.spec.is_local:
        return []
    from referee.graphs.sections.points import rule_points  # with numpy and all rules, which other reviews do without

    return rule_points(paper)


def check_reply(
    form: VenueForm,
    claims: Sequence[ClaimedQuote],
    values: FormValues,
    index: QuotationIndex,
    *,
    examples: Sequence[str] = (),
    steps: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Checked:
    """Look up the quotations of a reply and those in its texts, and take out what only repeats the instructions.

    A claim that is a worked example of the prompt over again is dropped with its quotation.
    """
    meant = [claim for claim in claims if not repeats_example(claim.claim, examples)]
    found, dropped = verify_quotations(meant, index)
    dropped += (
        DroppedQuotation(id=c.id, claim=c.claim, quote=c.quote, reason=_EXAMPLE, field=c.field)
        for c in claims
        if c not in meant
    )
    instructions = f"{render_form(form)}\n{render_guidelines(form, steps=steps)}"
    kept: dict[str, str] = {}
    echoes: dict[str, int] = {}
    for name, text in values.texts.items():
        own, copied = without_copied(text, instructions, examples)
        kept[name], unfound = check_inline_quotations(own, index, field=name, keep_words=True)
        dropped += unfound
        if copied:
            echoes[name] = copied
    return Checked(
        texts=kept,
        scores=values.scores,
        choices=values.choices,
        echoes=echoes,
        evidence=tuple(found),
        dropped=tuple(dropped),
    )


async def compose(state: SingleState, runtime: Runtime[SingleContext]) -> SingleState:
    """Put texts, backed scores and their reasons into the form."""
    context, checked = runtime.context, state["checked"]
    assert checked is not None, "`compose` ran before `verify`"
    brief = lengths_for(context.form, context.door.models[ROLE].context_tokens).brief
    shown = whole_form_shown(context.form, "the reviewer", _reply(state).call_id, brief=brief)
    review = fill_form(
        context.form,
        context.paper,
        checked,
        review_id=context.review_id,
        source=context.door.models[ROLE].spec.id,
        shown=[shown],
        points=state["points"],
        whole=not _reply(state).cuts,
        literature=context.literature,
    )
    return {"review": review}


def fill_form(
    form: VenueForm,
    paper: Paper,
    checked: Checked,
    *,
    review_id: str,
    source: str,
    shown: Sequence[CriteriaShown] = (),
    points: Sequence[ReviewPoint] = (),
    whole: bool = True,
    literature: Literature | None = None,
) -> Review:
    """The review of what stands; a judgement that no verified quotation supports is null, with the reason.

    Args:
        form: The venue's form.
        paper: The submission.
        checked: The values, and the evidence that was found in the paper.
        review_id: The review's id.
        source: The model that wrote it.
        shown: The venue's criteria that each reviewer was shown.
        points: What was raised beside the texts; a reply that is a list of points has no other evidence.
        whole: Whether all of the paper's text was shown.
        literature: The earlier works that were shown beside it.
    """
    raised = [p.id for p in points if is_live(p) and not p.unverified and p.source != "rule"]
    standing = [*(e.id for e in checked.evidence), *raised]
    settled = settle_scores(form, checked.scores, standing, paper, whole=whole, literature=literature)
    on_ethics = evidence_on_ethics(form, checked.evidence) or points_on_ethics(points)
    ticked = settle_choices(form, checked.choices, backed=bool(standing), ethics_backed=on_ethics)
    fields, nulls = form_values(
        form,
        checked.texts,
        ticked.values,
        settled.records,
        no_text="the reviewer had nothing to say here",
        no_tick=_NO_TICK,
    )
    nulls |= {name: _ECHO for name in checked.echoes if name in nulls and name not in ticked.nulls}
    return filled_review(
        form,
        paper,
        (fields, nulls),
        settled,
        ticked,
        review_id=review_id,
        source=source,
        points=points,
        evidence=checked.evidence,
        dropped=checked.dropped,
        criteria=criterion_records(form, shown),
    )


def build_single_graph() -> StateGraph[SingleState, SingleContext, SingleState, SingleState]:
    """The uncompiled machine."""
    graph = StateGraph(SingleState, context_schema=SingleContext)
    graph.add_node("write", write)
    graph.add_node("verify", verify)
    graph.add_node("compose", compose)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", _after_write, ["verify", END])
    graph.add_edge("verify", "compose")
    graph.add_edge("compose", END)
    return graph


def notes_of(state: SingleState) -> tuple[str, ...]:
    """What was worked around or taken out on the way to this review."""
    return (*_reply(state).notes, *echo_notes(state["checked"]))


def echo_notes(checked: Checked | None) -> Iterator[str]:
    """How many sentences were taken out of which field, because they only repeated the instructions."""
    echoes = checked.echoes if checked else {}
    return (f"{count} sentence(s) of {name} only repeated the instructions" for name, count in echoes.items())


def cut_of(state: SingleState) -> PaperCut | None:
    """How much of the paper the writer read; None for all of it."""
    return _reply(state).cut


def cuts_of(state: SingleState) -> tuple[Cut, ...]:
    """What of the paper the writer did not see."""
    return _reply(state).cuts


def _after_write(state: SingleState) -> str:
    return END if state["failure"] else "verify"


def _reply(state: SingleState) -> SingleReply:
    assert state["reply"] is not None, "a node after `write` ran without its reply"
    return state["reply"]
