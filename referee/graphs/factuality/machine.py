"""Factual correctness of a review: split -> per point: ask -> find -> answer (each sub-question) -> judge.

Points run in parallel, and so do the sub-questions of a point. Every search is one of this paper's; the abstract and
what a point names (Section 3, Table 2) are shown beside what it finds. A node that fails
leaves a record with its point and the other points alone; a failed splitting ends the run.

Calls: one to split (one a window for a long review); a point takes one for its questions, one a sub-question, and one
a judge and repeat.

Source: ReviewEval, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.point_splitter import SplitPoint, SplitReview, split_review
from referee.agents.questions import NOT_FOUND, Questions, answer_from_passages, ask_questions
from referee.agents.rebuttal_judge import Brief, Exhibit, FactVerdict, Vote, join_answers, rebut
from referee.errors import RefereeError
from referee.graphs.factuality.records import (
    AbsenceRecord,
    AnswerRecord,
    AnswerTask,
    CountedVote,
    ExaminedRecord,
    Facts,
    FactualityContext,
    FactualityState,
    PointRecord,
    PointResult,
    PointState,
    QuotationRecord,
    exhibits_of,
    initial_point,
    initial_state,
)
from referee.graphs.factuality.search import find_passages, search_for_absent
from referee.graphs.factuality.verdicts import NO_EVIDENCE, counted_as, point_verdict, verified_answer
from referee.graphs.failure import STOPS, raise_failure, record_failure


async def split(state: FactualityState, runtime: Runtime[FactualityContext]) -> FactualityState:
    """Cut the review into points."""
    context = runtime.context
    try:
        done = await split_review(
            context.text,
            panel=context.panel,
            window_tokens=context.bounds.window_tokens,
            unit=context.unit("points"),
            lean=context.bounds.by_sentence,
        )
    except RefereeError as error:
        return {"failure": record_failure("the splitting of the review", error)}
    return {"split": done}


async def ask(state: PointState, runtime: Runtime[FactualityContext]) -> PointState:
    """Turn the point into a question and sub-questions."""
    context, point = runtime.context, state["point"]
    try:
        asked = await ask_questions(
            point.statement,
            point.words,
            panel=context.panel,
            most=context.bounds.sub_questions,
            unit=context.unit(f"questions on {point.id}"),
        )
    except RefereeError as error:
        return {"failures": [record_failure("the questions", error)]}
    return {"asked": asked}


async def find(state: PointState, runtime: Runtime[FactualityContext]) -> PointState:
    """Search for every sub-question, and in the whole text for what is said to be missing."""
    context, asked, point = runtime.context, _asked(state), state["point"]
    try:
        found, passages = await find_passages(asked.sub_questions, f"{point.statement}\n{point.words}", context)
    except RefereeError as error:
        return {"failures": [record_failure("the search", error)]}
    return {"found": found, "passages": passages, "absence": search_for_absent(asked.absent, context)}


async def answer(state: AnswerTask, runtime: Runtime[FactualityContext]) -> PointState:
    """Answer one sub-question, and look its quotations up in the paper."""
    context, found = runtime.context, state["found_for"]
    what = f"sub-question {found.place + 1} on {state['point'].id}"
    try:
        said = await answer_from_passages(
            found.sub_question,
            found.shown,
            panel=context.panel,
            unit=context.unit(what),
        )
    except RefereeError as error:
        return {"failures": [record_failure(what, error)]}
    return {"answers": [verified_answer(said, found, context.quotations)]}


async def judge(state: PointState, runtime: Runtime[FactualityContext]) -> PointState:
    """Join the answers, let every judge rebut the point by them, and settle the verdict.

    Nobody is asked about a point that failed before, or on which the paper was found to say nothing.
    """
    context, point, absence = runtime.context, state["point"], state["absence"]
    answers = sorted(state["answers"], key=lambda one: one.place)
    exhibits = exhibits_of(answers, absence)
    joined, failures, votes = _joined(answers, exhibits), list(state["failures"]), list[CountedVote]()
    if not failures and (exhibits or (absence and absence.empty)):
        brief = _brief(point, _asked(state), joined, exhibits, absence)
        try:
            said = await rebut(brief, panel=context.panel, unit=context.unit(f"the verdict on {point.id}"))
        except RefereeError as error:
            failures.append(record_failure("the verdict", error))
        else:
            votes = [_counted_vote(vote, exhibits, absence) for vote in said]
    verdict, reason = _settled(votes, failed=bool(failures))
    record = ExaminedRecord(
        id=point.id,
        asked=state["asked"],
        answers=tuple(answers),
        joined=joined,
        absence=absence,
        votes=tuple(votes),
        verdict=verdict,
        reason="; ".join(failure.message for failure in failures) or reason,
        failures=tuple(failures),
    )
    return {"examined": [record]}


def build_point_graph() -> StateGraph[PointState, FactualityContext, PointState, PointResult]:
    """The uncompiled machine of one point."""
    graph = StateGraph(PointState, context_schema=FactualityContext, output_schema=PointResult)
    graph.add_node("ask", ask)
    graph.add_node("find", find)
    graph.add_node("answer", answer, input_schema=AnswerTask)
    graph.add_node("judge", judge)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", _after_asking, ["find", "judge"])
    graph.add_conditional_edges("find", _send_sub_questions, ["answer", "judge"])
    graph.add_edge("answer", "judge")
    graph.add_edge("judge", END)
    return graph


def build_factuality_graph() -> StateGraph[FactualityState, FactualityContext, FactualityState, FactualityState]:
    """The uncompiled machine of a review."""
    graph = StateGraph(FactualityState, context_schema=FactualityContext)
    graph.add_node("split", split)
    graph.add_node("examine", build_point_graph().compile())
    graph.add_edge(START, "split")
    graph.add_conditional_edges("split", _send_points, ["examine", END])
    graph.add_edge("examine", END)
    return graph


async def check_facts(context: FactualityContext) -> Facts:
    """Run the machine over one review.

    Raises:
        BudgetExceeded: A call could pass a limit; what was answered is in the run's ledger.
        RefereeError: The review could not be cut into points.
    """
    final = await _machine().ainvoke(initial_state(), context=context)
    examined: dict[str, ExaminedRecord] = {record.id: record for record in final["examined"]}
    for failure in [final["failure"], *(f for record in examined.values() for f in record.failures)]:
        if failure and (failure is final["failure"] or failure.kind in STOPS):
            raise_failure(failure)
    split: SplitReview = final["split"]
    return Facts(
        paper_id=context.paper.paper_id,
        bounds=context.bounds,
        split=split,
        points=tuple(PointRecord(**dict(point), examined=examined.get(point.id)) for point in split.points),
        passages={key: final["passages"][key] for key in sorted(final["passages"])},
    )


@lru_cache(maxsize=1)
def _machine() -> Any:
    return build_factuality_graph().compile()


def _send_points(state: FactualityState, runtime: Runtime[FactualityContext]) -> list[Send] | str:
    """One machine a checkable point, all at once, up to the bound."""
    if state["split"] is None:
        return END
    checkable = [point for point in state["split"].points if point.checkable]
    return [Send("examine", initial_point(p)) for p in checkable[: runtime.context.bounds.points]] or END


def _after_asking(state: PointState) -> str:
    return "judge" if state["failures"] else "find"


def _send_sub_questions(state: PointState) -> list[Send] | str:
    if state["failures"]:
        return "judge"
    return [Send("answer", AnswerTask(point=state["point"], found_for=found)) for found in state["found"]] or "judge"


def _asked(state: PointState) -> Questions:
    asked = state["asked"]
    assert asked is not None, "a node after `ask` ran without its questions"
    return asked


def _joined(answers: Sequence[AnswerRecord], exhibits: Sequence[QuotationRecord]) -> str:
    """The joined answer: what no verified words of the paper carry is not found, whatever was answered."""
    ids = {exhibit.quote: exhibit.id for exhibit in exhibits}
    cited = {place: [ids[q.quote] for q in one.quotations] for place, one in enumerate(answers)}
    return join_answers([(a.sub_question, a.text if a.counts else NOT_FOUND) for a in answers], cited)


def _brief(
    point: SplitPoint,
    asked: Questions,
    joined: str,
    exhibits: Sequence[QuotationRecord],
    absence: AbsenceRecord | None,
) -> Brief:
    return Brief(
        statement=point.statement,
        words=point.words,
        question=asked.question,
        joined=joined,
        exhibits=tuple(Exhibit(one.id, one.section, one.quote) for one in exhibits),
        search=absence.told if absence else "",
    )


def _counted_vote(vote: Vote, exhibits: Sequence[QuotationRecord], absence: AbsenceRecord | None) -> CountedVote:
    counts_as, why = counted_as(vote, [one.id for one in exhibits], absence)
    return CountedVote(**dict(vote), counts_as=counts_as, why=why)


def _settled(votes: Sequence[CountedVote], *, failed: bool) -> tuple[FactVerdict | None, str]:
    """The verdict on a point and its reason; none where something failed or no judge answered."""
    if failed:
        return None, ""
    if not votes:
        return "undecided", NO_EVIDENCE
    verdict = point_verdict([vote.counts_as for vote in votes])
    if verdict is None:
        return None, "; ".join(dict.fromkeys(vote.error for vote in votes))
    said = next((vote for vote in votes if vote.counts_as == verdict), None)
    return verdict, (said.why or said.reason) if said else "the judges do not agree"
