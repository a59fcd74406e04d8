"""Strategy ``single``: write -> verify -> compose. One call to a model; the rest is code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import field as default
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from referee.agents.point_reply import Origin
from referee.agents.point_texts import listed_corrections
from referee.agents.reading_reply import correction_points
from referee.agents.required_texts import forced_texts
from referee.agents.scores import evidence_on_ethics, settle_choices, settle_scores
from referee.agents.single_reviewer import PLAIN, ROLE, Variation, examples_of, write_single_review
from referee.errors import RefereeError
from referee.evidence import (
    ClaimedQuote,
    QuotationIndex,
    check_inline_quotations,
    repeats_example,
    verify_point,
    verify_quotations,
    without_copied,
)
from referee.evidence.point_fields import corrections_field
from referee.graphs.failure import Failure, record_failure
from referee.graphs.form_values import form_values, number_in
from referee.llm.door import Door
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Cut, DroppedQuotation, Evidence, Review
from referee.schemas.venue import VenueForm
from referee.venues import render_form, render_guidelines

_NO_TICK = "the model ticked nothing, or options that exclude each other"
_EXAMPLE = "its claim only repeats an example of the instructions"
_ECHO = "the model only repeated its instructions here"


@dataclass(frozen=True)
class SingleContext:
    """The services a run hands to the nodes."""

    paper: Paper
    form: VenueForm
    door: Door
    review_id: str
    prompt_versions: Mapping[str, str] = default(default_factory=dict)
    variation: Variation = PLAIN


class SingleState(TypedDict):
    """Plain data only; the paper stays in the context."""

    reply: dict[str, Any] | None
    texts: dict[str, str]
    echoes: dict[str, int]
    evidence: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    corrections: list[ReviewPoint]
    review: dict[str, Any] | None
    failure: Failure | None


class SingleUpdate(TypedDict, total=False):
    """What a node may change."""

    reply: dict[str, Any]
    texts: dict[str, str]
    echoes: dict[str, int]
    evidence: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    corrections: list[ReviewPoint]
    review: dict[str, Any]
    failure: Failure


def initial_state() -> SingleState:
    """An empty state."""
    return SingleState(
        reply=None, texts={}, echoes={}, evidence=[], dropped=[], corrections=[], review=None, failure=None
    )


async def write(state: SingleState, runtime: Runtime[SingleContext]) -> SingleUpdate:
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
            prompt_versions=context.prompt_versions,
            variation=context.variation,
        )
    except RefereeError as error:
        return {"failure": record_failure("write", error)}
    data = asdict(reply)
    data["cuts"] = [cut.model_dump() for cut in reply.cuts]
    return {"reply": data}


async def verify(state: SingleState, runtime: Runtime[SingleContext]) -> SingleUpdate:
    """Look every quotation up in the paper, those inside the prose as well; take out what repeats the instructions."""
    reply, context = _reply(state), runtime.context
    index = QuotationIndex(context.paper)
    checked = check_reply(
        context.form,
        reply["evidence"],
        reply["texts"],
        index,
        examples=examples_of(context.variation, context.prompt_versions),
    )
    model = context.door.models[ROLE].spec
    by_rule = _found_by_rules(context.paper) if model.is_local else []  # it sees little itself, rules cost no call
    origin = Origin("whole", "S", None, reply["call_id"], model.id, "")
    return {
        "corrections": [
            *(verify_point(point, index) for point in correction_points(reply["corrections"], origin, {})),
            *by_rule,
        ],
        "echoes": checked.echoes,
        "texts": checked.texts,
        "evidence": [e.model_dump() for e in checked.evidence],
        "dropped": [d.model_dump() for d in checked.dropped],
    }


def _found_by_rules(paper: Paper) -> list[ReviewPoint]:
    from referee.graphs.review_points import rule_points  # with numpy and all rules, which other reviews do without

    return rule_points(paper)


@dataclass(frozen=True)
class Checked:
    """What of a reply stands: its texts without copied instructions (how many sentences, by field), its evidence."""

    texts: dict[str, str]
    echoes: dict[str, int]
    evidence: tuple[Evidence, ...]
    dropped: tuple[DroppedQuotation, ...]


def check_reply(
    form: VenueForm,
    evidence: Sequence[Mapping[str, str]],
    texts: Mapping[str, str],
    index: QuotationIndex,
    *,
    examples: Sequence[str] = (),
) -> Checked:
    """Look up the quotations of a reply and those in its texts, and take out what only repeats the instructions.

    A claim that is a worked example of the prompt over again is dropped with its quotation.
    """
    claims = [
        ClaimedQuote(e["id"], e["claim"], e["quote"], e["section_id"] or None, e["field"] or None) for e in evidence
    ]
    meant = [claim for claim in claims if not repeats_example(claim.claim, examples)]
    found, dropped = verify_quotations(meant, index)
    dropped += (
        DroppedQuotation(id=c.id, claim=c.claim, quote=c.quote, reason=_EXAMPLE, field=c.field)
        for c in claims
        if c not in meant
    )
    instructions = f"{render_form(form)}\n{render_guidelines(form)}"
    kept: dict[str, str] = {}
    echoes: dict[str, int] = {}
    for name, text in texts.items():
        own, copied = without_copied(text, instructions, examples)
        kept[name], unfound = check_inline_quotations(own, index, field=name, keep_words=True)
        dropped += unfound
        if copied:
            echoes[name] = copied
    return Checked(kept, echoes, tuple(found), tuple(dropped))


async def compose(state: SingleState, runtime: Runtime[SingleContext]) -> SingleUpdate:
    """Put texts, backed scores and their reasons into the form."""
    context, reply = runtime.context, _reply(state)
    checked = Checked(
        state["texts"],
        state["echoes"],
        tuple(Evidence.model_validate(e) for e in state["evidence"]),
        tuple(DroppedQuotation.model_validate(d) for d in state["dropped"]),
    )
    review = fill_form(
        context.form,
        context.paper,
        checked,
        scores=reply["scores"],
        choices=reply["choices"],
        review_id=context.review_id,
        source=context.door.models[ROLE].spec.id,
        corrections=state["corrections"],
        whole=not reply["cuts"],
    )
    return {"review": review.model_dump(mode="json")}


def fill_form(
    form: VenueForm,
    paper: Paper,
    checked: Checked,
    *,
    scores: Mapping[str, Mapping[str, Any]],
    choices: Mapping[str, Any],
    review_id: str,
    source: str,
    corrections: Sequence[ReviewPoint] = (),
    whole: bool = True,
) -> Review:
    """The review of what stands; a judgement that no verified quotation supports is null, with the reason.

    Args:
        form: The venue's form.
        paper: The submission.
        checked: The texts, and the evidence that was found in the paper.
        scores: Per score field: ``value``, ``reason``, ``evidence`` (ids the model cites).
        choices: Per choice or checklist: what was ticked.
        review_id: The review's id.
        source: The model that wrote it.
        corrections: What is to be mended in a line each; printed as a list in one text field.
        whole: Whether all of the paper's text was shown.
    """
    settled = settle_scores(form, scores, (e.id for e in checked.evidence), paper, whole=whole)
    on_ethics = evidence_on_ethics(form, checked.evidence)
    ticked = settle_choices(form, choices, backed=bool(checked.evidence), ethics_backed=on_ethics)
    listed, text = listed_corrections(corrections, form)
    box = corrections_field(form) or ""
    texts = {**checked.texts, box: "\n\n".join(filter(None, (checked.texts.get(box, ""), text)))}
    fields, nulls = form_values(
        form, texts, ticked.values, settled.records, no_text="the model had nothing to say here", no_tick=_NO_TICK
    )
    nulls |= ticked.nulls | {name: _ECHO for name in checked.echoes if name in nulls}
    return Review(
        review_id=review_id,
        paper_id=paper.paper_id,
        paper_title=paper.title,
        venue=form.id,
        source=source,
        fields=fields,
        nulls=nulls,
        rating=number_in(fields, form.overall),
        confidence=number_in(fields, next((f.name for f in form.fields if f.aspect == "confidence"), None)),
        scores=settled.records,
        forced=(*settled.forced, *ticked.forced, *forced_texts(form, fields, nulls)),
        attestations=tuple(f.name for f in form.attestations),
        points=tuple(listed),
        evidence=checked.evidence,
        dropped=checked.dropped,
        findings=paper.findings,
    )


def build_single_graph() -> StateGraph[SingleState, SingleContext, SingleState, SingleState]:
    """The uncompiled machine; the caller chooses the checkpointer."""
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
    return (*_reply(state)["notes"], *echo_notes(state["echoes"]))


def echo_notes(echoes: Mapping[str, int]) -> Iterator[str]:
    """How many sentences were taken out of which field, because they only repeated the instructions."""
    return (f"{count} sentence(s) of {name} only repeated the instructions" for name, count in echoes.items())


def cuts_of(state: SingleState) -> tuple[Cut, ...]:
    """What of the paper the writer did not see."""
    return tuple(Cut.model_validate(cut) for cut in _reply(state)["cuts"])


def _after_write(state: SingleState) -> str:
    return END if state["failure"] else "verify"


def _reply(state: SingleState) -> dict[str, Any]:
    reply = state["reply"]
    assert reply is not None, "a node after `write` ran without its reply"
    return reply
