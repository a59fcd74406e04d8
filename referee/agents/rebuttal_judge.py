"""The rebuttal of one point by its evidence, and the verdict: every judge, in every repeat, is asked for one.

A judge sees quotations that were verified before, by id, and can decide only by naming one of them. What its words then
count for is decided by code: see ``settled``.

Source: ReviewEval, section 3.2 (rebuttal, then valid or invalid); undecided, and that a verdict needs the paper's
words, are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import AsksAll, one_of
from referee.prompts import RenderedPrompt, delimit, load_prompt
from referee.schemas.base import Stored
from referee.schemas.usage import Usage

PROMPT = "eval/rebuttal"

FactVerdict = Literal["valid", "invalid", "undecided"]

NONE = "none"
_MOST_OUT = 400


@dataclass(frozen=True)
class Exhibit:
    """Words of the paper that were found in it, under the id by which a judge names them."""

    id: str
    heading: str
    quote: str


@dataclass(frozen=True)
class Brief:
    """What the judges are shown of one point.

    ``joined`` is the joined answer to its sub-questions; ``search`` says what the search of the whole text for a
    claimed absence found, and is empty where none is claimed.
    """

    statement: str
    words: str
    question: str
    joined: str
    exhibits: tuple[Exhibit, ...]
    search: str = ""


class Vote(Stored):
    """What one judge said in one repeat. ``verdict`` is its own and null where it did not answer; see ``settled``.

    ``named`` is the id of the exhibit that decides, or ``none``.
    """

    judge: str
    repeat: int
    verdict: FactVerdict | None
    named: str = NONE
    rebuttal: str = ""
    reason: str = ""
    error: str = ""
    call_id: str = ""
    usage: Usage = Usage()


async def rebut(brief: Brief, *, panel: AsksAll, unit: str) -> list[Vote]:
    """Ask every judge for the rebuttal and the verdict.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    reply = rebuttal_model(tuple(exhibit.id for exhibit in brief.exhibits))
    votes = []
    for said in await panel.ask(_render(brief), reply, max_output_tokens=_MOST_OUT, unit=unit):
        fields = {} if said.value is None else said.value.model_dump()
        votes.append(
            Vote(
                judge=said.judge,
                repeat=said.repeat,
                verdict=fields.get("verdict"),
                named=fields.get("quotation", NONE),
                rebuttal=fields.get("rebuttal", ""),
                reason=fields.get("reason", ""),
                error=said.error,
                call_id=said.call_id,
                usage=said.usage,
            )
        )
    return votes


def settled(verdict: FactVerdict, named: str, exhibits: Collection[str], *, absent: bool) -> tuple[FactVerdict, str]:
    """What a judge's verdict counts for, and why it counts for less than it says.

    Invalid needs a verified quotation that contradicts the point. Valid needs a verified quotation, or, where the point
    claims an absence, that a search of all the paper's words found nothing.

    Args:
        verdict: What the judge said.
        named: The exhibit it named, or ``none``.
        exhibits: The ids of the verified quotations.
        absent: The point claims an absence and the search found nothing in a text that is whole.
    """
    if verdict == "undecided" or named in exhibits or (verdict == "valid" and absent):
        return verdict, ""
    return "undecided", f"{verdict} was said without words of the paper that show it"


def majority(verdicts: Sequence[FactVerdict]) -> FactVerdict:
    """The verdict of more than half of the judges; undecided where there is none.

    Args:
        verdicts: At least one, as ``settled`` gave them.
    """
    verdict, votes = Counter(verdicts).most_common(1)[0]
    return verdict if 2 * votes > len(verdicts) else "undecided"


def agreement(verdicts: Sequence[FactVerdict]) -> float | None:
    """The share of pairs of verdicts that are equal, in [0, 1]; null for fewer than two verdicts."""
    pairs = len(verdicts) * (len(verdicts) - 1) // 2
    equal = sum(count * (count - 1) // 2 for count in Counter(verdicts).values())
    return equal / pairs if pairs else None


def join_answers(answers: Sequence[tuple[str, str]], cited: Mapping[int, Sequence[str]]) -> str:
    """Sub-questions with their answers, one below the other, each with the ids of its verified quotations.

    Args:
        answers: (sub-question, answer) in order.
        cited: Ids by the answer's place in the list, from 0.
    """
    return "\n".join(
        f"{question}\n- {text}{_brackets(cited.get(place, ()))}" for place, (question, text) in enumerate(answers)
    )


@lru_cache(maxsize=64)
def rebuttal_model(exhibit_ids: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: the argument first, then the words that decide, then the verdict."""
    return create_model(
        "Rebuttal",
        __config__=ConfigDict(extra="ignore"),
        rebuttal=(str, Field(max_length=500, description="what the paper's words say for and against the point")),
        quotation=(one_of((NONE, *exhibit_ids)), Field(description="the id of the quotation that decides")),
        verdict=(FactVerdict, ...),
        reason=(str, Field(max_length=200, description="why, in one sentence")),
    )


def _render(brief: Brief) -> RenderedPrompt:
    quotations = (
        delimit("quotation", f"From {exhibit.heading or 'the paper'}:\n{exhibit.quote}", id=exhibit.id)
        for exhibit in brief.exhibits
    )
    return load_prompt(PROMPT).render(
        point=delimit("point", brief.statement),
        words=delimit("review_words", brief.words),
        question=delimit("question", brief.question),
        answers=delimit("answers", brief.joined),
        quotations="\n\n".join(quotations) or "(There are none.)",
        search=delimit("search", brief.search or "The point was not searched for as an absence."),
    )


def _brackets(ids: Sequence[str]) -> str:
    return f" [{', '.join(ids)}]" if ids else ""
