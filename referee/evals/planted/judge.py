"""The judge of pairs that rules leave open: twice in reversed order, with canaries; a failed batch is never a miss.

A batch has up to 16 open pairs and four whose answer is known: two records said in their own statement, and two remarks
about nothing planted. Where a known match is not called the same, or a known non-match is, in either order, nothing of
the batch counts. Several judges, or repeats, must all agree; what their answers do not agree on is left ambiguous.

Source: the specification's section 6, "Judge".
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.agents.planted_judge import Question, Said, answers_model, answers_tokens, render_pairs
from referee.evals.judging import JudgeReply, Panel, total_usage
from referee.evals.planted.matching import Answer, Pair
from referee.schemas.planted import PlantedRecord
from referee.schemas.usage import Usage

BATCH = 16
ABOUT_NOTHING = (
    "The related work leaves out recent surveys of the field and should cite them.",
    "Please release the code and the trained models under an open licence.",
)


@dataclass
class Judged:
    """The answers by record and remark, how many batches failed and why, the cost, and pairs that were not asked."""

    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    batches: int = 0
    failures: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unasked: int = 0


async def judge_pairs(pairs: Sequence[Pair], panel: Panel, *, unit: str) -> Judged:
    """Have open pairs judged.

    Args:
        pairs: What rules leave open; none makes no call.
        panel: The judges.
        unit: What is judged, for the log.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    judged, waiting = Judged(), list(pairs)
    while waiting:
        size = _fitting(waiting[:BATCH], panel)
        batch, waiting = waiting[: max(1, size)], waiting[max(1, size) :]
        judged.batches += 1
        if size:
            await _judge(batch, panel, judged, f"{unit}, batch {judged.batches}")
        else:
            judged.failures.append("a pair and its controls do not fit into the judge's context")
            judged.answers |= dict.fromkeys((pair.key for pair in batch), "failed")
    return judged


async def _judge(batch: Sequence[Pair], panel: Panel, judged: Judged, unit: str) -> None:
    """One batch, in both orders: pairs and answers turned around."""
    questions, expected = with_controls(batch, unit)
    said: list[list[JudgeReply[BaseModel]]] = []
    for reverse in (False, True):
        shown = questions[::-1] if reverse else questions
        model = answers_model(len(shown), reverse=reverse)
        prompt = render_pairs(shown, reverse=reverse)
        said.append(await panel.ask(prompt, model, max_output_tokens=answers_tokens(len(shown)), unit=unit))
        judged.usage += total_usage(said[-1])
    forth, back = ([_read(one, len(questions), reverse) for one in said[reverse]] for reverse in (False, True))
    readings = [*forth, *back]
    why = next((problem for reading in readings if (problem := _problem(reading, expected))), "")
    if why:
        judged.failures.append(why)
    for number, pair in enumerate(batch):
        place = expected.index(number)
        judged.answers[pair.key] = "failed" if why else _agreed([reading[place] for reading in readings])


def with_controls(batch: Sequence[Pair], seed: str) -> tuple[list[Question], list[int | Said]]:
    """The batch's pairs with two known matches and two known non-matches between them, in an order drawn by the seed.

    Returns:
        What is asked, and for each the pair's place in the batch, or of a control the answer that is known.
    """
    records = [batch[0].record, batch[-1].record]
    items: list[tuple[Question, int | Said]] = [
        (_question(p.record, p.point.text, p.point.quotations), n) for n, p in enumerate(batch)
    ]
    items += [(_question(record, record.statement, (record.sentence_after,)), "same") for record in records]
    items += [(_question(record, remark), "other") for record, remark in zip(records, ABOUT_NOTHING, strict=True)]
    random.Random(seed).shuffle(items)
    return [question for question, _ in items], [known for _, known in items]


def _question(record: PlantedRecord, remark: str, quotations: tuple[str, ...] = ()) -> Question:
    return Question(record.statement, record.sentence_before, record.sentence_after, remark, quotations)


def _read(reply: JudgeReply[BaseModel], pairs: int, reverse: bool) -> list[Said | None]:
    """One judge's answers in the order of the questions; None where there is none."""
    given = reply.value.model_dump()["answers"] if reply.value is not None else []
    by_number: dict[int, Said] = {}
    for one in given:
        by_number.setdefault(one["pair"], one["answer"])
    found = [by_number.get(number) for number in range(1, pairs + 1)]
    return found[::-1] if reverse else found


def _problem(reading: Sequence[Said | None], expected: Sequence[int | Said]) -> str:
    """Why nothing of a batch counts; empty where it does. A known non-match may be called related."""
    if None in reading:
        return "the judge left pairs unanswered"
    for known, said in zip(expected, reading, strict=True):
        if isinstance(known, str) and (said == "same") != (known == "same"):
            return f"a control pair that is {known!r} was called {said!r}"
    return ""


def _agreed(said: Sequence[Said | None]) -> Answer:
    first = said[0]
    return first if first is not None and set(said) == {first} else "split"


def _fitting(batch: Sequence[Pair], panel: Panel) -> int:
    """How many pairs every judge's context holds, beside the controls; 0 for none."""
    size = len(batch)
    while size:
        questions, _ = with_controls(batch[:size], "")
        model, most = answers_model(len(questions)), answers_tokens(len(questions))
        prompt = render_pairs(questions, reverse=False)
        judges = [panel.door.models[role] for role in panel.judges]
        if all(tokens_left(prompt, model, most, one.context_tokens, one.count) >= 0 for one in judges):
            return size
        size //= 2
    return 0
