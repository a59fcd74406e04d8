"""One point of a review turned into what to ask of the paper: a question, sub-questions, and words to search for.

The question holds the point's central claim. Words are asked for where the point says that something is not there:
that the paper would then contain them decides whether the whole text is searched.

Source: ReviewEval, section 3.2 (question and sub-questions); the search of the whole text for claimed absences is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import AsksOnce, list_of
from referee.evidence.stems import stems
from referee.prompts import delimit, load_prompt
from referee.schemas.base import Stored
from referee.schemas.usage import Usage

PROMPT = "eval/questions"

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
    prompt = load_prompt(PROMPT).render(
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
