"""One point of a review turned into what to ask of the paper, and each sub-question answered from its passages.

The question holds the point's central claim. Words are asked for where the point says that something is not there:
that the paper would then contain them decides whether the whole text is searched. What an answer quotes is not verified
here; an answer none of whose quotations stand in the paper counts as none.

Source: ReviewEval, section 3.2; the search of the whole text for claimed absences is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import AsksOnce, list_of, one_of
from referee.evidence.stems import stems
from referee.prompts import delimit, load_prompt
from referee.schemas.base import Stored
from referee.schemas.usage import Usage

QUESTIONS_PROMPT = "eval/questions"

_CHARS = 300
_TERMS, _TERM_WORDS = 4, 4
_TOKENS_A_LINE = 100
# A claim of absence says so, or asks for what it takes to be missing.
_ABSENT = re.compile(
    r"\b(?:no|not|none|never|nor|neither|cannot|without|lack\w*|miss\w*|absen\w*|omit\w*|omission\w*|fail\w*"
    r"|ignor\w*|neglect\w*|overlook\w*|exclud\w*|unclear|unspecified|undefined|unexplained|unreported|undiscussed"
    r"|insufficient\w*|inadequate\w*|incomplete\w*|should|could|would|needs?|must|add|adding|more|further"
    r"|additional|please|provide|include|suggest\w*|recommend\w*|\w+n['’]t)\b",
    re.IGNORECASE,
)
# What is missing is a thing; an amount that stands nowhere proves only that the amount is another.
_AMOUNT = re.compile(r"(?<![\w-])\d[\d.,]*(?![\w-])")


class Questions(Stored):
    """What to ask of the paper about one point.

    ``absent`` are words the paper would contain if a claimed absence were wrong; empty where none is claimed.
    """

    question: str
    sub_questions: tuple[str, ...]
    absent: tuple[str, ...] = ()
    call_id: str = ""
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


async def ask_questions(statement: str, words: str, *, panel: AsksOnce, most: int, unit: str) -> Questions:
    """Turn a point into questions with one call.

    A question that shares no word with the point is replaced by the point itself, asked, and sub-questions that share
    none with either are left out: weak models copy the prompt's example. Words for the search count
    only where the point's own words claim an absence and at least one of the terms is about what the point is about.

    Args:
        statement: The point, readable by itself.
        words: The review's sentences it is made of.
        panel: Its first judge answers.
        most: Most sub-questions, at least 1.
        unit: What the call is for.

    Raises:
        ModelError: No valid reply.
    """
    prompt = load_prompt(QUESTIONS_PROMPT).render(
        most=str(most), point=delimit("point", statement), words=delimit("review_words", words)
    )
    answer = await panel.ask_once(
        prompt, questions_model(most), max_output_tokens=_TOKENS_A_LINE * (most + 2), unit=unit
    )
    said = answer.value.model_dump()
    question, notes = said["question"].strip(), list(answer.notes)
    if not set(stems(question)) & set(stems(f"{statement} {words}")):
        question = f"Is it true of the paper: {statement}"
        notes.append("the question had nothing in common with the point and was replaced by the point")
    absent = tuple(_distinct(said["absent"]))
    if absent and not claims_absence(statement, words, absent):
        notes.append(
            f"the words {', '.join(map(repr, absent))} do not belong to a claimed absence and were not searched"
        )
        absent = ()
    on_it = set(stems(f"{question} {statement} {words}"))
    subs = tuple(sub for sub in _distinct(said["sub_questions"]) if on_it & set(stems(sub))) or (question,)
    return Questions(
        question=question,
        sub_questions=subs,
        absent=absent,
        call_id=answer.call_id,
        usage=answer.usage,
        notes=tuple(notes),
    )


def claims_absence(statement: str, words: str, terms: Sequence[str]) -> bool:
    """Whether a point says that something is not in the paper, and the terms are about that something.

    Judged by the point's words alone: a model that calls any point an absence could otherwise have it proved by a
    search for words that no paper holds, by a number that it prints otherwise, or by a whole sentence.
    """
    if any(_AMOUNT.search(term) or len(term.split()) > _TERM_WORDS for term in terms):
        return False
    about = set(stems(f"{statement} {words}"))
    return _ABSENT.search(f"{statement} {words}") is not None and any(about & set(stems(term)) for term in terms)


@lru_cache(maxsize=64)
def questions_model(most: int) -> type[BaseModel]:
    """The reply's shape for at most so many sub-questions."""
    return create_model(
        "Questions",
        __config__=ConfigDict(extra="ignore"),
        question=(str, Field(min_length=1, max_length=_CHARS)),
        sub_questions=(list_of(str), Field(min_length=1, max_length=max(1, most))),
        absent=(list_of(str), Field(max_length=_TERMS, description="words to search for, or nothing")),
    )


def _distinct(texts: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        clean = " ".join(text.split())[:_CHARS]
        if clean and clean.casefold() not in seen:
            seen.add(clean.casefold())
            yield clean


ANSWERS_PROMPT = "eval/answers"
NOT_FOUND = "not found in the paper"

_QUOTES, _QUOTE_CHARS = 3, 320
_ANSWER_TOKENS = 480


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
    prompt = load_prompt(ANSWERS_PROMPT).render(passages=shown, question=delimit("question", sub_question))
    answer = await panel.ask_once(prompt, answer_model(tuple(by_alias)), max_output_tokens=_ANSWER_TOKENS, unit=unit)
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


@lru_cache(maxsize=64)
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
