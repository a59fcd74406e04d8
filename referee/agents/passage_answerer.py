"""One sub-question answered from passages of the paper, with the words that say so.

What the answer quotes is not verified here; an answer none of whose quotations stand in the paper counts as none.

Source: ReviewEval, section 3.2 (an answer for each sub-question from the passages found for it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import AsksOnce, list_of, one_of
from referee.prompts import delimit, load_prompt
from referee.schemas.usage import Usage

PROMPT = "eval/answers"
NOT_FOUND = "not found in the paper"

_QUOTES, _QUOTE_CHARS = 3, 320
_MOST_OUT = 480


@dataclass(frozen=True)
class ShownPassage:
    """The paper's own words under the id by which an answer names them."""

    id: str
    heading: str
    text: str


@dataclass(frozen=True)
class PassageAnswer:
    """What the passages say to a sub-question.

    ``quotes`` are (passage id, words as the model gave them). Where ``found`` is false there are none and the text is
    ``NOT_FOUND``.
    """

    text: str
    found: bool
    quotes: tuple[tuple[str, str], ...]
    call_id: str
    usage: Usage
    notes: tuple[str, ...] = ()


async def answer_from_passages(
    sub_question: str, passages: Sequence[ShownPassage], *, panel: AsksOnce, unit: str
) -> PassageAnswer:
    """Answer one sub-question with one call; without passages there is no call and no answer.

    Raises:
        ModelError: No valid reply.
    """
    if not passages:
        return PassageAnswer(NOT_FOUND, False, (), "", Usage())
    by_alias = {f"e{number}": passage for number, passage in enumerate(passages, start=1)}
    shown = "\n\n".join(delimit("passage", _text(p), id=alias) for alias, p in by_alias.items())
    prompt = load_prompt(PROMPT).render(passages=shown, question=delimit("question", sub_question))
    answer = await panel.ask_once(prompt, answer_model(tuple(by_alias)), max_output_tokens=_MOST_OUT, unit=unit)
    said = answer.value.model_dump()
    found = bool(said["found"] and said["answer"].strip())
    quoted = ((by_alias[q["passage"]], q["quote"]) for q in said["quotes"])
    quotes = tuple((passage.id, words) for passage, quote in quoted if (words := _own_words(quote, passage)))
    return PassageAnswer(
        text=said["answer"].strip() if found else NOT_FOUND,
        found=found,
        quotes=quotes if found else (),
        call_id=answer.call_id,
        usage=answer.usage,
        notes=answer.notes,
    )


def answer_model(aliases: tuple[str, ...]) -> type[BaseModel]:
    """The reply's shape: quotations first, then the answer, so that it follows from them."""
    closed = ConfigDict(extra="ignore")
    quoted = create_model(
        "Quoted",
        __config__=closed,
        passage=(one_of(aliases), ...),
        quote=(str, Field(max_length=_QUOTE_CHARS, description="words copied from that passage")),
    )
    return create_model(
        "FromPassages",
        __config__=closed,
        quotes=(list_of(quoted), Field(max_length=_QUOTES)),
        found=(bool, Field(description="whether the passages answer the question")),
        answer=(str, Field(max_length=400)),
    )


def _text(passage: ShownPassage) -> str:
    return f"{_lead(passage)}\n{passage.text}"


def _lead(passage: ShownPassage) -> str:
    return f"From {passage.heading or 'the paper'}:"


def _own_words(quote: str, passage: ShownPassage) -> str:
    """A quotation without the line above the passage, which is ours and which weak models copy too."""
    return quote.strip().removeprefix(_lead(passage)).strip()
